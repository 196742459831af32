"""A journal's messages into a file, piece by piece: memory does not grow with the journal."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.errors import JournalDamaged
from slipring.recording.columns import EXPORT
from slipring.recording.form import Form
from slipring.recording.journal import Piece, Recording
from slipring.recording.jsonlines import encode_lines

_COUNTING = ("offset", "receive_time", "receive_ns")


class Writer(Protocol):
    """Puts messages into a stream, in one form."""

    def write(self, rows: pa.RecordBatch) -> None:
        """Add some."""

    def close(self) -> None:
        """Add what stands at the end of a file."""


@dataclass
class Exported:
    """What an export came to."""

    messages: int = 0
    damaged: list[JournalDamaged] = field(default_factory=list)


def export(
    recording: Recording,
    stream: BinaryIO,
    form: Form,
    on_progress: Callable[[int, int], None] = lambda _messages, _offset: None,
) -> Exported:
    """Write every message of the recording; progress is messages and the offset reached."""
    exported = Exported()
    writer = _writer(recording, stream, form)
    for piece in recording.pieces(exported.damaged.append):
        exported.messages += _write(writer, piece)
        on_progress(exported.messages, piece.end)
    writer.close()
    return exported


def _write(writer: Writer, piece: Piece) -> int:
    count: int = piece.rows.num_rows
    if count:
        writer.write(piece.rows)
    return count


def _writer(recording: Recording, stream: BinaryIO, form: Form) -> Writer:
    if form is Form.PARQUET:
        return ParquetForm(recording, stream)
    return JsonLinesForm(stream)


class JsonLinesForm:
    """One JSON object in a line."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, rows: pa.RecordBatch) -> None:
        self._stream.write(encode_lines(rows))

    def close(self) -> None:
        """Nothing stands behind the last line."""


class ParquetForm:
    """A row group for each piece. The file's metadata name the journal."""

    def __init__(self, recording: Recording, stream: BinaryIO) -> None:
        metadata = {"slipring.journal": recording.identity}
        self._writer = pq.ParquetWriter(
            stream,
            EXPORT.with_metadata(metadata),
            compression="zstd",
            compression_level=1,
            use_dictionary=["publisher", "topic", "qos", "properties"],
            column_encoding=dict.fromkeys(_COUNTING, "DELTA_BINARY_PACKED"),
        )

    def write(self, rows: pa.RecordBatch) -> None:
        self._writer.write_batch(rows, row_group_size=max(1, rows.num_rows))

    def close(self) -> None:
        self._writer.close()
