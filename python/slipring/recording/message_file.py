"""Opening a file of messages: its first bytes tell the format, not its name."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slipring.errors import RecordingError
from slipring.recording.json_lines_file import JsonLinesFile
from slipring.recording.parquet_message_file import ParquetMessageFile

PARQUET_MAGIC = b"PAR1"
MCAP_MAGIC = b"\x89MCAP"

MessageFile = JsonLinesFile | ParquetMessageFile


@contextmanager
def open_messages(path: Path) -> Iterator[MessageFile]:
    """Open a file; `-` is standard input with JSON lines."""
    if str(path) == "-":
        yield JsonLinesFile("standard input", sys.stdin.buffer, None)
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from None
    with stream:
        size = path.stat().st_size
        if stream.peek(5)[:5] == MCAP_MAGIC:
            raise RecordingError(
                f"{path} is an MCAP file, which has no types and cannot be imported; export to "
                "Parquet or CSV, and import that"
            )
        if stream.peek(4)[:4] == PARQUET_MAGIC:
            yield ParquetMessageFile(path)
        else:
            yield JsonLinesFile(str(path), stream, size)
