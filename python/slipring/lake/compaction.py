"""Many small files of a table made to few large ones, with the same rows in the order of a sort.

A chain is what one compaction writes: files that follow each other in the sort order. So one
parameter of one hour is in one file of a chain, in neighbouring row groups. Small chains of an open
slice of time are merged as they gather; when the slice is over, it becomes one chain.
"""

import re
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from slipring.lake.files import TableFile, WrittenFile
from slipring.lake.merge import MergeInput, SortedMerge, UnsortedFile
from slipring.lake.table import LakeTable, TableFileEntry
from slipring.lake.table_spec import TableSpec

FAN_IN = 32
"""Runs that are merged at once, at most: what bounds memory and open files."""
GATHERED_CHAINS = 32
"""So many chains of an open slice are merged without waiting for its end."""
FILE_BYTES = 64 << 20
"""A file ends at the next change of the first sort column behind this size."""
QUIET = timedelta(seconds=60)
"""A slice is over when it has ended this long ago, and when nothing has come since."""
REWRITE_FACTOR = 4
"""A large chain is merged again when this times the bytes of the others is more than its own."""

_CHAIN = re.compile(r"(?:^|/)chain(\d+)-([0-9a-f]+)-")


@dataclass(frozen=True)
class Chain:
    """The files of one compaction, or one file as it was written."""

    level: int
    files: tuple[TableFileEntry, ...]

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    @property
    def time_ms(self) -> int:
        return max(file.time_ms for file in self.files)


@dataclass(frozen=True)
class PlannedMerge:
    """Runs of one slice that are to become one."""

    chains: tuple[Chain, ...]
    is_last: bool
    """Whether the slice is over, so that the result stays."""

    @property
    def files(self) -> list[TableFileEntry]:
        return [file for chain in self.chains for file in chain.files]


class Stopped(Exception):
    """A compaction was told to stop; it has changed nothing."""


def plan(files: Sequence[TableFileEntry], spec: TableSpec, now: datetime) -> list[PlannedMerge]:
    """What is to be merged now, oldest slice first."""
    slices: dict[tuple[str, datetime], list[TableFileEntry]] = defaultdict(list)
    for file in files:
        slices[str(file.partition), _slice_start(file, spec)].append(file)
    found = []
    for (_, start), held in sorted(slices.items(), key=lambda one: one[0][1]):
        chains = _chains(held)
        is_over = _is_over(start, chains, spec, now)
        if chosen := _due(chains, is_over=is_over) if is_over or not spec.is_corrected else []:
            found.append(PlannedMerge(tuple(chosen), is_over))
    return found


def compact(table: LakeTable, planned: PlannedMerge, stop: threading.Event) -> list[WrittenFile]:
    """Merge chains into one, and replace them in a commit that changes no row.

    Raises LakeConflict if another writer has replaced one of the files meanwhile.
    """
    old = planned.files
    with ExitStack() as abandoned:
        written = _merged(table, planned, stop, abandoned)
        assert sum(file.rows for file in written) == sum(file.rows for file in old)
        # From here on a failure does not say whether the commit was made: a vacuum removes the
        # files if it was not.
        abandoned.pop_all()
    newest_ms = max(file.time_ms for file in old)
    table.commit(written, {}, [file.path for file in old], rearranged_ms=newest_ms)
    return written


def _merged(
    table: LakeTable, planned: PlannedMerge, stop: threading.Event, abandoned: ExitStack
) -> list[WrittenFile]:
    spec, files = table.spec, table.location.filesystem()
    level = max(chain.level for chain in planned.chains) + 1
    stem = f"chain{level}-{uuid.uuid4().hex[:12]}"
    layout = spec.compacted(is_last=planned.is_last)
    day = planned.files[0].partition.get(spec.day or "", "")
    unsorted: set[str] = set()

    def new_file() -> TableFile:
        return TableFile(files, layout, day, stem)

    while True:
        inputs = [
            MergeInput(file.path, int(str(file.least[spec.sort_by[0]])), file.path not in unsorted)
            for file in planned.files
        ]
        rows = _until_stopped(SortedMerge(files, spec, inputs, len(planned.chains)), stop)
        try:
            return _write_cut(rows, spec.sort_by[0], new_file, abandoned)
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


def _write_cut(
    rows: Iterable[pa.RecordBatch],
    cut_by: str,
    new_file: Callable[[], TableFile],
    abandoned: ExitStack,
) -> list[WrittenFile]:
    """Write files that follow each other; none ends within one value of a column."""
    written: list[WrittenFile] = []
    file: TableFile | None = None
    last = 0
    for batch in rows:
        keys = batch.column(cut_by).to_numpy()
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
                file = abandoned.enter_context(new_file())
                abandoned.callback(file.delete)
            file.add(batch.slice(begin))
        last = int(keys[-1])
    return [*written, file.finish()] if file is not None else written


def _chains(files: Iterable[TableFileEntry]) -> list[Chain]:
    """The chains of a slice, oldest first."""
    by_name: dict[str, list[TableFileEntry]] = defaultdict(list)
    levels: dict[str, int] = {}
    for file in files:
        match = _CHAIN.search(file.path)
        name = match[2] if match else file.path
        by_name[name].append(file)
        levels[name] = int(match[1]) if match else 0
    chains = [Chain(levels[name], tuple(held)) for name, held in by_name.items()]
    return sorted(chains, key=lambda chain: chain.time_ms)


def _due(chains: list[Chain], *, is_over: bool) -> list[Chain]:
    """The chains of one slice that are merged next; at most FAN_IN."""
    for level in sorted({chain.level for chain in chains}):
        gathered = [chain for chain in chains if chain.level == level]
        if len(gathered) >= GATHERED_CHAINS:
            return gathered[:FAN_IN]
    if not is_over or len(chains) < 2:
        return []
    by_size = sorted(chains, key=lambda chain: chain.bytes)[:FAN_IN]
    *others, largest = by_size
    if REWRITE_FACTOR * sum(chain.bytes for chain in others) >= largest.bytes:
        return by_size
    return others if len(others) > 1 else []


def _is_over(start: datetime, chains: Sequence[Chain], spec: TableSpec, now: datetime) -> bool:
    newest = datetime.fromtimestamp(max(chain.time_ms for chain in chains) / 1000, UTC)
    return now >= max(start + timedelta(minutes=spec.slice_minutes), newest) + QUIET


def _slice_start(file: TableFileEntry, spec: TableSpec) -> datetime:
    """When the slice of a file began; a table without a time has one, which never ends."""
    begin = file.least.get(spec.time)
    if not isinstance(begin, datetime):
        return datetime.max.replace(tzinfo=UTC) - timedelta(days=365)
    day = begin.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    length = timedelta(minutes=spec.slice_minutes)
    return day + (begin - day) // length * length
