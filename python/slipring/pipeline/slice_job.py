"""A job that fills one table of slices: each batch once, written from time to time."""

import time
from collections.abc import Callable

import pyarrow as pa

from slipring.pipeline.slice_table import SliceTable, refuse_gap

SECOND_NS = 1_000_000_000

RowsOf = Callable[[int, int], pa.Table]
"""Gives the rows of a range of offsets."""


class SliceJob:
    """Carries batches into one table. Must never import pyspark."""

    def __init__(self, table: SliceTable, every_ns: int) -> None:
        self.table = table
        self._every_ns = every_ns

    def position(self) -> int | None:
        """The offset up to which the table has the journal; None if it has nothing of it."""
        return self.table.committed

    def rows_written(self) -> dict[str, int]:
        """Rows that were committed, by table."""
        return {self.table.layout.spec.name: self.table.rows_written}

    def write(self, rows_of: RowsOf, start: int, end: int) -> None:
        """Add the offsets [start, end), without those that the table has."""
        refuse_gap(self.table, start)
        begin = max(start, self.table.applied or start)
        if begin < end:
            self.table.merge(rows_of(begin, end), end)
            if (time.monotonic() - self.table.committed_s) * SECOND_NS >= self._every_ns:
                self.table.flush()

    def finish(self) -> None:
        """Commit what is only in memory."""
        self.table.flush()
