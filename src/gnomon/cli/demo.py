"""`gnomon demo`: the whole story on generated data with a known truth."""

from typing import Annotated

import typer

from gnomon.cli.output import Seed


def demo(
    out: Annotated[
        str, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")
    ] = "demo",
    seed: Seed = 0,
) -> None:
    """Tell the whole story on generated predictions and a generated news wire."""
    from gnomon.demo import tell

    for line in tell(out, seed=seed):
        print(line)
