"""Papers' experiments done again on open data: what they claim against what we find.

`run("nguyen-oconnor-2015", only=["text"])` does one part of one paper. Each part is a module with
a function `run(seed, progress)` that gives an `Experiment`; it is imported when first asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from gnomon.errors import InputError
from gnomon.estimate import JSON
from gnomon.reproduce.claims import Claim, Experiment, Progress

__all__ = ["PAPERS", "Claim", "Experiment", "Progress", "Reproduction", "run"]

PAPERS: Mapping[str, Mapping[str, str]] = {
    "nguyen-oconnor-2015": {
        "text": "gnomon.reproduce.nguyen_oconnor_2015.text",
        "tagging": "gnomon.reproduce.nguyen_oconnor_2015.tagging",
    },
}
"""Each paper's parts, and the module that does each."""


@dataclass(frozen=True)
class Reproduction:
    """The experiments of one paper that were done."""

    paper: str
    experiments: Sequence[Experiment]

    def __str__(self) -> str:
        return "\n\n\n".join(experiment.text for experiment in self.experiments)

    @property
    def markdown(self) -> str:
        """For the documentation."""
        return "\n\n".join(experiment.markdown for experiment in self.experiments)

    def to_dict(self) -> dict[str, JSON]:
        """Everything, ready for JSON."""
        return {
            "paper": self.paper,
            "experiments": [experiment.to_dict() for experiment in self.experiments],
        }


def run(
    paper: str,
    *,
    only: Sequence[str] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Does a paper's experiments again, all of them or the parts named in `only`.

    `progress` is called with the steps done and the steps in all; it counts anew for each part.
    """
    if paper not in PAPERS:
        raise InputError(
            f"paper {paper!r}", "there is no such paper here", f"give one of: {', '.join(PAPERS)}"
        )
    parts = PAPERS[paper]
    wanted = list(parts) if only is None else list(dict.fromkeys(only))
    unknown = [part for part in wanted if part not in parts]
    if unknown or not wanted:
        raise InputError(
            f"paper {paper!r}, part {', '.join(map(repr, unknown)) or 'none'}",
            "there is no such part",
            f"give one or more of: {', '.join(parts)}",
        )
    return Reproduction(
        paper,
        [import_module(parts[part]).run(seed=seed, progress=progress) for part in wanted],
    )
