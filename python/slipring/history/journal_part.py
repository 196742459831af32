"""What a journal knows of some parameters, newest first, as far as the budget lasts.

Decodes only what is asked for, in Rust. Damage is passed over and told.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import JournalGap
from slipring.history.buckets import Buckets, Times, Values, put_together
from slipring.history.budget import ReadBudget
from slipring.history.journal_extent import JournalExtent
from slipring.history.question import KnownParameter
from slipring.history.series import BYTES_SHOWN, TEXT_CHARACTERS_MAX, shown_bytes
from slipring.history.steps import SECOND_NS
from slipring.journal.definitions import DefinitionHistory
from slipring.journal.location import Journal, JournalFolder
from slipring.journal.native_columns import NativeColumn, arrow_array
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.journal.undamaged import undamaged
from slipring.native import JournalReader

AHEAD_NS = 2 * SECOND_NS
"""A sample may say that it was measured so long after the broker received it: clocks differ."""
LATE_NS = 30 * SECOND_NS
"""A sample that is received later than this after its source time is not looked for."""
CHEAP_BYTES = 8 << 20
"""So much is read further on either side, so that a small journal is read whole."""
CHUNK_BYTES = 8 << 20
"""Read between two looks at the budget."""
ROWS_MAX = 1_000_000
"""Samples that are summed up at once."""
NUMBER_COLUMNS = ("index", "source_ns", "receive_ns", "offset", "quality", "value")
TEXT_COLUMNS = ("parameter", "source_ns", "quality", "text", "bytes")
BAD = 128
"""Qualities from here on are bad or stale (docs/frames.md)."""
DAMAGE_SHOWN = 3


@dataclass
class JournalPart:
    """What was found, and from which time on nothing is missing."""

    series: dict[str, Buckets] = field(default_factory=dict)
    is_cut: bool = False
    damage: list[str] = field(default_factory=list)

    def add(self, found: Mapping[str, Buckets], step_ns: int) -> None:
        """Put together what is older than all that was added before."""
        for name, buckets in found.items():
            parts = (buckets, self.series.get(name, Buckets.none()))
            self.series[name] = put_together(parts, step_ns)


class JournalHistory:
    """The journal in a folder, open for reading."""

    def __init__(self, folder: Path) -> None:
        location = JournalFolder(str(folder))
        self._folder = folder
        self.reader: JournalReader = location.open()
        self.journal: Journal = Journal(location, self.reader.identity)
        self._definitions: DefinitionHistory | None = None
        self._lock = threading.Lock()  # readers of several threads share the definitions

    @property
    def identity(self) -> str:
        return self.reader.identity

    def receive_ns(self, offset: int) -> int:
        """When the message with this offset, or the next one that can be read, was received."""
        found = self._received(offset, self.reader.end_offset())
        return time.time_ns() if found is None else found

    def definitions(self, names: Sequence[str]) -> dict[str, KnownParameter]:
        """What the journal knows of names, also of parameters that were removed."""
        with self._lock:
            known = self._definitions
            known = known.refresh(self.reader) if known else DefinitionHistory.of(self.reader)
            self._definitions = known
        found = {}
        for name in names:
            for index in known.indices(name)[-1:]:
                if version := known.at(index, self.reader.end_offset()):
                    one = version.parameter
                    labels = None if one.labels is None else dict(one.labels)
                    found[name] = KnownParameter(one.type, one.unit, labels)
        return found

    def extent(self) -> JournalExtent:
        """Where its messages lie by now."""
        return JournalExtent.of(self._folder, self.reader.end_offset())

    def offsets(self, extent: JournalExtent, from_ns: int, to_ns: int) -> tuple[int, int]:
        """Where samples of [from, to) are looked for."""
        first, end = self.reader.first_offset, extent.end
        start = min(end, self.reader.offset_at(from_ns - AHEAD_NS))
        stop = min(end, max(start, self.reader.offset_at(to_ns + LATE_NS)))
        if extent.bytes_between(first, start) <= CHEAP_BYTES:
            start = first
        return start, end if extent.bytes_between(stop, end) <= CHEAP_BYTES else stop

    def time_bounds(self) -> tuple[int, int] | None:
        """When its first and its last message were received; None if it has none."""
        end = self.reader.end_offset()
        first = self._received(self.reader.first_offset, end)
        last = self._received(max(self.reader.first_offset, end - 1), end)
        return None if first is None else (first, first if last is None else last)

    def read(
        self,
        names: Sequence[str],
        offsets: tuple[int, int],
        time_ns: tuple[int, int],
        step_ns: int,
        budget: ReadBudget,
        *,
        is_text: bool = False,
    ) -> JournalPart:
        """The samples of these offsets and this source time, in buckets."""
        part = JournalPart()
        columns = TEXT_COLUMNS if is_text else NUMBER_COLUMNS
        request = SampleRequest(columns, tuple(names), time_ns)
        start, end = offsets
        if start >= end:
            return part
        extent, samples = self.extent(), JournalSamples(self.journal, request, ROWS_MAX)
        for begin, stop in newest_first(start, end, extent, CHUNK_BYTES):
            if budget.is_spent:
                part.is_cut = True
                break
            budget.spend(extent.bytes_between(begin, stop))
            try:
                read = _texts if is_text else _numbers
                part.add(read(samples, begin, stop, step_ns), step_ns)
            except JournalGap:  # retention has removed it meanwhile, and all before
                part.is_cut = True
                break
            part.damage = (part.damage + damage_of(samples))[:DAMAGE_SHOWN]
        return part

    def _received(self, offset: int, end: int) -> int | None:
        for _, messages in undamaged(self.reader, offset, end, 1):
            times = np.frombuffer(messages.receive_ns, np.int64)  # type: ignore[call-overload]
            if len(times):
                return int(times[0])
        return None


def newest_first(
    start: int, end: int, extent: JournalExtent, bytes_each: int
) -> Iterator[tuple[int, int]]:
    """The offsets [start, end) in parts of about so many bytes, the newest part first."""
    parts = min(end - start, max(1, -(-extent.bytes_between(start, end) // bytes_each)))
    for part in reversed(range(parts)):
        yield start + (end - start) * part // parts, start + (end - start) * (part + 1) // parts


def _numbers(samples: JournalSamples, start: int, end: int, step_ns: int) -> dict[str, Buckets]:
    found: dict[str, list[Buckets]] = {}
    for rows, columns in samples.rollup_columns(start, end, step_ns):
        for name, buckets in _by_name(samples, rows, columns):
            found.setdefault(name, []).append(buckets)
    return {name: put_together(parts, step_ns) for name, parts in found.items()}


def rolled_up(rows: int, columns: Mapping[str, NativeColumn]) -> tuple[Times, Buckets]:
    """Index and sums of each window that has a number, in the order of the indices."""

    def column(name: str, kind: pa.DataType) -> Values:
        # Without a value it would become an array of floats, which have no nanoseconds.
        whole = arrow_array(kind, rows, columns[name]).fill_null(0)
        return np.asarray(whole.to_numpy(zero_copy_only=False))

    count = column("count", pa.int64()) if rows else np.empty(0, np.int64)
    counted = np.flatnonzero(count)
    if not len(counted):
        return np.empty(0, np.int64), Buckets.none()
    names = ("window_ns", "first_ns", "last_ns")
    times = [column(name, pa.int64())[counted].astype(np.int64) for name in names]
    low, high, first, last = (
        column(name, pa.float64())[counted] for name in ("min", "max", "first", "last")
    )
    sums = Buckets(times[0], count[counted], low, high, first, times[1], last, times[2])
    return column("index", pa.int32())[counted], sums


def damage_of(samples: JournalSamples) -> list[str]:
    """What could not be read, in sentences; it is told once."""
    found = [one.reason for one in samples.set_aside if not one.topic]
    samples.set_aside.clear()
    return found[:DAMAGE_SHOWN]


def _by_name(
    samples: JournalSamples, rows: int, columns: Mapping[str, NativeColumn]
) -> Iterator[tuple[str, Buckets]]:
    """The sums by parameter."""
    index, sums = rolled_up(rows, columns)
    edges = [0, *(np.flatnonzero(np.diff(index)) + 1).tolist(), len(index)]
    for begin, end in pairwise(edges if len(index) else ()):
        yield samples.known.names[int(index[begin])].as_py(), sums.rows(slice(begin, end))


def _texts(samples: JournalSamples, start: int, end: int, step_ns: int) -> dict[str, Buckets]:
    found: dict[str, list[Buckets]] = {}
    for batch in samples.batches(start, end):
        for name, buckets in text_buckets(batch, step_ns):
            found.setdefault(name, []).append(buckets)
    return {name: put_together(parts, step_ns) for name, parts in found.items()}


def text_buckets(batch: pa.RecordBatch, step_ns: int) -> Iterator[tuple[str, Buckets]]:
    """Texts, and bytes in hex, of a batch of samples by parameter: the beginning of each, because
    one may have megabytes, and a series has thousands.
    """
    names = batch.column("parameter").dictionary_encode()
    codes = np.asarray(names.indices)
    good = np.asarray(batch.column("quality").to_numpy(zero_copy_only=False)) < BAD
    times = np.asarray(batch.column("source_ns").to_numpy(zero_copy_only=False))
    texts = pc.utf8_slice_codeunits(batch.column("text"), 0, TEXT_CHARACTERS_MAX).to_pylist()
    items = pc.binary_slice(batch.column("bytes"), 0, BYTES_SHOWN).to_pylist()
    sizes = pc.binary_length(batch.column("bytes")).to_pylist()
    shown = [
        text if text is not None else None if item is None else shown_bytes(item, size)
        for text, item, size in zip(texts, items, sizes, strict=True)
    ]
    values = np.empty(len(shown), object)
    values[:] = shown
    good &= np.array([one is not None for one in shown], bool)
    for code, name in enumerate(names.dictionary.to_pylist()):
        (at,) = np.nonzero(good & (codes == code))
        if len(at):
            yield name, Buckets.of_samples(times[at], values[at], step_ns)
