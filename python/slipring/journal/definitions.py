"""The definitions of a journal's parameters: which of them held at which offset.

Data only: it is read from an open journal once, and again when the journal has others. It never
decodes a sample.
"""

import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import pyarrow as pa

from slipring.journal.location import OpenJournal
from slipring.model import Parameter

PARAMETERS_SCHEMA = pa.schema(
    [
        pa.field("journal", pa.string(), nullable=False),
        pa.field("table", pa.int64(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("type", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("unit", pa.string()),
        pa.field("description", pa.string()),
        pa.field("labels", pa.string()),
        pa.field("limits", pa.string()),
        pa.field("range_low", pa.float64()),
        pa.field("range_high", pa.float64()),
        pa.field("rate_hz", pa.float64()),
        pa.field("source", pa.string()),
        pa.field("since_offset", pa.int64(), nullable=False),
        pa.field("until_offset", pa.int64()),
        pa.field("since_ns", pa.int64(), nullable=False),
    ]
)
"""The lake's table `parameters`: a row for each version. Labels and limits are JSON; `kind` is how
a frame encodes the values of the `type`; an `until_offset` of null means that it still holds."""

_Row = dict[str, Any]

# JSON of definitions repeats itself: the quickest level makes it ten times smaller.
_PACKED_LEVEL = 1


@dataclass(frozen=True, slots=True)
class DefinitionVersion:
    """A definition of one parameter, and the offsets at which it held."""

    index: int
    name: str
    parameter: Parameter
    since: int
    """The first offset at which it held."""
    since_ns: int
    """When that was; 0 if it was declared before the journal kept versions."""
    until: int | None
    """The first offset at which it held no more; None while it holds."""

    @classmethod
    def of_json(cls, row: Mapping[str, Any]) -> Self:
        """The version from a row of the JSON."""
        names = ("since", "since_ns", "until")
        parameter = Parameter.of_json(row)
        return cls(row["index"], row["name"], parameter, *(row[name] for name in names))


@dataclass(frozen=True)
class DefinitionHistory:
    """All definitions that a journal's table had, as far as it remembers them.

    An index belongs to one name, type, unit and set of labels for ever; the versions of an index
    differ in the rest, such as the limits. A name whose type, unit or labels changed has several
    indices, of which the highest is the newest.
    """

    journal: str
    """The identity of the journal."""
    json: str
    """The definitions as the native decoders take them."""

    @classmethod
    def of(cls, journal: OpenJournal) -> Self:
        """What an open journal has by now."""
        return cls(journal.identity, journal.definitions())

    def refresh(self, journal: OpenJournal) -> Self:
        """What the journal has by now: this object itself if nothing has changed."""
        is_current = (journal.identity, journal.definitions_edition()) == self.edition
        return self if is_current else self.of(journal)

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[str, bytes]]:
        packed = zlib.compress(self.json.encode(), _PACKED_LEVEL)
        return self._unpacked, (self.journal, packed)

    @classmethod
    def _unpacked(cls, journal: str, packed: bytes) -> Self:
        return cls(journal, zlib.decompress(packed).decode())

    @cached_property
    def edition(self) -> tuple[str, tuple[int, int, int]]:
        """Two histories with the same edition are equal: journal; table, revision and epoch."""
        found = self._content
        return self.journal, (found["table"], found["revision"], found["epoch"])

    @property
    def table(self) -> int:
        """The number of the table, which is in the header of each frame; 0 if there is none."""
        return int(self._content["table"])

    @property
    def flaws(self) -> list[str]:
        """What could not be read in the journal's records: there may be further versions."""
        return list(self._content["flaws"])

    def __len__(self) -> int:
        return len(self._content["versions"])

    def __iter__(self) -> Iterator[DefinitionVersion]:
        """All versions, by index and then by offset."""
        return map(DefinitionVersion.of_json, self._content["versions"])

    def names(self) -> list[str]:
        """The names of all parameters, removed ones included, sorted."""
        return sorted(self._indices)

    def indices(self, name: str) -> list[int]:
        """The indices that a name has or had, ascending: the last one is the newest."""
        return list(self._indices.get(name, ()))

    def at(self, index: int, offset: int) -> DefinitionVersion | None:
        """The definition of a parameter for a sample at this offset; None if it is not known.

        It is the last one that began at or before the offset, also if the parameter was removed
        since: a frame that was accepted before may be in the journal behind the removal. Before
        the oldest version that is remembered, it is that one.
        """
        rows = self._by_index.get(index)
        if rows is None:
            return None
        after = bisect_right(rows, offset, key=lambda row: row["since"])
        return DefinitionVersion.of_json(rows[max(after - 1, 0)])

    def to_arrow(self) -> pa.Table:
        """A row for each version, with the columns of `PARAMETERS_SCHEMA`."""
        rows: list[_Row] = self._content["versions"]
        ranges = [row.get("range") or (None, None) for row in rows]
        columns = {name: [row.get(name) for row in rows] for name in PARAMETERS_SCHEMA.names}
        columns |= {
            "journal": [self.journal] * len(rows),
            "table": [self.table] * len(rows),
            "kind": list(map(_kind, rows)),
            "labels": [_text(row.get("labels")) for row in rows],
            "limits": [_text(row.get("limits")) for row in rows],
            "range_low": [low for low, _ in ranges],
            "range_high": [high for _, high in ranges],
            "since_offset": [row["since"] for row in rows],
            "until_offset": [row["until"] for row in rows],
        }
        return pa.table(columns, schema=PARAMETERS_SCHEMA)

    @cached_property
    def _content(self) -> _Row:
        content: _Row = json.loads(self.json)
        return content

    @cached_property
    def _by_index(self) -> dict[int, list[_Row]]:
        found: dict[int, list[_Row]] = {}
        for row in self._content["versions"]:
            found.setdefault(row["index"], []).append(row)
        return found

    @cached_property
    def _indices(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index, rows in self._by_index.items():
            found.setdefault(rows[0]["name"], []).append(index)
        return found


def _kind(row: _Row) -> str:
    """How a frame encodes the values; only an enum has another name for it."""
    return str(row["type"]) if "labels" not in row else Parameter.of_json(row).kind.word


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
