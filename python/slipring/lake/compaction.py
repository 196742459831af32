"""Many small files of a table made to few large ones, with the same rows in the order of a sort.

A run is what one compaction writes: files that follow each other in the sort order. So one
parameter of one hour is in one file of a run, in neighbouring row groups. Small runs of an open
slice of time are merged as they gather; when the slice is over, it becomes one run.
"""

import re
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from pyarrow import fs

from slipring.lake.files import TableFile, WrittenFile
from slipring.lake.merge import MergeInput, SortedMerge, UnsortedFile
from slipring.lake.table import LakeTable, TableFileEntry
from slipring.lake.table_spec import TableSpec

FAN_IN = 128
"""Runs that are merged at once, at most: what bounds memory and open files."""
GATHERED_RUNS = 64
"""So many runs of an open slice are merged without waiting for its end."""
FILE_BYTES = 64 << 20
"""A file ends at the next change of the first sort column behind this size."""
QUIET = timedelta(seconds=60)
"""A slice is over when it has ended this long ago, and when nothing has come since."""
REWRITE_FACTOR = 4
"""A large run is merged again when this times the bytes of the others is more than its own."""

_RUN = re.compile(r"(?:^|/)run(\d+)-([0-9a-f]+)-")


@dataclass(frozen=True)
class Run:
    """The files of one compaction, or one file as it was written."""

    level: int
    files: tuple[TableFileEntry, ...]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def time_ms(self) -> int:
        return max(file.time_ms for file in self.files)


class Stopped(Exception):
    """A compaction was told to stop; it has changed nothing."""


def plan(files: Sequence[TableFileEntry], spec: TableSpec, now: datetime) -> list[list[Run]]:
    """Which runs are to be merged with each other, each time into one."""
    slices: dict[tuple[str, datetime], list[TableFileEntry]] = defaultdict(list)
    for file in files:
        slices[str(file.partition), _slice_start(file, spec)].append(file)
    found = []
    for (_, start), held in sorted(slices.items(), key=lambda one: one[0][1]):
        runs = _runs(held)
        is_over = _is_over(start, runs, spec, now)
        if chosen := _due(runs, is_over=is_over) if is_over or not spec.is_corrected else []:
            found.append(chosen)
    return found


def compact(table: LakeTable, runs: Sequence[Run], stop: threading.Event) -> list[WrittenFile]:
    """Merge runs of one slice into one, and replace them in a commit that changes no row.

    Raises LakeConflict if another writer has replaced one of the files meanwhile.
    """
    old = [file for run in runs for file in run.files]
    stem = f"run{max(run.level for run in runs) + 1}-{uuid.uuid4().hex[:12]}"
    with ExitStack() as abandoned:
        written = _merged(table, runs, stem, stop, abandoned)
        assert sum(file.rows for file in written) == sum(file.rows for file in old)
        newest_ms = max(file.time_ms for file in old)
        table.commit(written, {}, [file.path for file in old], rearranged_ms=newest_ms)
        abandoned.pop_all()
    return written


def _merged(
    table: LakeTable,
    runs: Sequence[Run],
    stem: str,
    stop: threading.Event,
    abandoned: ExitStack,
) -> list[WrittenFile]:
    files = table.location.filesystem()
    spec = table.spec
    unsorted: set[str] = set()
    while True:
        inputs = [
            MergeInput(file.path, int(str(file.least[spec.sort_by[0]])), file.path not in unsorted)
            for run in runs
            for file in run.files
        ]
        rows = _until_stopped(SortedMerge(files, spec, inputs, len(runs)), stop)
        try:
            day = runs[0].files[0].partition.get(spec.day or "", "")
            return _write_cut(files, spec, day, stem, rows, abandoned)
        except UnsortedFile as found:
            abandoned.close()
            unsorted.add(found.path)


def _until_stopped(
    rows: Iterable[pa.RecordBatch], stop: threading.Event
) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        if stop.is_set():
            raise Stopped
        yield batch


def _write_cut(  # noqa: PLR0917 (one caller)
    table: fs.FileSystem,
    spec: TableSpec,
    day: str,
    stem: str,
    rows: Iterable[pa.RecordBatch],
    abandoned: ExitStack,
) -> list[WrittenFile]:
    """Write files that follow each other; none ends within one value of the first sort column."""
    written: list[WrittenFile] = []
    file: TableFile | None = None
    last = 0
    for batch in rows:
        keys = batch.column(spec.sort_by[0]).to_numpy()
        begin = 0
        if file is not None and file.bytes >= FILE_BYTES:
            begin = int(np.searchsorted(keys, last, "right"))
            if begin:
                file.add(batch.slice(0, begin))
            if begin < len(keys):
                written.append(file.finish())
                file = None
        if begin < len(keys):
            if file is None:
                file = abandoned.enter_context(TableFile(table, spec, day, stem))
                abandoned.callback(file.delete)
            file.add(batch.slice(begin))
        last = int(keys[-1])
    return [*written, file.finish()] if file is not None else written


def _runs(files: Iterable[TableFileEntry]) -> list[Run]:
    """The runs of a slice, oldest first."""
    by_name: dict[str, list[TableFileEntry]] = defaultdict(list)
    levels: dict[str, int] = {}
    for file in files:
        match = _RUN.search(file.path)
        name = match[2] if match else file.path
        by_name[name].append(file)
        levels[name] = int(match[1]) if match else 0
    runs = [Run(levels[name], tuple(held)) for name, held in by_name.items()]
    return sorted(runs, key=lambda run: run.time_ms)


def _due(runs: list[Run], *, is_over: bool) -> list[Run]:
    """The runs of one slice that are merged next; at most FAN_IN."""
    for level in sorted({run.level for run in runs}):
        gathered = [run for run in runs if run.level == level]
        if len(gathered) >= GATHERED_RUNS:
            return gathered[:FAN_IN]
    if not is_over or len(runs) < 2:
        return []
    by_size = sorted(runs, key=lambda run: run.bytes)[:FAN_IN]
    *others, largest = by_size
    if REWRITE_FACTOR * sum(run.bytes for run in others) >= largest.bytes:
        return by_size
    return others if len(others) > 1 else []


def _is_over(start: datetime, runs: Sequence[Run], spec: TableSpec, now: datetime) -> bool:
    newest = datetime.fromtimestamp(max(run.time_ms for run in runs) / 1000, UTC)
    return now >= max(start + timedelta(hours=spec.slice_hours), newest) + QUIET


def _slice_start(file: TableFileEntry, spec: TableSpec) -> datetime:
    """When the slice of a file began; a table without a time has one, which never ends."""
    begin = file.least.get(spec.time)
    if not isinstance(begin, datetime):
        return datetime.max.replace(tzinfo=UTC) - timedelta(days=365)
    day = begin.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return day + (begin - day) // timedelta(hours=spec.slice_hours) * timedelta(
        hours=spec.slice_hours
    )
