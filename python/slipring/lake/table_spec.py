"""What a table of the lake is: its columns, its partitions, and how its files are laid out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

GROUP_ROWS = 1 << 17
"""Rows in a row group: few enough that one parameter is found without reading the others."""


@dataclass(frozen=True)
class TableSpec:
    """A table. Columns that are added later must be nullable: older files do not have them."""

    name: str
    schema: pa.Schema
    """All columns, with that of the partition."""
    day: str | None = None
    """The partition: a column with the UTC day of the column `time`. It is not in the files."""
    time: str = "receive_time"
    """The timestamp by which the table is partitioned, and by which old rows are removed."""
    sort_by: tuple[str, ...] = ()
    """One or two integer columns; rows of a compacted file ascend by them."""
    slice_minutes: int = 24 * 60
    """Files of one slice of time are compacted together; a part of a day."""
    is_corrected: bool = False
    """Whether its job replaces files of an open slice; they are not compacted then."""
    few: tuple[str, ...] = ()
    """Texts with a handful of different values. Their bounds are in the log, not in the files."""
    dictionary: tuple[str, ...] = ()
    """Other columns in which values repeat."""
    encodings: Mapping[str, str] = field(default_factory=dict)
    """Parquet's encodings of other columns; PLAIN for those that are not named."""
    settled: Mapping[str, str] = field(default_factory=dict)
    """The encodings of a compacted file where they differ."""
    group_rows: int = GROUP_ROWS
    page_rows: int = 20_000
    """Rows that are compressed together, and that a merge holds of each file."""
    level: int = 1
    """Of zstd."""

    @property
    def partition_by(self) -> list[str]:
        return [] if self.day is None else [self.day]

    @property
    def file_schema(self) -> pa.Schema:
        """The columns that are in the files."""
        return pa.schema([one for one in self.schema if one.name != self.day])

    def compacted(self, *, is_last: bool) -> "TableSpec":
        """The layout of a compacted file; with long pages if it is not to be merged again.

        In long pages zstd finds that the times of one parameter are those of the one before.
        """
        return replace(
            self,
            encodings={**self.encodings, **self.settled},
            page_rows=self.group_rows if is_last and self.settled else self.page_rows,
        )

    def footer_columns(self) -> list[str]:
        """The columns whose bounds are in the files: all but `few` and those of bytes."""
        return [
            one.name
            for one in self.file_schema
            if one.name not in self.few and not pa.types.is_binary(one.type)
        ]


# pyarrow is not typed: what a column may hold is checked when rows are written.
Columns = dict[str, pa.DataType]


def schema_of(columns: Columns, nullable: Columns | None = None) -> pa.Schema:
    """Columns that have a value in every row, then those that may be null."""
    return pa.schema(
        [
            *(pa.field(name, kind, nullable=False) for name, kind in columns.items()),
            *(pa.field(name, kind) for name, kind in (nullable or {}).items()),
        ]
    )


def with_day(schema: pa.Schema, name: str) -> pa.Schema:
    """The columns, and the day by which a table is partitioned."""
    return schema.append(pa.field(name, pa.date32(), nullable=False))
