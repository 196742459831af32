"""Rows as a small HTML table, for notebooks. Bounded, escaped, in the colours of the page."""

import html
from collections.abc import Iterable, Sequence
from itertools import islice

ROWS_MAX = 20
TEXT_MAX = 120
"""Characters of a cell; a longer one is cut."""
# No colour of our own: text and lines are those of the notebook, dark or light.
_CELL = "text-align:left;padding:0 1em 0 0;border-bottom:1px solid rgba(128,128,128,.3)"


def html_table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], total: int
) -> str:
    """The first rows, and how many there are; every text may be hostile."""
    shown = [_row("td", row) for row in islice(rows, ROWS_MAX)]
    more = total - len(shown)
    caption = f"{title}, {more:,} more" if more > 0 else title
    return (
        f"<div><p>{_text(caption)}</p><table style='border-collapse:collapse'>"
        f"<thead>{_row('th', heads)}</thead><tbody>{''.join(shown)}</tbody></table></div>"
    )


def _row(tag: str, cells: Sequence[object]) -> str:
    inner = "".join(f"<{tag} style='{_CELL}'>{_text(cell)}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"


def _text(cell: object) -> str:
    """A cell without markup, control codes and marks that turn the writing direction."""
    if cell is None:
        return ""
    if isinstance(cell, bytes):
        cell = cell[: TEXT_MAX + 1].hex(" ")
    text = str(cell)
    cut = text[:TEXT_MAX] + "…" * (len(text) > TEXT_MAX)
    safe = (one if one.isprintable() else one.encode("unicode_escape").decode() for one in cut)
    return html.escape("".join(safe))
