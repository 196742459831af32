"""The screen of `slipring top`: a line of facts, the rows, a line of keys. Pure."""

from typing import TYPE_CHECKING

from rich.text import Text

from slipring.cli.display import ago, counted, printable, value_text
from slipring.cli.parameter_rows import STYLES, state_of
from slipring.cli.terminal_table import plain, table
from slipring.cli.top_board import Board
from slipring.cli.top_readings import Readings

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

LINES_BESIDE = 4
"""Lines of the screen that are not rows: facts, a line, heads, keys."""
KEYS = "q quit   / search   left right sort   r reverse   up down scroll   space pause"
VALUE_WIDTH_MAX = 24
NAME_WIDTH_MIN = 16
WIDTH_BESIDE = 72
"""Columns of the screen that a name leaves to the others."""


def rows_table(board: Board, readings: Readings, now_ns: int, name_width: int) -> "Table":
    """A row for each parameter that is visible."""
    heads = ("name", "+value", "unit", "+rate", "age", "quality")
    sorted_by = "name" if board.sort == "name" else str(board.sort)
    marked = [head + "*" * (head.removeprefix("+") == sorted_by) for head in heads]
    shown = table(*marked)
    for entry in board.visible:
        sample, parameter = readings.samples.get(entry.name), entry.parameter
        words, style_key = state_of(parameter, sample)
        style = STYLES.get(style_key, "")
        rate_hz = readings.rate_hz(entry.name)
        shown.add_row(
            plain(shortened(printable(entry.name), name_width)),
            Text("" if sample is None else _value(value_text(sample)), style),
            plain(parameter.unit or ""),
            "" if rate_hz is None else f"{rate_hz:,.1f} Hz",
            "" if sample is None else ago((now_ns - sample.time_ns) / 1e9),
            Text(words, style),
        )
    return shown


def screen(
    board: Board, readings: Readings, now_ns: int, *, url: str, columns: int, is_connected: bool
) -> "RenderableType":
    """All lines of the terminal."""
    from rich.console import Group

    width = max(NAME_WIDTH_MIN, columns - WIDTH_BESIDE)
    shown = rows_table(board, readings, now_ns, width)
    facts = _line(_facts(board, url, is_connected=is_connected), "bold")
    last = (
        KEYS if board.typed is None else f"/{printable(board.typed)}_   enter finds, esc shows all"
    )
    missing = max(0, board.height - len(board.visible))
    return Group(facts, "", shown, *[""] * missing, _line(last, "dim"))


def _line(text: str, style: str) -> Text:
    return Text(text, style, no_wrap=True, overflow="ellipsis")


def _facts(board: Board, url: str, *, is_connected: bool) -> str:
    place = f"rows {board.offset + 1:,} to {board.offset + len(board.visible):,}"
    parts = [
        f"slipring top  {printable(url)}",
        counted(len(board.entries), "parameter"),
        place if board.visible else "none matches",
        f"by {board.sort}{', reversed' if board.is_reversed else ''}",
    ]
    if board.search:
        parts.append(f"/{printable(board.search)}")
    if board.is_paused:
        parts.append("PAUSED")
    if not is_connected:
        parts.append("NOT CONNECTED")
    return "  ".join(parts)


def shortened(text: str, width: int) -> str:
    """The text in this width, without its middle if it is longer: both ends tell names apart."""
    if len(text) <= width:
        return text
    left = (width - 1) // 2
    return f"{text[:left]}…{text[len(text) - (width - 1 - left) :]}"


def _value(text: str) -> str:
    return shortened(text, VALUE_WIDTH_MAX)
