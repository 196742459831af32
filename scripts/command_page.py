"""Writes one page with every command of `slipring` from its own help, for the site alone."""

from collections.abc import Iterator
from typing import Any

import typer

from scripts.man_pages import INDENT, commands_below, help_of, metavar_of
from slipring.cli.app import app

COMMAND_PAGE = "docs/command-reference.md"
OPENING = """\
# Commands in full

Every command with its arguments and options, as `slipring COMMAND --help` tells them.
[The command line](commands.md) says what they share.
"""


def command_page() -> str:
    """The page, in Markdown."""
    return "\n".join([OPENING, *_sections(typer.main.get_command(app), ("slipring",))]) + "\n"


def _sections(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    below = {name: one for name, one in commands_below(command).items() if not one.hidden}
    if not below:
        yield from (
            f"## {' '.join(path)}",
            "",
            *_told(str(command.help)),
            *_parameters(command),
            "",
        )
    for name, one in below.items():
        yield from _sections(one, (*path, name))


def _told(help_: str) -> Iterator[str]:
    """The help: what is indented there is a block of lines."""
    is_block = False
    for line in help_.replace("\b", "").strip().splitlines():
        if is_block and line.strip() and not line.startswith(INDENT):
            yield "```\n"
            is_block = False
        elif not is_block and line.startswith(INDENT):
            yield "\n```text"
            is_block = True
        yield line.removeprefix(INDENT) if is_block else line
    yield "```\n" if is_block else ""


def _parameters(command: Any) -> Iterator[str]:
    yield from ("| argument or option | what it is |", "|---|---|")
    for one in command.params:
        if not getattr(one, "hidden", False):
            told = " ".join(help_of(one).split()).replace("|", "\\|")
            yield f"| {_named(one)} | {told} |"


def _named(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_cell(metavar_of(parameter))}`"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} `{_cell(metavar_of(parameter))}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
