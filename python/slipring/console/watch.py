"""What one page watches: a question, the rows in view, and what the page has of them already."""

import json
from dataclasses import dataclass
from typing import Any

from slipring.console.finding import SORTS, ParameterQuestion
from slipring.console.narrowing import CatalogView
from slipring.console.shared_rows import ROWS_MAX, RowsInView, SharedRows

SEARCH_MAX = 1_000
"""Characters of a search."""
NAMES_MAX = 200
"""Names that a page marks, and looks at alone or first."""
NAME_MAX = 1_024
EVERYTHING = ParameterQuestion()
DEFAULTS: dict[str, Any] = {
    "search": None,
    "sort": "name",
    "first": 0,
    "count": ROWS_MAX,
    "names": [],
    "only_names": False,
}
"""What a page need not say; it has to say what it searches."""
FIRST_MAX = 2**32
"""Beyond the last parameter that there can be."""


@dataclass(frozen=True)
class Asked:
    """What a page asks for."""

    question: ParameterQuestion = EVERYTHING
    first: int = 0
    """The first row in view."""
    count: int = ROWS_MAX


class Watch:
    """The state of one page."""

    def __init__(self, rows: RowsInView, view: CatalogView, asked: Asked) -> None:
        """Start with a question; an empty search finds all."""
        self.asked = asked
        self._all = rows
        self._view = view
        self._rows: SharedRows | None = None
        self._seen: int | None = None

    async def look(self) -> str:
        """Make the next message: the rows if they are others, and the values that changed."""
        asked = self.asked
        rows = self._all.at(self._view, asked.question, asked.first, asked.count)
        if rows is not self._rows:
            self._rows, self._seen = rows, None
        text, self._seen = await rows.after(self._seen, self._view)
        return text


def read_asked(text: str | None) -> Asked | None:
    """Read what a page asks for; None if it is not understood."""
    try:
        told = json.loads(text or "")
        json.dumps(told, ensure_ascii=False).encode()  # half of a surrogate pair is not text
    except (ValueError, RecursionError):
        return None
    return _asked(DEFAULTS | told) if isinstance(told, dict) else None


def _asked(told: dict[str, Any]) -> Asked | None:
    search, sort, first, count = (told[one] for one in ("search", "sort", "first", "count"))
    names, only_names = told["names"], told["only_names"]
    is_question = isinstance(search, str) and is_search(search) and is_sort(sort)
    is_place = _is_number(first, FIRST_MAX) and _is_number(count, ROWS_MAX)
    if not (is_question and is_place and _is_names(names) and isinstance(only_names, bool)):
        return None
    return Asked(ParameterQuestion(search, sort, tuple(names), only_names), first, count)


def is_search(search: str) -> bool:
    """Whether it is a search that is not too long."""
    return len(search) <= SEARCH_MAX


def is_sort(sort: object) -> bool:
    """Whether rows can be sorted so."""
    return isinstance(sort, str) and sort.removeprefix("-") in SORTS


def _is_names(names: object) -> bool:
    if not isinstance(names, list) or len(names) > NAMES_MAX:
        return False
    return all(isinstance(name, str) and len(name) <= NAME_MAX for name in names)


def _is_number(number: object, most: int) -> bool:
    return type(number) is int and 0 <= number <= most
