"""The job `rollup`: the driver's side, which commits each batch exactly once to each table.

Every table records for itself up to which offset it has the journal. So a run that was killed
between two commits continues with the tables that lack the batch. Longer windows are written less
often, and continue where they ended. Must never import pyspark: short backlogs need no Spark.
"""

import time
from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc

from slipring.lake.files import constant, write_file
from slipring.lake.specs import ROLLUP_LATE
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.pipeline.rollup_level import SECOND_NS, SIZES, RollupLevel
from slipring.pipeline.rollup_section import RollupSection
from slipring.pipeline.slice_job import RowsOf
from slipring.pipeline.slice_table import refuse_gap
from slipring.pipeline.steps.partial_rows import completed

IDLE_EVERY_NS = 10 * SECOND_NS
"""How often a table without new rows records how far it has come."""


class Rollup:
    """Windows of 1 s, 1 min and 1 h of one journal."""

    def __init__(
        self, lake: LakeLocation, journal: str, config: RollupSection | None = None
    ) -> None:
        self._config = config or RollupSection()
        every = (0, self._config.minutes_every, self._config.hours_every)
        self._levels: list[RollupLevel] = []
        for size in SIZES:
            finer = self._levels[-1] if self._levels else None
            made = RollupLevel(lake, journal, size, finer, self._config.rows_open_max)
            self._levels.append(made)
        self._every = dict(zip((size.word for size in SIZES), every, strict=True))
        self._late = LateTable(lake, journal, self._config.late)

    def position(self) -> int | None:
        """The offset up to which all tables have the journal; None if one has nothing of it."""
        found = [level.table.committed for level in self._levels]
        return None if None in found else min(one for one in found if one is not None)

    def rows_written(self) -> dict[str, int]:
        """Rows that were committed, by table; a row that is corrected counts again."""
        tables = [level.table for level in self._levels]
        written = {one.layout.spec.name: one.rows_written for one in tables}
        return {**written, ROLLUP_LATE.name: self._late.rows_written}

    def write(self, rows_of: RowsOf, start: int, end: int) -> None:
        """Add the offsets [start, end). A table that has some of them takes the others only.

        `rows_of` gives the partials of 1 s, combined to one for each window.
        """
        fetched: dict[int, pa.Table] = {}

        def rows(begin: int) -> pa.Table:
            if begin not in fetched:
                fetched[begin] = completed(rows_of(begin, end))
            return fetched[begin]

        if (begin := max(start, self._late.committed or start)) < end:
            self._late.add(rows(begin), end)
        for level in self._levels:
            refuse_gap(level.table, start)
            if (begin := max(start, level.table.applied or start)) < end:
                level.merge(self._late.others(rows(begin)), end)
                self._flush_due(level, has_rows=rows(begin).num_rows > 0)

    def finish(self) -> None:
        """Commit what is only in memory."""
        for level in self._levels:
            level.table.flush()

    def _flush_due(self, level: RollupLevel, *, has_rows: bool) -> None:
        every_ns = self._every[level.size.word] if has_rows else IDLE_EVERY_NS
        if (time.monotonic() - level.table.committed_s) * SECOND_NS >= every_ns:
            level.table.flush()


class LateTable:
    """The partials that came too late to be combined: `rollup_late`."""

    def __init__(self, lake: LakeLocation, journal: str, late_ns: int) -> None:
        self._lake = lake
        self._journal = journal
        self._late_ns = late_ns
        self._table = LakeTable.open(lake, ROLLUP_LATE)
        self.committed = self._table.committed(app_id(journal))

    @property
    def rows_written(self) -> int:
        """Rows that were committed."""
        return self._table.rows_written

    def others(self, partials: pa.Table) -> pa.Table:
        """The partials that are not too late."""
        return partials.filter(pc.invert(self._is_late(partials)))

    def add(self, partials: pa.Table, end: int) -> None:
        """Commit those that are too late; without any, nothing is written."""
        late = partials.filter(self._is_late(partials))
        if not late.num_rows:
            return
        reason = (
            f"received more than {timedelta(microseconds=self._late_ns // 1_000)} after its window"
        )
        for name, text in (("journal", self._journal), ("every", "1s"), ("reason", reason)):
            late = late.append_column(name, constant(text, late.num_rows))
        late = late.sort_by([("index", "ascending"), ("window_ns", "ascending")])
        files = write_file(self._lake, ROLLUP_LATE, late.combine_chunks().to_batches())
        self._table.commit(files, {app_id(self._journal): end})
        self.committed = end

    def _is_late(self, partials: pa.Table) -> pa.ChunkedArray:
        age = pc.subtract(partials.column("receive_ns"), partials.column("window_ns"))
        return pc.greater(age, self._late_ns + SECOND_NS).fill_null(False)
