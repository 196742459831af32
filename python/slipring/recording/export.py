"""A journal's messages into a file, piece by piece: memory does not grow with the journal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.errors import JournalDamaged
from slipring.journal.columns import DELTA_PACKED
from slipring.recording.file_format import FileFormat
from slipring.recording.json_lines import encode_lines
from slipring.recording.message_columns import EXPORT
from slipring.recording.recording import Recording


class MessageWriter(Protocol):
    """Writes messages to a stream in one format."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Write these rows of EXPORT."""

    def close(self) -> None:
        """Write the end of the file."""


@dataclass
class ExportedMessages:
    """The result of an export."""

    messages: int = 0
    damaged: list[JournalDamaged] = field(default_factory=list)


def export(
    recording: Recording,
    stream: BinaryIO,
    file_format: FileFormat,
    on_progress: Callable[[int, int], None] = lambda _messages, _offset: None,
) -> ExportedMessages:
    """Write every message of the recording; `on_progress` gets the messages and the offset."""
    exported = ExportedMessages()
    writer = _writer(recording, stream, file_format)
    for piece in recording.pieces(exported.damaged.append):
        if piece.rows.num_rows:
            writer.write(piece.rows)
            exported.messages += piece.rows.num_rows
        on_progress(exported.messages, piece.end)
    writer.close()
    return exported


def _writer(recording: Recording, stream: BinaryIO, file_format: FileFormat) -> MessageWriter:
    if file_format is FileFormat.PARQUET:
        return ParquetMessageWriter(recording, stream)
    return JsonLinesWriter(stream)


class JsonLinesWriter:
    """Writes a JSON object in each line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, rows: pa.RecordBatch) -> None:
        self._stream.write(encode_lines(rows))

    def close(self) -> None:
        """Write nothing: the format has no footer."""


class ParquetMessageWriter:
    """Writes a row group for each piece. The file's metadata name the journal."""

    def __init__(self, recording: Recording, stream: BinaryIO) -> None:
        metadata = {"slipring.journal": recording.identity}
        self._writer = pq.ParquetWriter(
            stream,
            EXPORT.with_metadata(metadata),
            compression="zstd",
            compression_level=1,
            use_dictionary=["publisher", "topic", "qos", "properties"],
            column_encoding=DELTA_PACKED,
        )

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(rows, row_group_size=max(1, rows.num_rows))

    def close(self) -> None:
        self._writer.close()
