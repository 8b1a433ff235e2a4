"""`gnomon demo-wire`: a generated news wire with a known truth."""

from typing import Annotated

import typer

from gnomon.cli.output import AsJson, Bar, Seed, show


def demo_wire(
    out: Annotated[str, typer.Argument(metavar="OUT", help="The folder to write into.")],
    documents: Annotated[int, typer.Option("--documents", help="How many articles.")] = 5000,
    seed: Seed = 0,
    since: Annotated[
        str, typer.Option("--since", metavar="DATE", help="The first possible day.")
    ] = "2015-01-01",
    until: Annotated[
        str, typer.Option("--until", metavar="DATE", help="The last possible day.")
    ] = "2019-12-31",
    ambiguous: Annotated[
        float,
        typer.Option(
            "--ambiguous",
            metavar="SHARE",
            help="Share of main reports whose attacker no reader can know.",
        ),
    ] = 0.1,
    zipped: Annotated[bool, typer.Option("--gzip", help="Write .gz files.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a wire that is already there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write invented news articles whose truth is known, down to each pronoun."""
    from gnomon.corpus.document import last_day, parse_date
    from gnomon.wire import write

    first, last = parse_date(since, "--since"), last_day(until, "--until")
    with Bar("writing articles") as bar:
        written = write(
            out,
            documents,
            seed,
            first,
            last,
            ambiguous=ambiguous,
            zipped=zipped,
            overwrite=overwrite,
            progress=bar,
        )
    show(written, as_json)
