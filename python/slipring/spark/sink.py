"""The writers that Spark calls: workers hand rows over, the driver puts them on the bus.

A worker may run twice and a batch may be repeated; `slipring.publication` makes each row go out
once. Must never publish from a worker.
"""

import tempfile
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from slipring.publication.publisher import BatchPublisher
from slipring.spark.sink_options import SinkOptions

INLINE_BYTES_MAX = 4 << 20
"""Rows of a task that travel in its commit message; more go into a file."""
STAGING = "staging"


@dataclass
class HandedOver(WriterCommitMessage):
    """The rows of one task, as an Arrow stream: its bytes, or the file that has them."""

    content: bytes | None
    file: str | None


class RowHandover:
    """What both writers do: `write` in workers, then `publish` or `abandon` on the driver."""

    def __init__(self, options: SinkOptions) -> None:
        self.options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Hand the rows of a task over to the driver."""
        batches = [batch for batch in iterator if batch.num_rows]
        if not batches:
            return HandedOver(None, None)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batches[0].schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        content = sink.getvalue()
        folder = self.options.state
        if content.size <= INLINE_BYTES_MAX or folder is None:
            return HandedOver(content.to_pybytes(), None)
        staging = folder / STAGING
        staging.mkdir(parents=True, exist_ok=True)
        file = staging / f"{uuid.uuid4().hex}.arrow"
        file.write_bytes(content)
        return HandedOver(None, str(file))

    def publish(
        self, messages: Sequence[WriterCommitMessage | None], number: int | None, state: Path
    ) -> None:
        """Put the rows on the bus as the batch of this number, or as one behind the last."""
        publisher = BatchPublisher(self.options.target, state)
        try:
            batch = publisher.finished() + 1 if number is None else number
            publisher.publish(batch, lambda: rows_of(messages))
        finally:
            publisher.close()
        self.abandon(messages)

    def abandon(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Remove what the workers left."""
        for message in messages:
            if isinstance(message, HandedOver) and message.file is not None:
                Path(message.file).unlink(missing_ok=True)


class BusStreamWriter(RowHandover, DataSourceStreamArrowWriter):
    """`writeStream.format("slipring")`."""

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        assert self.options.state is not None
        self.publish(messages, batchId, self.options.state)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        self.abandon(messages)


class BusBatchWriter(RowHandover, DataSourceArrowWriter):
    """`write.format("slipring")`."""

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        if self.options.state is not None:
            self.publish(messages, self.options.batch, self.options.state)
            return
        with tempfile.TemporaryDirectory(prefix="slipring-sink-") as folder:
            self.publish(messages, None, Path(folder))

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self.abandon(messages)


def stream_writer(options: SinkOptions) -> BusStreamWriter:
    """The writer of a stream, which has a folder to remember in; or ValueError."""
    if options.batch is not None:
        raise ValueError("option batch goes with df.write only: a stream numbers its batches")
    if options.state is None:
        raise ValueError(
            "the sink remembers in the checkpoint what is on the bus: give option "
            "checkpointLocation, or option state with a folder of the driver"
        )
    return BusStreamWriter(options)


def batch_writer(options: SinkOptions) -> BusBatchWriter:
    """The writer of one batch; a numbered one needs a folder to remember in; or ValueError."""
    if options.batch is not None and options.state is None:
        raise ValueError("option batch needs option state, the folder that remembers the batches")
    return BusBatchWriter(options)


def rows_of(messages: Sequence[WriterCommitMessage | None]) -> pa.Table:
    """The rows of all tasks, in the order of the tasks."""
    tables = [_table(one) for one in messages if isinstance(one, HandedOver)]
    found = [table for table in tables if table is not None]
    return pa.concat_tables(found) if found else pa.table({})


def _table(message: HandedOver) -> pa.Table | None:
    if message.file is not None:
        with pa.OSFile(message.file) as source:
            return pa.ipc.open_stream(source).read_all()
    return None if message.content is None else pa.ipc.open_stream(message.content).read_all()
