"""Tables for a terminal. Control codes in names never reach it."""

from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from slipring.cli.display import printable

WIDTH_MAX = 1_000


def table(*heads: str) -> Table:
    """A table; a head that begins with + is that of a column of numbers."""
    made = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for head in heads:
        justify: Any = "right" if head.startswith("+") else "left"
        made.add_column(head.removeprefix("+"), justify=justify, no_wrap=True)
    return made


def facts(rows: list[tuple[str, str]]) -> Table:
    """Two columns: names and facts."""
    made = Table.grid(padding=(0, 2))
    for name, text in rows:
        made.add_row(Text(name, "dim"), plain(text))
    return made


def show(*tables: RenderableType) -> None:
    """Print tables, or words, with a line between them.

    A narrow terminal wraps lines; nothing is cut off.
    """
    screen = Console(highlight=False, width=WIDTH_MAX)
    for index, one in enumerate(tables):
        if index:
            screen.print()
        screen.print(one)


def plain(text: str) -> Text:
    """The text without markup and without control codes."""
    return Text(printable(text))
