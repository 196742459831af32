"""What one page watches: the parameters that its search finds, and what changes of them."""

import time
from bisect import bisect_left
from typing import Any

from slipring.console.catalog import Catalog

ROWS_SHOWN = 200
"""Parameters that one page watches; how many match is told."""
TEXT_SHOWN = 256
"""Characters of a value that are shown."""
EXACT_MAX = 2**53
"""Beyond this a number of JavaScript is not exact, so a value goes as text."""
TOLD = ("index", "name", "type", "unit", "description", "range", "limits", "rate_hz", "source")

Json = dict[str, Any]


class Watch:
    """One page's; nothing of it outlives the page."""

    def __init__(self, catalog: Catalog, search: str) -> None:
        """Begin with a search; the empty one finds all."""
        self.search = search
        self._catalog = catalog
        self._chosen_for: tuple[int, str] | None = None
        self._matching = 0
        self._types: dict[str, str] = {}
        self._indices: list[int] = []
        self._sent: dict[int, Json] = {}
        self._from = 0

    async def look(self) -> Json:
        """Tell what is new: the rows, where there are others than before, and changed values."""
        await self._catalog.refresh()
        definitions = self._choose()
        return {
            "at_ms": time.time_ns() / 1e6,
            "search": self.search,
            "parameters": len(self._catalog.names),
            "matching": self._matching,
            "definitions": definitions,
            "values": self._changed(),
        }

    def _choose(self) -> list[Json] | None:
        key = (self._catalog.revision, self.search)
        if self._chosen_for == key:
            return None
        self._chosen_for = key
        found = self._catalog.find(self.search)
        self._matching = len(found)
        definitions = [one for name in found[:ROWS_SHOWN] for one in self._definition(name)]
        self._types = {one["name"]: one["type"] for one in definitions}
        self._indices = sorted(one["index"] for one in definitions)
        self._sent = {}
        self._from = 0
        return definitions

    def _definition(self, name: str) -> list[Json]:
        """None where it has been removed since."""
        answer = self._catalog.ask("list", {"filter": name, "count": 1})
        return [{key: one.get(key) for key in TOLD} for one in answer["parameters"]]

    def _changed(self) -> list[Json]:
        """One question a time: values that do not fit into its answer come with the next one."""
        if not self._types:
            return []
        answer = self._catalog.ask("values", {"names": list(self._types), "from": self._from})
        if "error" in answer:  # Not even the first one fits: it is passed over.
            later = self._indices[bisect_left(self._indices, self._from) + 1 :]
            self._from = later[0] if later else 0
            return []
        self._from = answer["next"] or 0
        values = (_value(row, self._types[row["name"]]) for row in answer["values"])
        changed = [value for value in values if self._sent.get(value["index"]) != value]
        self._sent.update((value["index"], value) for value in changed)
        return changed


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
    """As the page takes it: bytes by their number, long texts cut, great integers as text."""
    if type_ == "bytes":
        return len(value) // 4 * 3 - value.count("=", -2)
    if isinstance(value, int) and abs(value) > EXACT_MAX:
        return str(value)
    return value[:TEXT_SHOWN] if isinstance(value, str) else value
