"""What one page watches: the parameters that its search finds, and what changes of them."""

import base64
import time
from bisect import bisect_left
from itertools import islice
from typing import Any

from slipring.console.catalog import Catalog

ROWS_SHOWN = 200
"""Parameters that one page watches; how many match is told."""
TEXT_SHOWN = 256
"""Characters of a value that are shown."""
BYTES_SHOWN = 64
"""Bytes of a value that are shown, in hex."""
EXACT_MAX = 2**53
"""Beyond this a number of JavaScript is not exact, so a value goes as text."""
TOLD = ("index", "name", "type", "unit", "description", "range", "limits", "rate_hz", "source")

Json = dict[str, Any]


class Watch:
    """One page's; nothing of it outlives the page."""

    def __init__(self, catalog: Catalog, search: str) -> None:
        """Begin with a search; the empty one finds all."""
        self.search = search
        self.view: tuple[int, int] = (0, ROWS_SHOWN)
        """The first row that a person sees, and how many."""
        self._catalog = catalog
        self._chosen_for: tuple[int, str] | None = None
        self._matching = 0
        self._types: dict[str, str] = {}
        self._indices: list[int] = []
        self._sent: dict[int, Json] = {}
        self._is_complete = False
        """Whether every row had its turn: from then on only those in view are looked at."""
        self._from = 0

    async def look(self) -> Json:
        """Tell what is new: the rows, where there are others than before, and changed values."""
        await self._catalog.refresh()
        definitions = await self._choose()
        return {
            "at_ms": time.time_ns() / 1e6,
            "search": self.search,
            "parameters": len(self._catalog.names),
            "matching": self._matching,
            "definitions": definitions,
            "values": self._changed(),
        }

    async def _choose(self) -> list[Json] | None:
        key = (self._catalog.revision, self.search)
        if self._chosen_for == key:
            return None
        self._chosen_for = key
        found = await self._catalog.found(self.search)
        self._matching = len(found)
        definitions = [one for name in found[:ROWS_SHOWN] for one in self._definition(name)]
        self._types = {one["name"]: one["type"] for one in definitions}
        self._indices = sorted(one["index"] for one in definitions)
        self._sent = {}
        self._is_complete = False
        self._from = 0
        return definitions

    def _definition(self, name: str) -> list[Json]:
        """None where it has been removed since."""
        answer = self._catalog.ask("list", {"filter": name, "count": 1})
        return [{key: one.get(key) for key in TOLD} for one in answer["parameters"]]

    def _changed(self) -> list[Json]:
        """One question a time: values that do not fit into its answer come with the next one."""
        names = self._in_view()
        if not names:
            return []
        answer = self._catalog.ask("values", {"names": names, "from": self._from})
        if "error" in answer:  # Not even the first one fits: it is passed over.
            later = self._indices[bisect_left(self._indices, self._from) + 1 :]
            self._go_on(later[0] if later else None)
            return []
        self._go_on(answer["next"])
        values = (_value(row, self._types[row["name"]]) for row in answer["values"])
        changed = [value for value in values if self._sent.get(value["index"]) != value]
        self._sent.update((value["index"], value) for value in changed)
        return changed

    def _in_view(self) -> list[str]:
        if not self._is_complete:
            return list(self._types)
        first, count = self.view
        return list(islice(self._types, first, first + count))

    def _go_on(self, index: int | None) -> None:
        self._from = index or 0
        self._is_complete = self._is_complete or index is None


def _value(row: Json, type_: str) -> Json:
    return {
        "index": row["index"],
        "value": _shown(row["value"], type_),
        "time_ms": row["time"] / 1e6,
        "received_ms": row["received"] / 1e6,
        "quality": row["quality"],
        "why": row.get("why"),
    }


def _shown(value: Any, type_: str) -> Any:
    """As the page takes it: bytes in hex, long ones cut, great integers as text."""
    if type_ == "bytes":
        return _hex(value)
    if isinstance(value, int) and abs(value) > EXACT_MAX:
        return str(value)
    return value[:TEXT_SHOWN] if isinstance(value, str) else value


def _hex(coded: str) -> str:
    """The first bytes, and how many there are where these are not all."""
    total = len(coded) // 4 * 3 - coded.count("=", -2)
    first = base64.b64decode(coded[: (BYTES_SHOWN + 2) // 3 * 4])[:BYTES_SHOWN].hex()
    return first if total <= BYTES_SHOWN else f"{first}… ({total:,} bytes)"
