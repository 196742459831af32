"""The messages of a journal between two moments. Skips what is damaged, and reports it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slipring.errors import JournalDamaged, RecordingError
from slipring.frames.arrays import Times
from slipring.journal.columns import record_batch
from slipring.journal.location import JournalBroker, OpenJournal, journal_folder, settled_end
from slipring.native import JournalReader
from slipring.recording.message_columns import EXPORT, check_filters, select
from slipring.recording.moment import AtOffset, AtTime, Moment

# What a piece has at most, in memory.
PIECE_ROWS_MAX = 65_536
PIECE_BYTES_MAX = 16 << 20


@dataclass(frozen=True)
class Piece:
    """Messages that were read together, and the offset after the last one read."""

    rows: pa.RecordBatch
    end: int
    withheld: int = 0
    """Messages that the broker does not give to this user."""


class PlainSampleOffsets(NamedTuple):
    """Plain messages that were samples: their offsets, ascending, and their parameters' indices."""

    offsets: Times
    parameters: Times


_PAIR = np.dtype([("offset", "<u8"), ("parameter", "<u4")])


def _open(source: Path | JournalBroker) -> OpenJournal:
    return source.open() if isinstance(source, JournalBroker) else JournalReader(source)


class Recording:
    """The messages of one journal from `first` to `last` whose topics the filters match.

    The range is fixed when it is opened: messages that are appended later are not in it.
    """

    def __init__(
        self,
        source: Path | JournalBroker,
        *,
        first: Moment | None = None,
        last: Moment | None = None,
        filters: Sequence[str] = (),
    ) -> None:
        check_filters(filters)
        self.source: JournalBroker | Path = (
            source if isinstance(source, JournalBroker) else journal_folder(source)
        )
        self.filters: tuple[str, ...] = tuple(filters)
        self._reader = _open(self.source)
        self.start: int = self._reader.first_offset if first is None else self._offset(first)
        self.end: int = settled_end(self._reader) if last is None else self._offset(last)
        if self.start > self.end:
            raise RecordingError(
                f"nothing to read in {self.name}: the range begins at offset {self.start} and "
                f"ends before it, at {self.end}"
            )

    @property
    def name(self) -> str:
        """Where it is, in words."""
        return self.source.url if isinstance(self.source, JournalBroker) else str(self.source)

    @property
    def folder(self) -> Path | None:
        """The journal's folder; None if a broker elsewhere has it."""
        return None if isinstance(self.source, JournalBroker) else self.source

    @property
    def identity(self) -> str:
        """The identity of the journal."""
        return self._reader.identity

    def __len__(self) -> int:
        return self.end - self.start

    def pieces(
        self,
        on_damage: Callable[[JournalDamaged], None],
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Piece]:
        """The messages in order, or a range of them. Skips damaged ones and calls `on_damage`."""
        at, last = self.start if start is None else start, self.end if end is None else end
        stop = last
        while at < last:
            try:
                columns = self._reader.read(at, min(stop, at + PIECE_ROWS_MAX), PIECE_BYTES_MAX)
            except JournalDamaged as damage:
                if damage.start > at:
                    stop = damage.start
                else:
                    on_damage(damage)
                    at, stop = damage.end, last
                continue
            at, stop = columns.end, stop if columns.end < stop else last
            rows = select(record_batch(columns, EXPORT.names), self.filters)
            yield Piece(rows, at, columns.withheld)

    def samples(self, start: int, end: int) -> PlainSampleOffsets:
        """Which plain messages of a range were samples when the broker received them."""
        pairs, at = b"", start
        while at < end:
            at, more = self._reader.samples(at, end)
            pairs += more
        found = np.frombuffer(pairs, _PAIR)
        return PlainSampleOffsets(
            found["offset"].astype(np.int64), found["parameter"].astype(np.int64)
        )

    def _offset(self, moment: Moment) -> int:
        match moment:
            case AtTime(receive_ns):
                return self._reader.offset_at(receive_ns)
            case AtOffset(offset):
                return self._held(offset)

    def _held(self, offset: int) -> int:
        first, end = self._reader.first_offset, self._reader.end_offset()
        if first <= offset <= end:
            return offset
        raise RecordingError(
            f"{self.name} has no offset {offset}: it holds offsets {first} to {end}"
        )
