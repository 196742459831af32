"""A journal's messages into a file, piece by piece: memory does not grow with the journal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.errors import JournalDamaged
from slipring.journal.columns import DELTA_PACKED
from slipring.recording.file_format import FileFormat
from slipring.recording.json_lines import encode_lines
from slipring.recording.message_columns import EXPORT
from slipring.recording.recording import Recording


@dataclass
class ExportedMessages:
    """The result of an export."""

    messages: int = 0
    withheld: int = 0
    """Messages that the broker does not give to this user."""
    damaged: list[JournalDamaged] = field(default_factory=list)


def export(
    recording: Recording,
    stream: BinaryIO,
    file_format: FileFormat,
    on_progress: Callable[[int, int], None] = lambda _messages, _offset: None,
) -> ExportedMessages:
    """Write every message of the recording; `on_progress` gets the messages and the offset."""
    exported = ExportedMessages()
    with _writing(recording, stream, file_format) as write:
        for piece in recording.pieces(exported.damaged.append):
            exported.withheld += piece.withheld
            if piece.rows.num_rows:
                write(piece.rows)
                exported.messages += piece.rows.num_rows
            on_progress(exported.messages, piece.end)
    return exported


@contextmanager
def _writing(
    recording: Recording, stream: BinaryIO, file_format: FileFormat
) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """A function that writes rows of EXPORT. The end of the file is written only if all went well.

    Parquet gets a row group for each piece, and the journal's identity in its metadata.
    """
    if file_format is not FileFormat.PARQUET:
        yield lambda rows: stream.write(encode_lines(rows))
        return
    writer = pq.ParquetWriter(
        stream,
        EXPORT.with_metadata({"slipring.journal": recording.identity}),
        compression="zstd",
        compression_level=1,
        use_dictionary=["publisher", "topic", "qos", "properties"],
        column_encoding=DELTA_PACKED,
    )
    yield lambda rows: writer.write_batch(rows, row_group_size=rows.num_rows)
    writer.close()
