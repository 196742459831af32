"""What a table of the lake is: its columns, its partitions, and how its files are laid out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    slice_hours: int = 24
    """Files of one slice of time are compacted together."""
    dictionary: tuple[str, ...] = ()
    """Columns with few different values."""
    encodings: Mapping[str, str] = field(default_factory=dict)
    """Parquet's encodings of other columns; PLAIN for those that are not named."""
    group_rows: int = GROUP_ROWS
    level: int = 1
    """Of zstd."""

    @property
    def partition_by(self) -> list[str]:
        return [] if self.day is None else [self.day]

    @property
    def file_schema(self) -> pa.Schema:
        """The columns that are in the files."""
        return pa.schema([one for one in self.schema if one.name != self.day])

    def bounded_columns(self) -> list[str]:
        """The columns that have statistics: all but those of bytes."""
        return [one.name for one in self.file_schema if not pa.types.is_binary(one.type)]
