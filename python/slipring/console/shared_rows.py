"""Rows in view that pages share: read once after each poll, sent as what changed for a page.

Never reads more than the rows of one page.
"""

import asyncio
import base64
import json
import time
from bisect import bisect_left
from typing import Any
from weakref import WeakValueDictionary

from slipring.console.finding import Finder, Found, ParameterQuestion
from slipring.console.narrowing import CatalogView
from slipring.console.turns import Turns
from slipring.status.parameters import ParameterDefinition, ParameterSample, ParametersMessage

ROWS_MAX = 200
"""Rows of one page at a time; it is also told how many there are."""
SHARED_S = 0.1
"""How long values are shared: less than the time between two polls."""
TEXT_SHOWN = 256
"""Characters of a value that are shown."""
BYTES_SHOWN = 64
"""Bytes of a value that are shown, in hex."""
EXACT_MAX = 2**53
"""Beyond this an integer is not exact in JavaScript, so it is sent as text."""

Json = dict[str, Any]


class SharedRows:
    """Some rows of one answer. Each change has a number: a page is sent all that it missed."""

    def __init__(
        self, finder: Finder, turns: Turns, asked: tuple[ParameterQuestion, int, int]
    ) -> None:
        """Nothing is read yet."""
        self._finder = finder
        self._turns = turns
        self._question, self._first, self._count = asked
        self._number = 0
        self._fresh_until_s = 0.0
        self._reading = asyncio.Lock()
        self._found: Found | None = None
        self._names: list[str] = []
        self._definitions: list[ParameterDefinition] = []
        self._defined_at = 0
        self._values: dict[int, tuple[int, ParameterSample]] = {}
        """By index, with the number of the change that brought it."""
        self._from = 0
        self._texts: dict[int | None, str] = {}
        """What was made for pages since the newest change, by what they had."""
        self._at_ms = 0.0

    async def after(self, seen: int | None, view: CatalogView) -> tuple[str, int]:
        """The message for a page that has all up to a change, as JSON; and the new number.

        Read as this page may see it: who opened the rows first may have lost rights meanwhile.
        """
        async with self._reading:
            if time.monotonic() >= self._fresh_until_s:
                await self._finder.catalog.refresh()
                found = await self._finder.found(view, self._question, self._found)
                async with self._turns.turn():
                    self._read(found)
                    return self._text(seen), self._number
            if seen not in self._texts:
                async with self._turns.turn():
                    return self._text(seen), self._number
            return self._texts[seen], self._number

    def _text(self, seen: int | None) -> str:
        if seen not in self._texts:
            message = self._message(-1 if seen is None else seen)
            self._texts[seen] = json.dumps(message, separators=(",", ":"))
        return self._texts[seen]

    def _read(self, found: Found) -> None:
        self._number += 1
        self._texts = {}
        self._at_ms = time.time_ns() / 1e6
        self._choose(found)
        self._change()
        self._fresh_until_s = time.monotonic() + SHARED_S

    def _choose(self, found: Found) -> None:
        """Take other rows if the answer has others in view, or other definitions of them."""
        columns = found.columns
        positions = found.positions[self._first : self._first + self._count]
        names = [columns.names[one] for one in positions]
        is_same = self._found is not None and self._found.columns is columns
        self._found = found
        if is_same and names == self._names:
            return
        made = [self._finder.catalog.definition(name) for name in names]
        definitions = [one for one in made if one is not None]
        self._names = [one["name"] for one in definitions]
        if definitions != self._definitions or self._number == 1:
            self._definitions = definitions
            self._defined_at = self._number
            kept = {one["index"] for one in definitions}
            self._values = {index: one for index, one in self._values.items() if index in kept}
            self._from = 0

    def _change(self) -> None:
        """Ask once: values that do not fit into the answer come with the next reading."""
        if not self._names:
            return
        asked = {"names": self._names, "from": self._from}
        answer = self._finder.catalog.ask("values", asked)
        if "error" in answer:  # not even the first value fits: skip it
            indices = sorted(one["index"] for one in self._definitions)
            later = indices[bisect_left(indices, self._from) + 1 :]
            self._from = later[0] if later else 0
            return
        self._from = answer["next"] or 0
        types = {one["index"]: one["type"] for one in self._definitions}
        for row in answer["values"]:
            index = row["index"]
            value = sample_of(row, types.get(index, ""))
            known = self._values.get(index)
            if known is None or known[1] != value:
                self._values[index] = (self._number, value)

    def _message(self, seen: int) -> ParametersMessage:
        found = self._found
        is_new = seen < self._defined_at
        return {
            "at_ms": self._at_ms,
            "search": self._question.search,
            "sort": self._question.sort,
            "first": self._first,
            "parameters": found.total if found else 0,
            "matching": len(found.positions) if found else 0,
            "problem": found.problem if found else None,
            "definitions": self._definitions if is_new else None,
            "values": [one for at, one in self._values.values() if is_new or at > seen],
        }


class RowsInView:
    """The rows that pages look at now. Rows that nobody looks at are forgotten."""

    def __init__(self, finder: Finder) -> None:
        """Nobody looks."""
        self._finder = finder
        self._turns = Turns()
        self._looked_at = WeakValueDictionary[object, SharedRows]()

    def at(
        self, view: CatalogView, question: ParameterQuestion, first: int, count: int
    ) -> SharedRows:
        """These rows, the same for every page that asks for the same and may see the same."""
        key = (view.key, question, first, count)
        rows = self._looked_at.get(key)
        if rows is None:
            rows = SharedRows(self._finder, self._turns, (question, first, count))
            self._looked_at[key] = rows
        return rows


def sample_of(row: Json, type_: str) -> ParameterSample:
    """A value of the engine as a page is told it."""
    return {
        "index": row["index"],
        "value": shown_value(row["value"], type_),
        "time_ms": row["time"] / 1e6,
        "received_ms": row["received"] / 1e6,
        "quality": row["quality"],
        "why": row.get("why"),
    }


def shown_value(value: Any, type_: str) -> Any:
    """Convert for a page: bytes in hex, long texts cut, large integers as text."""
    if type_ == "bytes":
        return _hex(value)
    if isinstance(value, int) and abs(value) > EXACT_MAX:
        return str(value)
    return value[:TEXT_SHOWN] if isinstance(value, str) else value


def _hex(coded: str) -> str:
    """The first bytes in hex, and the number of bytes if there are more."""
    total = len(coded) // 4 * 3 - coded.count("=", -2)
    first = base64.b64decode(coded[: (BYTES_SHOWN + 2) // 3 * 4])[:BYTES_SHOWN].hex()
    return first if total <= BYTES_SHOWN else f"{first}… ({total:,} bytes)"
