"""Opening a file of messages: what it holds is seen from its first bytes, not from its name."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slipring.errors import RecordingError
from slipring.recording.lines_file import LinesFile
from slipring.recording.parquet_file import ParquetFile

PARQUET_MAGIC = b"PAR1"
MCAP_MAGIC = b"\x89MCAP"

MessageFile = LinesFile | ParquetFile


@contextmanager
def open_messages(path: Path) -> Iterator[MessageFile]:
    """Open a file, or standard input (JSON lines) where it is named `-`."""
    if str(path) == "-":
        yield LinesFile("standard input", sys.stdin.buffer, None)
        return
    try:
        stream = path.open("rb")
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from None
    with stream:
        size = path.stat().st_size
        if stream.peek(5)[:5] == MCAP_MAGIC:
            raise RecordingError(
                f"{path} is an MCAP file, which is for looking at: it has no types; export to "
                "Parquet or CSV, and import that"
            )
        if stream.peek(4)[:4] == PARQUET_MAGIC:
            yield ParquetFile(path)
        else:
            yield LinesFile(str(path), stream, size)
