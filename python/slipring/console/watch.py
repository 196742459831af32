"""What one page watches: the parameters that its search finds, and which values changed."""

import base64
import time
from bisect import bisect_left
from collections import defaultdict
from itertools import islice
from typing import Any

from slipring.console.catalog import Catalog
from slipring.console.narrowing import CatalogView
from slipring.status.description import part
from slipring.status.parameters import (
    AlarmBounds,
    ParameterDefinition,
    ParameterSample,
    ParametersMessage,
)

ROWS_SHOWN = 200
"""Parameters that one page watches; it is also sent how many match."""
TEXT_SHOWN = 256
"""Characters of a value that are shown."""
BYTES_SHOWN = 64
"""Bytes of a value that are shown, in hex."""
EXACT_MAX = 2**53
"""Beyond this an integer is not exact in JavaScript, so it is sent as text."""

Json = dict[str, Any]


class Watch:
    """The state of one page."""

    def __init__(self, catalog: Catalog | CatalogView, search: str) -> None:
        """Start with a search; an empty one finds all."""
        self.search = search
        self.view: tuple[int, int] = (0, ROWS_SHOWN)
        """The first row that a person sees, and how many."""
        self._catalog = catalog
        self._chosen_for: tuple[object, str] | None = None
        self._matching = 0
        self._types: dict[str, str] = {}
        self._indices: list[int] = []
        self._sent: dict[int, ParameterSample] = {}
        self._is_complete = False
        """Whether every row was sent once: from then on only rows in view are read."""
        self._from = 0

    async def look(self) -> ParametersMessage:
        """Make the next message: the rows if they are others, and the values that changed."""
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

    async def _choose(self) -> list[ParameterDefinition] | None:
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

    def _definition(self, name: str) -> list[ParameterDefinition]:
        """Empty if it has been removed since."""
        answer = self._catalog.ask("list", {"filter": name, "count": 1})
        return [_definition(one) for one in answer["parameters"]]

    def _changed(self) -> list[ParameterSample]:
        """Ask once: values that do not fit into the answer come with the next message."""
        names = self._in_view()
        if not names:
            return []
        answer = self._catalog.ask("values", {"names": names, "from": self._from})
        if "error" in answer:  # not even the first value fits: skip it
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


def _definition(row: Json) -> ParameterDefinition:
    """What the engine leaves out is null."""
    told = part(ParameterDefinition, defaultdict(lambda: None, row))
    if told["limits"] is not None:
        told["limits"] = part(AlarmBounds, defaultdict(lambda: None, told["limits"]))
    return told


def _value(row: Json, type_: str) -> ParameterSample:
    return {
        "index": row["index"],
        "value": _shown(row["value"], type_),
        "time_ms": row["time"] / 1e6,
        "received_ms": row["received"] / 1e6,
        "quality": row["quality"],
        "why": row.get("why"),
    }


def _shown(value: Any, type_: str) -> Any:
    """Convert for the page: bytes in hex, long texts cut, large integers as text."""
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
