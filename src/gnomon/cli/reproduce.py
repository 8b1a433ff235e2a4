"""`gnomon reproduce`: the papers' experiments on open data, paper versus ours."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon.cli.output import AsJson, Bar, Seed, check_target, show


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(help="Which paper; without one, the papers and their parts are listed."),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="PART,...", help="Which parts of it.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    markdown: Annotated[
        str | None,
        typer.Option("--markdown", metavar="FILE", help="Write the tables as Markdown, too."),
    ] = None,
    charts: Annotated[
        str | None,
        typer.Option("--charts", metavar="FOLDER", help="Write the curves there, as PNG."),
    ] = None,
) -> None:
    """Do a paper's experiments again, and check what it claims.

    The data are looked for below the folder that the environment variable GNOMON_DATA names.
    """
    from gnomon.reproduce import PAPERS, run
    from gnomon.tables import write_text

    if paper is None:
        for name, parts in PAPERS.items():
            print(f"{name}: {', '.join(parts)}")
        return
    check_target(markdown, (".md",), "--markdown")
    wanted = [part.strip() for part in only.split(",")] if only else None
    with Bar("reproducing") as bar:
        result = run(paper, only=wanted, seed=seed, progress=bar)
    if charts:
        from gnomon.charts import save
        from gnomon.charts.calibration import binnings_chart, curve_chart, groups_chart

        Path(charts).mkdir(parents=True, exist_ok=True)
        for experiment in result.experiments:
            drawn: dict[str, Any] = {
                name: curve_chart(curve) for name, curve in experiment.curves.items()
            }
            drawn |= {name: groups_chart(models) for name, models in experiment.groups.items()}
            drawn |= {name: binnings_chart(each) for name, each in experiment.binnings.items()}
            for name, picture in drawn.items():
                save(picture, Path(charts) / f"{paper}-{experiment.part}-{name}.png")
    if markdown:
        write_text(markdown, result.markdown + "\n")
    show(result, as_json)
