"""A Parquet file of messages, read piece by piece. Another program may have written it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from slipring.errors import RecordingError
from slipring.recording.chunk import PUBLISHER, RAW_MESSAGES, Chunk, Sieve
from slipring.recording.columns import flags

CHUNK_ROWS_MAX = 65_536
CHUNK_BYTES_MAX = 16 << 20
NEEDED = ("topic", "payload")
KNOWN = (*NEEDED, "receive_ns", "receive_time", "publisher", "qos", "retain", "properties")


class ParquetFile:
    """Reads row groups one after the other, each in parts of a bounded size."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        except (OSError, pa.ArrowException) as error:
            raise RecordingError(f"{path} is not a Parquet file: {_short(error)}") from None
        self.total: int = self._file.metadata.num_rows
        names = self._file.schema_arrow.names
        self._names = [name for name in KNOWN if name in names]
        for needed in NEEDED:
            if needed not in names:
                raise RecordingError(
                    f"{path} has no column {needed!r}: messages have topic and payload, and "
                    f"perhaps {', '.join(KNOWN[2:])}; this file has {', '.join(names)}"
                )

    def place(self, number: int) -> str:
        """A row's place in words."""
        group = next(index for index, (_, end) in enumerate(self._ranges()) if number < end)
        return f"{self.name}, row {number + 1:,} (in row group {group + 1})"

    def chunks(self, *, skip: int, skip_bad: bool, publisher: str = PUBLISHER) -> Iterator[Chunk]:
        """Every message behind the first `skip` rows."""
        sieve = Sieve(skip_bad, self.place)
        for group, (start, end) in enumerate(self._ranges()):
            if end <= skip:
                continue
            number = start
            for part in self._parts(group, end - start):
                begin = min(max(0, skip - number), part.num_rows)
                number += part.num_rows
                yield from self._sift(sieve, part[begin:], number, publisher)

    def _sift(
        self, sieve: Sieve, part: pa.RecordBatch, end: int, publisher: str
    ) -> Iterator[Chunk]:
        if part.num_rows == 0:
            return iter(())
        numbers = range(end - part.num_rows, end)
        try:
            rows, flaws = to_raw_messages(part, publisher, time.time_ns())
        except pa.ArrowException as error:
            raise RecordingError(f"{self.place(numbers[0])}: {_short(error)}") from None
        named = {numbers[index]: why for index, why in flaws.items()}
        return sieve.chunks(rows, numbers, named, end, end)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Rows of each row group."""
        start, metadata = 0, self._file.metadata
        for group in range(metadata.num_row_groups):
            end = start + metadata.row_group(group).num_rows
            yield start, end
            start = end

    def _parts(self, group: int, rows: int) -> Iterator[pa.RecordBatch]:
        row_bytes = max(1, self._file.metadata.row_group(group).total_byte_size // max(1, rows))
        count = max(1, min(CHUNK_ROWS_MAX, CHUNK_BYTES_MAX // row_bytes))
        try:
            yield from self._file.iter_batches(count, [group], self._names)
        except (OSError, pa.ArrowException) as error:
            raise RecordingError(
                f"{self.name}: row group {group + 1} of {self._file.metadata.num_row_groups} "
                f"cannot be read: {_short(error)}"
            ) from None


def to_raw_messages(
    part: pa.RecordBatch, publisher: str, now_ns: int
) -> tuple[pa.RecordBatch, dict[int, str]]:
    """RAW_MESSAGES of a part of a file, and what is wrong with rows of it, by index."""
    count = part.num_rows

    def column(name: str, kind: pa.DataType, default: Any) -> pa.Array:
        if name not in part.schema.names:
            return pa.repeat(pa.scalar(default, kind), count)
        return pc.fill_null(cast(name, part.column(name), kind), pa.scalar(default, kind))

    qos = column("qos", pa.int64(), 0)
    is_qos = pc.is_in(qos, pa.array([0, 1, 2], pa.int64()))
    flaws = _at(pc.invert(is_qos), lambda index: f"qos is {qos[index]}; it is 0, 1 or 2")
    flaws |= _at(part.column("topic").is_null(), lambda _: "there is no topic")
    flaws |= _at(part.column("payload").is_null(), lambda _: "there is no payload")
    columns = {
        "receive_ns": _receive_ns(part, now_ns, column),
        "publisher": column("publisher", pa.binary(), publisher.encode()),
        "topic": column("topic", pa.binary(), b"-"),
        "flags": flags(pc.if_else(is_qos, qos, 0), column("retain", pa.bool_(), False)),
        "properties": column("properties", pa.binary(), b""),
        "payload": column("payload", pa.binary(), b""),
    }
    rows = pa.record_batch([columns[name] for name in RAW_MESSAGES.names], schema=RAW_MESSAGES)
    return rows, flaws


def cast(name: str, column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The column as another type, or an error that names it."""
    try:
        return column.cast(kind)
    except pa.ArrowException as error:
        raise pa.ArrowInvalid(f"column {name!r} is {column.type}: {_short(error)}") from None


def _receive_ns(
    part: pa.RecordBatch, now_ns: int, column: Callable[[str, pa.DataType, Any], pa.Array]
) -> pa.Array:
    if "receive_ns" in part.schema.names or "receive_time" not in part.schema.names:
        return column("receive_ns", pa.int64(), now_ns)
    times = cast("receive_time", part.column("receive_time"), pa.timestamp("ns"))
    return pc.fill_null(times.cast(pa.int64()), now_ns)


def _at(mask: pa.Array, why: Callable[[int], str]) -> dict[int, str]:
    return {index: why(index) for index in pc.indices_nonzero(mask).to_pylist()}


def _short(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
