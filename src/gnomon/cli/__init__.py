"""The command line: parse arguments, call an entry function, print.

Exit codes: 0 done, 1 failed, 2 bad input. Bad input gets one line and no traceback.
"""

import os
import sys
from typing import Annotated, Any

import typer

from gnomon import __version__
from gnomon.cli import calibrate, corpus, demo, parse, recalibrate, reproduce, tag, wire
from gnomon.errors import GnomonError, InputError

app = typer.Typer(
    name="gnomon",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gnomon {__version__}")
        raise typer.Exit


@app.callback()
def gnomon(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """How far to trust what a text-analysis system tells you."""


app.command("calibrate")(calibrate.calibrate)
app.add_typer(recalibrate.app, name="recalibrate")
app.command("parse")(parse.parse)
app.add_typer(corpus.app, name="corpus")
app.add_typer(tag.app, name="tag")
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
app.command("demo-wire")(wire.demo_wire)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits with its code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Runs the command line and returns its exit code."""
    try:
        result: Any = app(arguments, standalone_mode=False, prog_name="gnomon")
        sys.stdout.flush()
    except InputError as error:
        return _complain(str(error), 2)
    except GnomonError as error:
        return _complain(str(error), 1)
    except BrokenPipeError:
        # The reader (head, say) has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _complain(f"{error.filename or 'system'}: {error.strerror or error}", 1)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", 1)
    except Exception as error:
        # Typer's own refusals of an argument; their class has moved between its versions.
        if not hasattr(error, "format_message"):
            raise
        message = str(error.format_message()).rstrip(".")
        if not message:  # bare `gnomon recalibrate` printed its help
            return 2
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "gnomon"
        return _complain(f"{message}; see: {command} --help", 2)
    return result if isinstance(result, int) else 0


def _complain(message: str, code: int) -> int:
    print(f"gnomon: {' '.join(message.split())}", file=sys.stderr)
    return code
