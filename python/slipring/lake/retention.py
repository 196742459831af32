"""Which files of a table must go: the oldest, when it is too large or when they are too old."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from slipring.errors import ConfigError
from slipring.lake.table_spec import TableSpec

if TYPE_CHECKING:  # a config file is checked where there is no lake, too
    from slipring.lake.table import LakeTable, TableFileEntry

KEPT_SHARE = 0.9
"""A table that is too large shrinks to this share of its size, not by a file in each commit."""
AGES = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
SIZES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
COUNT_MAX = 100_000
"""Of hours, days, weeks, MB, GB or TB: 100,000 weeks ago there was no telemetry."""


@dataclass(frozen=True)
class Keep:
    """How much of a table is kept: rows up to an age, or up to a size; None is no bound."""

    age: timedelta | None = None
    bytes: int | None = None

    @classmethod
    def of(cls, text: str) -> "Keep":
        """`12h`, `30d`, `8w`, `500MB`, `200GB` or `1TB`."""
        match = re.fullmatch(r"(\d+) ?([A-Za-z]+)", text.strip())
        if match and match[2] in {*AGES, *SIZES} and not 0 < int(match[1][:9]) <= COUNT_MAX:
            raise ConfigError(
                f'keep = "{text}": the number must be from 1 to {COUNT_MAX:,}; '
                "leave the table out to keep everything"
            )
        if match and match[2] in AGES:
            return cls(age=int(match[1]) * AGES[match[2]])
        if match and match[2] in SIZES:
            return cls(bytes=int(match[1]) * SIZES[match[2]])
        raise ConfigError(f'keep = "{text}" is neither an age, as 30d, nor a size, as 200GB')

    def surplus(
        self, files: "Sequence[TableFileEntry]", spec: TableSpec, now: datetime
    ) -> "list[TableFileEntry]":
        """The files that must go. A file goes by age when its newest row is too old."""
        if self.age is not None:
            files = [file for file in files if newest_row(file, spec) < now - self.age]
            return list(files)
        if self.bytes is None:
            return []
        ordered = sorted(files, key=lambda file: newest_row(file, spec))
        return _beyond(ordered, sum(file.bytes for file in files), self.bytes)


def newest_row(file: "TableFileEntry", spec: TableSpec) -> datetime:
    """The time of the newest row of a file; of a table without times, when it was committed."""
    found = file.most.get(spec.time)
    if isinstance(found, datetime):
        return found.astimezone(UTC)
    return datetime.fromtimestamp(file.time_ms / 1000, UTC)


class SizeBound:
    """Keeps a table below a size; counts by itself, so that a commit need not list the table."""

    def __init__(self, table: "LakeTable", keep_bytes: int) -> None:
        self._table = table
        self._keep_bytes = keep_bytes
        self._bytes = sum(file.bytes for file in table.files())

    def surplus(self, new_bytes: int) -> "list[TableFileEntry]":
        """The oldest files, which must go if the table grows by so many bytes."""
        total = self._bytes + new_bytes
        if total <= self._keep_bytes:
            return []
        return _beyond(self._table.files(), total, self._keep_bytes)

    def changed(self, by_bytes: int) -> None:
        """The table has become larger by so many bytes, or smaller."""
        self._bytes += by_bytes


def _beyond(
    files: "Sequence[TableFileEntry]", total_bytes: int, keep_bytes: int
) -> "list[TableFileEntry]":
    """The first files, without which the rest has the share of the bytes that is kept."""
    if total_bytes <= keep_bytes:
        return []
    found = []
    for file in files:
        if total_bytes <= keep_bytes * KEPT_SHARE:
            break
        found.append(file)
        total_bytes -= file.bytes
    return found
