"""A table whose rows are corrected in place, exactly once: the driver's side of a job.

Open slices are kept in memory, and their files are replaced by each commit. A commit adds and
removes files and records the offset in one transaction, so a killed run changes all or nothing.
An older slice is read back when late rows touch it. Must never import pyspark.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slipring.errors import LakeConflict, PipelineError
from slipring.lake.files import WrittenFile, constant, write_file
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.pipeline.slice_files import SliceFile, SliceFiles
from slipring.pipeline.slice_layout import SliceLayout
from slipring.pipeline.steps.numbers import group_spans, ints

COMMIT_ATTEMPTS = 3
"""Upkeep may replace a file between our look and our commit; then the commit is made again."""
READ_ROWS = 1 << 17


@dataclass
class _OpenSlice:
    """The rows of a slice by window."""

    windows: dict[int, pa.Table] = field(default_factory=dict)
    is_dirty: bool = False

    @property
    def rows(self) -> int:
        return sum(one.num_rows for one in self.windows.values())

    def put(self, rows: pa.Table) -> None:
        """Replace windows by rows that are sorted by window."""
        times = ints(rows, "window_ns")
        for start, end in group_spans(times):
            self.windows[int(times[start])] = rows.slice(start, end - start)


class SliceTable:
    """The rows of one journal in a table of slices."""

    def __init__(self, lake: LakeLocation, layout: SliceLayout, journal: str) -> None:
        self.layout = layout
        self.journal = journal
        self._lake = lake
        self._table = LakeTable.open(lake, layout.spec)
        self.committed = self._table.committed(app_id(journal))
        """The offset up to which the journal is in the lake; None if nothing of it is."""
        self.applied = self.committed
        """The offset up to which it is here, in memory or in the lake."""
        self.committed_s: float = time.monotonic()
        self._files = self._listed()
        self._open: dict[int, _OpenSlice] = {}
        self._written: dict[int, list[WrittenFile]] = {}
        self._is_torn = False
        """Whether memory has some rows of a batch and lacks others, because a merge failed."""

    @property
    def rows_written(self) -> int:
        """Rows that were committed; a row that is corrected counts again."""
        return self._table.rows_written

    def merge(self, rows: pa.Table, end: int) -> pa.Table:
        """Combine rows with what is there; `end` is the offset up to which they are complete.

        Returns the rows that changed, as they are now.
        """
        pieces = ints(rows, "window_ns") // self.layout.slice_ns
        order = np.argsort(pieces, kind="stable")
        rows, pieces = rows.take(pa.array(order)), pieces[order]
        changed = [self.layout.state.empty_table()]
        self._is_torn = True
        for start, stop in group_spans(pieces):
            changed.append(self._merge_slice(int(pieces[start]), rows.slice(start, stop - start)))
            self._write_surplus()
        self.applied, self._is_torn = end, False
        return pa.concat_tables(changed)

    def replace(self, rows: pa.Table) -> None:
        """Put corrected rows in the place of those with the same keys and windows."""
        for piece in np.unique(ints(rows, "window_ns") // self.layout.slice_ns).tolist():
            opened = self._opened(piece)
            mine = rows.filter(pa.array(ints(rows, "window_ns") // self.layout.slice_ns == piece))
            for window in np.unique(ints(mine, "window_ns")).tolist():
                new = mine.filter(pc.equal(mine.column("window_ns"), window))
                old = opened.windows[window]
                kept = pc.invert(pc.is_in(old.column("index"), new.column("index")))
                opened.windows[window] = pa.concat_tables([old.filter(kept), new])
            opened.is_dirty = True

    def rows(self, begin_ns: int, end_ns: int) -> pa.Table:
        """The rows of the windows that begin in this time."""
        step = self.layout.slice_ns
        found = [self.layout.state.empty_table()]
        for piece in range(begin_ns // step, (end_ns - 1) // step + 1):
            windows = self._opened(piece).windows
            found += [windows[one] for one in sorted(windows) if begin_ns <= one < end_ns]
        return pa.concat_tables(found)

    def flush(self) -> int:
        """Commit what has changed; returns the number of rows that were written.

        After a merge that failed nothing is written: the next run continues where the lake ends.
        """
        if self._is_torn or self.applied is None or self.applied == self.committed:
            return 0
        # The layout's `finish` may open slices that were written already, which are dirty then.
        while dirty := {piece: one for piece, one in self._open.items() if one.is_dirty}:
            for piece, opened in dirty.items():
                self._written[piece] = self._write(opened)
                opened.is_dirty = False
        self._commit()
        written = sum(file.rows for files in self._written.values() for file in files)
        self._written = {}
        self.committed = self.applied
        self.committed_s = time.monotonic()
        self._close_surplus()
        return written

    def _merge_slice(self, piece: int, rows: pa.Table) -> pa.Table:
        opened = self._opened(piece)
        touched = np.unique(ints(rows, "window_ns")).tolist()
        before = [opened.windows[one] for one in touched if one in opened.windows]
        changed = self.layout.combine(pa.concat_tables([*before, rows]))
        opened.put(changed)
        opened.is_dirty = True
        return changed

    def _opened(self, piece: int) -> _OpenSlice:
        """The slice in memory, the one used last at the end."""
        opened = self._open.pop(piece, None)
        if opened is None:
            opened = _OpenSlice()
            for rows in self._read(piece):
                opened.put(rows)
            # What was written for the next commit must be in it, changed or not.
            opened.is_dirty = self._written.pop(piece, None) is not None
        self._open[piece] = opened
        return opened

    def _read(self, piece: int) -> Iterator[pa.Table]:
        if piece in self._written:
            paths = [file.path for file in self._written[piece]]
        else:
            paths = [file.path for file in self._files.of(piece)]
        if not paths:
            return
        begin = piece * self.layout.slice_ns
        mine = (
            (pc.field("journal") == self.journal)
            & (pc.field("window_ns") >= begin)
            & (pc.field("window_ns") < begin + self.layout.slice_ns)
        )
        found = pq.read_table(
            paths,
            columns=self.layout.state.names,
            filters=mine,
            filesystem=self._table.location.filesystem(),
            partitioning=None,
        )
        plain = found.select(self.layout.state.names).cast(self.layout.state)
        yield plain.sort_by("window_ns")

    def _write(self, opened: _OpenSlice) -> list[WrittenFile]:
        rows = self.layout.finish(pa.concat_tables(opened.windows.values()))
        rows = rows.append_column("journal", constant(self.journal, rows.num_rows))
        order = np.lexsort([ints(rows, name) for name in reversed(self.layout.spec.sort_by)])
        batches = rows.take(pa.array(order)).combine_chunks().to_batches()
        return write_file(self._lake, self.layout.spec, batches, stem="slice")

    def _commit(self) -> None:
        assert self.applied is not None
        app = app_id(self.journal)
        for attempts_left in reversed(range(COMMIT_ATTEMPTS)):
            gone = {file.path: file for piece in self._written for file in self._files.of(piece)}
            rests = {path: self._rest(file) for path, file in gone.items()}
            files = [one for files in self._written.values() for one in files]
            files += [one for rest in rests.values() for one in rest]
            try:
                self._table.commit(files, {app: self.applied}, [*gone], after={app: self.committed})
            except LakeConflict:
                if self._table.committed(app) != self.committed or not attempts_left:
                    raise
                self._files = self._listed()
            else:
                for path, file in gone.items():
                    self._files.replace(file, rests[path])
                for piece, written in self._written.items():
                    self._files.put(piece, written)
                return

    def _rest(self, file: SliceFile) -> list[WrittenFile]:
        """Copy the rows that are not replaced from a file that has such rows."""
        if not file.is_shared and all(
            piece in self._written for piece in range(file.first, file.last + 1)
        ):
            return []
        return write_file(self._lake, self.layout.spec, self._kept_rows(file), file.partition)

    def _kept_rows(self, file: SliceFile) -> Iterator[pa.RecordBatch]:
        with self._table.location.filesystem().open_input_file(file.path) as content:
            for batch in pq.ParquetFile(content).iter_batches(READ_ROWS):
                pieces = ints(pa.table(batch), "window_ns") // self.layout.slice_ns
                replaced = pa.array(np.isin(pieces, [*self._written]))
                mine = pc.equal(batch.column("journal"), self.journal)
                yield batch.filter(pc.invert(pc.and_(replaced, mine)))

    def _listed(self) -> SliceFiles:
        return SliceFiles(self._table.files(), self.journal, self.layout.slice_ns)

    def _write_surplus(self) -> None:
        """Write changed slices, without a commit, if memory has too many rows."""
        for piece in self._surplus():
            opened = self._open.pop(piece)
            if opened.is_dirty:
                self._written[piece] = self._write(opened)

    def _close_surplus(self) -> None:
        for piece in self._surplus():
            del self._open[piece]

    def _surplus(self) -> list[int]:
        """The slices that were used longest ago, beyond the bound; never the last one."""
        left = sum(one.rows for one in self._open.values()) - self.layout.rows_open_max
        found = []
        for piece, opened in [*self._open.items()][:-1]:
            if left <= 0:
                break
            found.append(piece)
            left -= opened.rows
        return found


def refuse_gap(table: SliceTable, start: int) -> None:
    """Raise PipelineError if rows are missing between what a table has and the next batch."""
    if table.applied is not None and start > table.applied:
        raise PipelineError(
            f"the table {table.layout.spec.name} has journal {table.journal} up to offset "
            f"{table.applied}, but the next batch begins at {start}; begin where the table ends"
        )
