"""A Parquet file of messages, read batch by batch. Another program may have written it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from slipring.errors import RecordingError
from slipring.recording.file_batch import PUBLISHER, RAW_MESSAGES, BadRowFilter, FileBatch
from slipring.recording.message_columns import flags
from slipring.recording.open_parquet import first_line, open_parquet

BATCH_ROWS_MAX = 65_536
BATCH_BYTES_MAX = 16 << 20
NEEDED = ("topic", "payload")
KNOWN = (*NEEDED, "receive_ns", "receive_time", "publisher", "qos", "retain", "properties")


class ParquetMessageFile:
    """Reads row groups one after the other, each in parts of a bounded size."""

    def __init__(self, path: Path) -> None:
        self.name: str = str(path)
        self._file = open_parquet(path)
        self.total: int = self._file.metadata.num_rows
        names = self._file.schema_arrow.names
        self._names = [name for name in KNOWN if name in names]
        for needed in NEEDED:
            if needed not in names:
                raise RecordingError(
                    f"{path} has no column {needed!r}: messages have topic and payload, and "
                    f"perhaps {', '.join(KNOWN[2:])}; this file has {', '.join(names)}"
                )

    def where(self, number: int) -> str:
        """Where a row is, in words."""
        group = next(index for index, (_, end) in enumerate(self._ranges()) if number < end)
        return f"{self.name}, row {number + 1:,} (in row group {group + 1})"

    def batches(self, *, skip: int, skip_bad: bool) -> Iterator[FileBatch]:
        """Every message after the first `skip` rows."""
        bad_rows = BadRowFilter(skip_bad, self.where)
        for group, (start, end) in enumerate(self._ranges()):
            if end <= skip:
                continue
            number = start
            for part in self._parts(group, end - start):
                begin = min(max(0, skip - number), part.num_rows)
                number += part.num_rows
                yield from self._batches(bad_rows, part[begin:], number)

    def _batches(
        self, bad_rows: BadRowFilter, part: pa.RecordBatch, end: int
    ) -> Iterator[FileBatch]:
        if part.num_rows == 0:
            return iter(())
        numbers = range(end - part.num_rows, end)
        try:
            rows, flaws = _to_raw_messages(part, time.time_ns())
        except pa.ArrowException as error:
            raise RecordingError(f"{self.where(numbers[0])}: {first_line(error)}") from None
        named = {numbers[index]: why for index, why in flaws.items()}
        return bad_rows.batches(rows, numbers, named, end, end)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """The first row of each row group, and the first after it."""
        start, metadata = 0, self._file.metadata
        for group in range(metadata.num_row_groups):
            end = start + metadata.row_group(group).num_rows
            yield start, end
            start = end

    def _parts(self, group: int, rows: int) -> Iterator[pa.RecordBatch]:
        row_bytes = max(1, self._file.metadata.row_group(group).total_byte_size // max(1, rows))
        count = max(1, min(BATCH_ROWS_MAX, BATCH_BYTES_MAX // row_bytes))
        try:
            yield from self._file.iter_batches(count, [group], self._names)
        except (OSError, pa.ArrowException) as error:
            raise RecordingError(
                f"{self.name}: row group {group + 1} of {self._file.metadata.num_row_groups} "
                f"cannot be read: {first_line(error)}"
            ) from None


def _to_raw_messages(part: pa.RecordBatch, now_ns: int) -> tuple[pa.RecordBatch, dict[int, str]]:
    """A part of a file as RAW_MESSAGES, and the flaws of its rows, by index."""
    count = part.num_rows

    def column(name: str, kind: pa.DataType, default: Any) -> pa.Array:
        if name not in part.schema.names:
            return pa.repeat(pa.scalar(default, kind), count)
        return pc.fill_null(_cast(name, part.column(name), kind), pa.scalar(default, kind))

    qos = column("qos", pa.int64(), 0)
    is_qos = pc.is_in(qos, pa.array([0, 1, 2], pa.int64()))
    flaws = _at(pc.invert(is_qos), lambda index: f"qos is {qos[index]}; it is 0, 1 or 2")
    flaws |= _at(part.column("topic").is_null(), lambda _: "there is no topic")
    flaws |= _at(part.column("payload").is_null(), lambda _: "there is no payload")
    columns = {
        "receive_ns": _receive_ns(part, now_ns, column),
        "publisher": column("publisher", pa.binary(), PUBLISHER.encode()),
        "topic": column("topic", pa.binary(), b"-"),
        "flags": flags(pc.if_else(is_qos, qos, 0), column("retain", pa.bool_(), False)),
        "properties": column("properties", pa.binary(), b""),
        "payload": column("payload", pa.binary(), b""),
    }
    rows = pa.record_batch([columns[name] for name in RAW_MESSAGES.names], schema=RAW_MESSAGES)
    return rows, flaws


def _cast(name: str, column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The column as another type; or an error with the column's name."""
    try:
        return column.cast(kind)
    except pa.ArrowException as error:
        raise pa.ArrowInvalid(f"column {name!r} is {column.type}: {first_line(error)}") from None


def _receive_ns(
    part: pa.RecordBatch, now_ns: int, column: Callable[[str, pa.DataType, Any], pa.Array]
) -> pa.Array:
    if "receive_ns" in part.schema.names or "receive_time" not in part.schema.names:
        return column("receive_ns", pa.int64(), now_ns)
    times = _cast("receive_time", part.column("receive_time"), pa.timestamp("ns"))
    return pc.fill_null(times.cast(pa.int64()), now_ns)


def _at(mask: pa.Array, why: Callable[[int], str]) -> dict[int, str]:
    return {index: why(index) for index in pc.indices_nonzero(mask).to_pylist()}
