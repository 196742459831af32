"""All parameters in the order of their names, with what a search looks at. Never has values.

Whole definitions are not kept here: a page shows few of them, and they are asked for.
"""

import asyncio
import json
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from slipring.status.description import part
from slipring.status.parameters import AlarmBounds, ParameterDefinition

PAGE = 2_000
"""Parameters in one request to the engine: a few milliseconds."""
REST_S = (1.0, 5.0)
"""Least and most time between two readings of a table that keeps changing."""
REST_SHARE = 3
"""Within these bounds, the pause after a reading is so many times its duration."""
DEFINITIONS_MAX = 4_000
"""Definitions that are kept until the table changes: those that pages have shown."""

NO_NUMBERS = ("text", "bytes", "enum")
"""Types whose values no limit is for."""

Ask: TypeAlias = Callable[[str, bytes], bytes]
"""`Engine.ask_table`."""
Json = dict[str, Any]
Bounds: TypeAlias = tuple[float | None, float | None, float | None, float | None]
"""Critical low, low, high, critical high."""


@dataclass
class Columns:
    """Parameters by position: the order of their names, with numbers in names as numbers."""

    names: list[str] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    units: list[str | None] = field(default_factory=list)
    rates_hz: list[float | None] = field(default_factory=list)
    limits: dict[int, Bounds] = field(default_factory=dict)
    """By position, of those that have limits."""
    positions: dict[int, int] = field(default_factory=dict)
    """Of each index its position."""

    @cached_property
    def folded(self) -> list[str]:
        """The names without a difference of case, made for the first search."""
        return [name.casefold() for name in self.names]


class Catalog:
    """Reads the table again when it has changed and a page asks."""

    def __init__(self, ask: Ask) -> None:
        """Start without parameters."""
        self.columns: Columns = Columns()
        self.revision: int = -1
        self._ask = ask
        self._rest_until_s = 0.0
        self._reading = asyncio.Lock()
        """Pages that ask at the same time share one reading."""
        self._definitions: dict[str, ParameterDefinition] = {}

    @property
    def names(self) -> list[str]:
        """The names, sorted."""
        return self.columns.names

    async def refresh(self) -> None:
        """Read the table if it has changed."""
        async with self._reading:
            revision = self.ask("find", {"names": []})["revision"]
            started_s = time.monotonic()
            if revision == self.revision or started_s < self._rest_until_s:
                return
            self.columns = await asyncio.to_thread(lambda: _columns(self._read()))
            self.revision = revision
            self._definitions = {}
            now_s = time.monotonic()
            least_s, most_s = REST_S
            self._rest_until_s = now_s + min(max(least_s, REST_SHARE * (now_s - started_s)), most_s)

    def ask(self, name: str, body: Json) -> Json:
        """Ask the engine about the table."""
        answer: Json = json.loads(self._ask(name, json.dumps(body).encode()))
        return answer

    def definition(self, name: str) -> ParameterDefinition | None:
        """All that is known of a parameter; None if it has been removed since."""
        known = self._definitions.get(name)
        if known is None:
            for row in self.listed(name):
                known = definition_of(row)
                if len(self._definitions) >= DEFINITIONS_MAX:
                    self._definitions = {}
                self._definitions[name] = known
        return known

    def listed(self, name: str) -> list[Json]:
        """What the engine lists of one name: nothing, or its definition."""
        rows: list[Json] = self.ask("list", {"filter": name, "count": 1}).get("parameters", [])
        return [row for row in rows if row["name"] == name]  # a name with wildcards is none

    def _read(self) -> Iterable[Json]:
        start: int | None = 0
        while start is not None:
            page = self.ask("list", {"from": start, "count": PAGE})
            yield from page["parameters"]
            start = page["next"]


def _columns(rows: Iterable[Json]) -> Columns:
    """Rows of the engine as columns; texts that many have in common are kept once."""
    kept = [
        (
            row["name"],
            row["index"],
            sys.intern(row["type"]),
            sys.intern(row["unit"]) if row.get("unit") is not None else None,
            row.get("rate_hz"),
            row.get("limits"),
        )
        for row in rows
    ]
    kept.sort(key=lambda one: _sort_key(one[0]))
    made = Columns()
    for position, (name, index, type_, unit, rate_hz, limits) in enumerate(kept):
        made.names.append(name)
        made.indices.append(index)
        made.types.append(type_)
        made.units.append(unit)
        made.rates_hz.append(rate_hz)
        made.positions[index] = position
        if limits and type_ not in NO_NUMBERS:
            low_critical, low, high, high_critical = (
                limits.get(one) for one in AlarmBounds.__annotations__
            )
            made.limits[position] = (low_critical, low, high, high_critical)
    return made


def _sort_key(name: str) -> str:
    """Numbers in names compare as numbers: `cell/2` comes before `cell/10`."""
    return re.sub("[0-9]+", lambda number: number[0].zfill(10), name)


def definition_of(row: Json) -> ParameterDefinition:
    """The definition of a row of the engine; what the engine leaves out is null."""
    told = part(ParameterDefinition, defaultdict(lambda: None, row))
    if told["limits"] is not None:
        told["limits"] = part(AlarmBounds, defaultdict(lambda: None, told["limits"]))
    return told
