"""The messages of a journal between two places. Reads only; damage is told and passed over."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slipring.errors import JournalDamaged, RecordingError
from slipring.frames.arrays import Times
from slipring.native import JournalReader, RemoteJournal
from slipring.recording.columns import EXPORT, check_filters, select
from slipring.recording.moment import AtOffset, AtTime, Moment
from slipring.spark.columns import record_batch
from slipring.spark.place import Broker, settled_end

# What is in memory at once.
PIECE_ROWS_MAX = 65_536
PIECE_BYTES_MAX = 16 << 20


def journal_folder(folder: Path) -> Path:
    """The journal's own folder, also where the data folder of its broker is given."""
    inner = folder / "journal"
    return inner if inner.is_dir() else folder


@dataclass(frozen=True)
class Piece:
    """Messages that were read together, and the offset behind the last one looked at."""

    rows: pa.RecordBatch
    end: int


class Noted(NamedTuple):
    """Messages that were samples of a parameter: offsets, ascending, and the indices of these."""

    offsets: Times
    parameters: Times


_PAIR = np.dtype([("offset", "<u8"), ("parameter", "<u4")])


def _open(source: Path | Broker) -> JournalReader | RemoteJournal:
    return source.open() if isinstance(source, Broker) else JournalReader(source)


class Recording:
    """What one journal holds from `first` to `last`, of the topics that the filters match.

    The range is fixed when it is opened: a journal that goes on growing does not move its end.
    """

    def __init__(
        self,
        source: Path | Broker,
        *,
        first: Moment | None = None,
        last: Moment | None = None,
        filters: Sequence[str] = (),
    ) -> None:
        check_filters(filters)
        self.source = source if isinstance(source, Broker) else journal_folder(source)
        self.filters = tuple(filters)
        self._reader = _open(self.source)
        self.start = self._reader.first_offset if first is None else self._offset(first)
        self.end = settled_end(self._reader) if last is None else self._offset(last)
        if self.start > self.end:
            raise RecordingError(
                f"nothing to read in {self.name}: the range begins at offset {self.start} and "
                f"ends before it, at {self.end}"
            )

    @property
    def name(self) -> str:
        """Where it is, in words."""
        return self.source.url if isinstance(self.source, Broker) else str(self.source)

    @property
    def folder(self) -> Path | None:
        """Its folder; None where a broker elsewhere has it."""
        return None if isinstance(self.source, Broker) else self.source

    @property
    def identity(self) -> str:
        """Which journal it is."""
        return self._reader.identity

    def __len__(self) -> int:
        return self.end - self.start

    def pieces(
        self,
        on_damage: Callable[[JournalDamaged], None],
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Piece]:
        """The messages in order, or a part of them. What cannot be read is told and passed over."""
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
            yield Piece(select(record_batch(columns, EXPORT.names), self.filters), at)

    def samples(self, start: int, end: int) -> Noted:
        """Which plain messages of a range were samples when the broker journaled them."""
        pairs, at = b"", start
        while at < end:
            at, more = self._reader.samples(at, end)
            pairs += more
        found = np.frombuffer(pairs, _PAIR)
        return Noted(found["offset"].astype(np.int64), found["parameter"].astype(np.int64))

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
