"""What a journal consists of. Quick: segments come from file names, times from single reads."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from slipring.errors import JournalError
from slipring.journal.columns import record_batch
from slipring.journal.location import journal_folder
from slipring.journal.writer_lock import is_open_for_writing
from slipring.native import Consumer, JournalReader, list_consumers

_SEGMENT = re.compile(r"(\d{20})(?:-\d{4})?\.seg")


@dataclass(frozen=True)
class SegmentContents:
    """One file of a journal; a time is None when there is no message, or it cannot be read."""

    name: str
    bytes: int
    first_offset: int
    end_offset: int
    first_ns: int | None
    last_ns: int | None

    @property
    def messages(self) -> int:
        """The offsets in it, those of damaged messages included."""
        return self.end_offset - self.first_offset


@dataclass(frozen=True)
class JournalContents:
    """A journal at one moment."""

    folder: Path
    identity: str
    is_open: bool
    """Whether a broker has it open."""
    first_offset: int
    end_offset: int
    left_out: list[tuple[int, int]]
    """Ranges of offsets without messages: after a crash the broker continues behind them."""
    segments: list[SegmentContents]
    consumers: list[Consumer]

    @property
    def messages(self) -> int:
        """In all segments, damaged messages included."""
        return self.count(self.first_offset)

    def count(self, start: int) -> int:
        """The messages from an offset on."""
        missing = sum(max(0, end - max(first, start)) for first, end in self.left_out)
        return max(0, self.end_offset - start - missing)

    @property
    def bytes(self) -> int:
        """The size of all segments."""
        return sum(segment.bytes for segment in self.segments)


def contents(folder: Path) -> JournalContents:
    """What is in a journal now; a broker may be writing it."""
    folder = journal_folder(folder)
    reader = JournalReader(folder)
    end_offset = reader.end_offset()
    return JournalContents(
        folder=folder,
        identity=reader.identity,
        is_open=is_open_for_writing(folder),
        first_offset=reader.first_offset,
        end_offset=end_offset,
        left_out=reader.left_out(),
        segments=_segments(folder, reader, end_offset),
        consumers=list_consumers(folder),
    )


def _segments(folder: Path, reader: JournalReader, end_offset: int) -> list[SegmentContents]:
    files = sorted(file for file in folder.iterdir() if _SEGMENT.fullmatch(file.name))
    starts = [min(int(file.name[:20]), end_offset) for file in files]
    # A range of left out offsets ends where a segment begins.
    ends = {end: first for first, end in reader.left_out()}
    pairs = pairwise([*starts, end_offset])
    # The last segment may be empty and begin where such a range ends: the range is not its own.
    ranges = [(first, max(first, ends.get(end, end))) for first, end in pairs]
    return [
        SegmentContents(
            name=file.name,
            bytes=_size(file),
            first_offset=first,
            end_offset=end,
            first_ns=_receive_ns(reader, first) if first < end else None,
            last_ns=_receive_ns(reader, end - 1) if first < end else None,
        )
        for file, (first, end) in zip(files, ranges, strict=True)
    ]


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # retention removed it meanwhile
        return 0


def _receive_ns(reader: JournalReader, offset: int) -> int | None:
    try:
        columns = reader.read(offset, offset + 1, 1)
    except JournalError:
        return None
    times = record_batch(columns, ["receive_ns"]).column(0).to_pylist()
    return times[0] if times else None
