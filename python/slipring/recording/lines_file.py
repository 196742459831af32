"""A file of JSON lines, read piece by piece."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

import pyarrow as pa

from slipring.errors import RecordingError
from slipring.recording.chunk import PUBLISHER, RAW_MESSAGES, Chunk, Sieve
from slipring.recording.columns import MESSAGES
from slipring.recording.jsonlines import Row, decode_line

CHUNK_ROWS_MAX = 16_384
CHUNK_BYTES_MAX = 16 << 20
LINE_BYTES_MAX = 512 << 20
"""Room for the largest payload of MQTT in Base64. A longer line is an error, not memory."""


@dataclass
class Lines:
    """Some lines: their messages, and what is wrong with others."""

    rows: list[Row] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    flaws: dict[int, str] = field(default_factory=dict)
    count: int = 0
    bytes_read: int = 0

    def add(self, line: bytes, number: int, publisher: str, now_ns: int) -> None:
        """Take one line; an empty one is nothing."""
        self.count += 1
        self.bytes_read += len(line)
        if not line.strip():
            return
        try:
            self.rows.append(decode_line(line, publisher, now_ns))
            self.numbers.append(number)
        except ValueError as error:
            self.flaws[number] = str(error)

    @property
    def is_full(self) -> bool:
        return self.count >= CHUNK_ROWS_MAX or self.bytes_read >= CHUNK_BYTES_MAX

    def batch(self) -> pa.RecordBatch:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(MESSAGES)
        arrays = [pa.array(column, one.type) for column, one in zip(columns, MESSAGES, strict=True)]
        return pa.record_batch(arrays, schema=MESSAGES).cast(RAW_MESSAGES)


class LinesFile:
    """Reads lines until there are no more."""

    def __init__(self, name: str, stream: BinaryIO, total: int | None) -> None:
        self.name = name
        self.total = total
        """Bytes, where they are known."""
        self._stream = stream

    def place(self, number: int) -> str:
        """A row's place in words."""
        return f"{self.name}, line {number + 1:,}"

    def chunks(self, *, skip: int, skip_bad: bool, publisher: str = PUBLISHER) -> Iterator[Chunk]:
        """Every message behind the first `skip` rows."""
        sieve = Sieve(skip_bad, self.place)
        lines = self._lines()
        done = sum(len(line) for line in islice(lines, skip))
        number = skip
        while (some := self._some(lines, number, publisher)).count:
            number += some.count
            done += some.bytes_read
            yield from sieve.chunks(some.batch(), some.numbers, some.flaws, number, done)

    def _some(self, lines: Iterator[bytes], number: int, publisher: str) -> Lines:
        some, now_ns = Lines(), time.time_ns()
        for line in lines:
            some.add(line, number + some.count, publisher, now_ns)
            if some.is_full:
                break
        return some

    def _lines(self) -> Iterator[bytes]:
        number = 0
        while line := self._stream.readline(LINE_BYTES_MAX + 1):
            if len(line) > LINE_BYTES_MAX:
                raise RecordingError(f"{self.place(number)} is over 512 MiB; it is no message")
            yield line
            number += 1
