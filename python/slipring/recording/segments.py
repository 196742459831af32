"""What a journal consists of, quickly: segments from their names, times from single reads."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from slipring.errors import JournalError
from slipring.native import Consumer, JournalReader, list_consumers
from slipring.recording.holder import is_open_for_writing
from slipring.recording.journal import journal_folder
from slipring.spark.columns import record_batch

_SEGMENT = re.compile(r"(\d{20})(?:-\d{4})?\.seg")


@dataclass(frozen=True)
class Segment:
    """One file; a time is None where there is no message, or it cannot be read."""

    name: str
    bytes: int
    first_offset: int
    end_offset: int
    first_ns: int | None
    last_ns: int | None

    @property
    def messages(self) -> int:
        """Offsets of it; some may be damaged."""
        return self.end_offset - self.first_offset


@dataclass(frozen=True)
class Contents:
    """A journal at one moment."""

    folder: Path
    identity: str
    is_open: bool
    """Whether a broker has it open."""
    first_offset: int
    end_offset: int
    segments: list[Segment]
    consumers: list[Consumer]

    @property
    def bytes(self) -> int:
        """Of all segments."""
        return sum(segment.bytes for segment in self.segments)


def contents(folder: Path) -> Contents:
    """Look at a journal, also while a broker writes it."""
    folder = journal_folder(folder)
    reader = JournalReader(folder)
    end_offset = reader.end_offset()
    return Contents(
        folder=folder,
        identity=reader.identity,
        is_open=is_open_for_writing(folder),
        first_offset=reader.first_offset,
        end_offset=end_offset,
        segments=_segments(folder, reader, end_offset),
        consumers=list_consumers(folder),
    )


def _segments(folder: Path, reader: JournalReader, end_offset: int) -> list[Segment]:
    files = sorted(file for file in folder.iterdir() if _SEGMENT.fullmatch(file.name))
    starts = [min(int(file.name[:20]), end_offset) for file in files]
    ranges = pairwise([*starts, end_offset])
    return [
        Segment(
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
    except FileNotFoundError:  # retention was faster
        return 0


def _receive_ns(reader: JournalReader, offset: int) -> int | None:
    try:
        columns = reader.read(offset, offset + 1, 1)
    except JournalError:
        return None
    receive_ns: int = record_batch(columns, ["receive_ns"]).column(0)[0].as_py()
    return receive_ns
