"""Writes a man page for each command of `slipring`, from its own help.

python -m scripts.man_pages FOLDER
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from slipring import __version__
from slipring.cli.app import app

INDENT = "    "
NO_CONTEXT: Any = typer.Context(typer.main.get_command(app))


def man_pages(
    command: Any = None, path: tuple[str, ...] = ("slipring",)
) -> Iterator[tuple[str, str]]:
    """The name and the text of each page, the command itself before those below it."""
    command = command or typer.main.get_command(app)
    below = {name: one for name, one in commands_below(command).items() if not one.hidden}
    yield "-".join(path), "\n".join(_page(command, path, below)) + "\n"
    for name, one in below.items():
        yield from man_pages(one, (*path, name))


def _page(command: Any, path: tuple[str, ...], below: dict[str, Any]) -> Iterator[str]:
    name, help_ = "-".join(path), str(command.help)
    yield f'.TH "{name.upper()}" "1" "" "slipring {__version__}" "Slipring"'
    yield from (".SH NAME", f"{_plain(name)} \\- {_plain(summary_of(help_))}")
    yield from (".SH SYNOPSIS", _synopsis(command, path, below))
    yield from (".SH DESCRIPTION", *_description(help_))
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    yield from _listed("ARGUMENTS", [(_bold(metavar_of(one)), help_of(one)) for one in arguments])
    yield from _listed(
        "COMMANDS", [(_bold(key), summary_of(str(one.help))) for key, one in below.items()]
    )
    yield from _listed("OPTIONS", [(_flags(one), help_of(one)) for one in options])
    yield from _see_also(path, below)


def _synopsis(command: Any, path: tuple[str, ...], below: dict[str, Any]) -> str:
    arguments = (one for one in command.params if one.param_type_name == "argument")
    named = [metavar_of(one) if one.required else f"[{metavar_of(one)}]" for one in arguments]
    words = [_bold(" ".join(path)), "[OPTIONS]", *map(_plain, named)]
    return " ".join([*words, *(["COMMAND ..."] if below else [])])


def _description(help_: str) -> Iterator[str]:
    """Paragraphs are filled; what is indented stays as it is, as examples and output."""
    for block in re.split(r"\n\s*\n", help_.strip()):
        if block.startswith(INDENT):
            lines = [_plain(line.removeprefix(INDENT)) for line in block.splitlines()]
            yield from (".PP", ".RS 4", ".nf", *lines, ".fi", ".RE")
        else:
            yield from (".PP", _filled(block))


def _listed(title: str, entries: list[tuple[str, str]]) -> Iterator[str]:
    if entries:
        yield f".SH {title}"
    for term, text in entries:
        yield from (".TP", term, _filled(text) or "\\&")


def _see_also(path: tuple[str, ...], below: dict[str, Any]) -> Iterator[str]:
    above = ["-".join(path[:-1])] if path[1:] else []
    names = [*above, *("-".join((*path, name)) for name in below)]
    yield from (".SH SEE ALSO", ", ".join(f"{_bold(name)}(1)" for name in names))


def _flags(option: Any) -> str:
    names = ", ".join(map(_bold, [*option.opts, *option.secondary_opts]))
    return names if option.is_flag else f"{names} {_plain(metavar_of(option))}"


def help_of(parameter: Any) -> str:
    """Its help, with the default that `--help` shows."""
    told, default = parameter.help or "", parameter.default
    if (
        default in (None, "", False, ())
        or callable(default)
        or getattr(parameter, "is_flag", False)
    ):
        return told
    return f"{told} Default: {default}."


def commands_below(command: Any) -> dict[str, Any]:
    return getattr(command, "commands", {})


def metavar_of(parameter: Any) -> str:
    """What stands for its value: as its help has it, a choice in full."""
    if parameter.metavar:
        return str(parameter.metavar)
    if parameter.param_type_name == "argument":
        return str(parameter.name.upper())
    shown: str = parameter.display_type(NO_CONTEXT).strip("<>")
    return shown if "|" in shown else shown.upper()


def summary_of(help_: str) -> str:
    """The first sentence of a help, without its full stop, on one line."""
    first = " ".join(help_.strip().split("\n\n")[0].split())
    return re.split(r"(?<=\w|\))\.(?:\s|$)", first)[0].replace("`", "")


def _bold(text: str) -> str:
    return f"\\fB{_plain(text)}\\fR"


def _filled(text: str) -> str:
    """A paragraph on one line; what is in backticks is bold."""
    parts = re.split(r"`([^`]*)`", " ".join(text.split()))
    return "".join(_bold(part) if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    """As groff shows it, letter by letter."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{text}" if text.startswith(".") else text


if __name__ == "__main__":
    (folder,) = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    for page, text in man_pages():
        (folder / f"{page}.1").write_text(text, encoding="utf-8")
