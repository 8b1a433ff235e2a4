"""Gnomon tells you how far to trust what a text-analysis system tells you.

The map of the package, in the order things flow:

- `gnomon.tables`: CSV, TSV, Parquet, JSONL and NPZ in and out.
- `gnomon.engine`: a function run over shards, on processes or a cluster; what is killed continues.
- `gnomon.corpus`: documents read, parsed and stored; data sets.
- `gnomon.wire`: a generated news wire whose truth is known.
- `gnomon.models`: the models the questions were asked of.
- `gnomon.calibration`: whether probabilities mean what they say, and mending them.
- `gnomon.scoring`: how well a system's answers agree with a key.
- `gnomon.charts`, `gnomon.report`: results as pictures and as one self-contained page.
- `gnomon.reproduce`: the papers' experiments on open data, paper versus ours.
- `gnomon.cli`: the command line, which only parses, calls and prints.

Every number a user sees is an `Estimate` (`gnomon.estimate`), and every result carries a
`Signature` of all that made it. Names below are loaded when first used: `import gnomon` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "calibrate": "gnomon.calibration.analyse",
    "Calibration": "gnomon.calibration.analyse",
    "Settings": "gnomon.calibration.analyse",
    "calibrate_groups": "gnomon.calibration.groups",
    "calibrate_classes": "gnomon.calibration.multiclass",
    "compare": "gnomon.calibration.compare",
    "Stream": "gnomon.calibration.streaming",
    "Corpus": "gnomon.corpus.store",
    "Document": "gnomon.corpus.document",
    "Estimate": "gnomon.estimate",
    "Signature": "gnomon.estimate",
    "GnomonError": "gnomon.errors",
    "InputError": "gnomon.errors",
    "MissingExtra": "gnomon.errors",
}

if TYPE_CHECKING:
    from gnomon.calibration.analyse import Calibration, Settings, calibrate
    from gnomon.calibration.compare import compare
    from gnomon.calibration.groups import calibrate_groups
    from gnomon.calibration.multiclass import calibrate_classes
    from gnomon.calibration.streaming import Stream
    from gnomon.corpus.document import Document
    from gnomon.corpus.store import Corpus
    from gnomon.errors import GnomonError, InputError, MissingExtra
    from gnomon.estimate import Estimate, Signature

__all__ = [
    "Calibration",
    "Corpus",
    "Document",
    "Estimate",
    "GnomonError",
    "InputError",
    "MissingExtra",
    "Settings",
    "Signature",
    "Stream",
    "calibrate",
    "calibrate_classes",
    "calibrate_groups",
    "compare",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
