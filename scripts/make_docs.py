"""Writes the parts of docs/ that come from the program itself: the command-line reference."""

from pathlib import Path
from typing import Any

import typer

from gnomon.cli import app

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"


def reference() -> str:
    """The command line as Markdown, from the same declarations that make `--help`."""
    lines = [
        "# Command line",
        "",
        "Every command exits with 0 when done, 1 when it failed and 2 for bad input, which gets",
        "one line: where, what is wrong, what to do. This page is made by `make docs`.",
        "",
    ]
    for name, command in sorted(_commands(typer.main.get_command(app), "gnomon")):
        words = [_argument(p) for p in command.params if p.param_type_name == "argument"]
        lines += [f"## `{' '.join([name, *words, '[OPTIONS]'])}`", "", _prose(command.help), ""]
        lines += ["| argument or option | default | |", "|---|---|---|"]
        for parameter in command.params:
            lines.append(_row(parameter))
        lines.append("")
    return "\n".join(lines)


def _commands(command: Any, name: str) -> list[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(name, command)]
    return [pair for key, each in inner.items() for pair in _commands(each, f"{name} {key}")]


def _argument(parameter: Any) -> str:
    text = (parameter.metavar or parameter.name.upper()).strip("[]")
    return text if parameter.required else f"[{text}]"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = f"`{_argument(parameter)}`"
    else:
        name = ", ".join(f"`{o}`" for o in [*parameter.opts, *parameter.secondary_opts])
        if parameter.metavar:
            name += f" {parameter.metavar}".replace("|", "\\|")
    default = parameter.default
    shown = "" if default is None or default is False or parameter.required else f"`{default}`"
    return f"| {name} | {shown} | {_prose(parameter.help)} |"


def _prose(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET.name}")
