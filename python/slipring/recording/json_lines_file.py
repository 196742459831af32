"""A file of messages as JSON lines, read batch by batch."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

import pyarrow as pa

from slipring.errors import RecordingError
from slipring.journal.native_messages import MESSAGES
from slipring.recording.file_batch import PUBLISHER, RAW_MESSAGES, BadRowFilter, FileBatch
from slipring.recording.json_lines import Row, decode_line

BATCH_ROWS_MAX = 16_384
BATCH_BYTES_MAX = 16 << 20
LINE_BYTES_MAX = 512 << 20
"""Room for the largest payload of MQTT in Base64; a longer line is refused."""


@dataclass
class _LineBatch:
    """Some lines: the messages of the good ones, and the flaws of the others."""

    rows: list[Row] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    flaws: dict[int, str] = field(default_factory=dict)
    count: int = 0
    bytes_read: int = 0

    def add(self, line: bytes, number: int, now_ns: int) -> None:
        """Add a line; an empty one is ignored."""
        self.count += 1
        self.bytes_read += len(line)
        if not line.strip():
            return
        try:
            self.rows.append(decode_line(line, PUBLISHER, now_ns))
            self.numbers.append(number)
        except ValueError as error:
            self.flaws[number] = str(error)

    @property
    def is_full(self) -> bool:
        return self.count >= BATCH_ROWS_MAX or self.bytes_read >= BATCH_BYTES_MAX

    def batch(self) -> pa.RecordBatch:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(MESSAGES)
        arrays = [pa.array(column, one.type) for column, one in zip(columns, MESSAGES, strict=True)]
        return pa.record_batch(arrays, schema=MESSAGES).cast(RAW_MESSAGES)


class JsonLinesFile:
    """Reads lines to the end of the stream."""

    def __init__(self, name: str, stream: BinaryIO, total: int | None) -> None:
        self.name = name
        self.total = total
        """The size in bytes, if it is known."""
        self._stream = stream

    def where(self, number: int) -> str:
        """Where a row is, in words."""
        return f"{self.name}, line {number + 1:,}"

    def batches(self, *, skip: int, skip_bad: bool) -> Iterator[FileBatch]:
        """Every message after the first `skip` rows."""
        bad_rows = BadRowFilter(skip_bad, self.where)
        lines = self._lines()
        done = sum(len(line) for line in islice(lines, skip))
        number = skip
        while (some := self._some(lines, number)).count:
            number += some.count
            done += some.bytes_read
            yield from bad_rows.batches(some.batch(), some.numbers, some.flaws, number, done)

    def _some(self, lines: Iterator[bytes], number: int) -> _LineBatch:
        some, now_ns = _LineBatch(), time.time_ns()
        for line in lines:
            some.add(line, number + some.count, now_ns)
            if some.is_full:
                break
        return some

    def _lines(self) -> Iterator[bytes]:
        number = 0
        while line := self._stream.readline(LINE_BYTES_MAX + 1):
            if len(line) > LINE_BYTES_MAX:
                raise RecordingError(f"{self.where(number)} is over 512 MiB; it is not a message")
            yield line
            number += 1
