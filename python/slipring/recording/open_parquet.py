"""Opening a Parquet file that another program may have written."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.errors import RecordingError


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a file so that it is read in small parts; or RecordingError."""
    try:
        return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (OSError, pa.ArrowException) as error:
        raise RecordingError(f"{path} is not a Parquet file: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """The first line of an error's text: Arrow adds stack traces."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__
