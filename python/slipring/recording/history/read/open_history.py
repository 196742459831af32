"""Opening a file of samples: its first bytes and its columns tell the format, not its name."""

from dataclasses import dataclass
from pathlib import Path

from slipring.errors import RecordingError
from slipring.recording.file_format import TimeFormat
from slipring.recording.history.read.csv_history import CsvHistory
from slipring.recording.history.read.history_file import HistoryFile
from slipring.recording.history.read.long_parquet_history import LongParquetHistory, is_long
from slipring.recording.history.read.parquet_rows import ParquetRows
from slipring.recording.history.read.wide_parquet_history import WideParquetHistory
from slipring.recording.message_file import PARQUET_MAGIC

MESSAGE_COLUMNS = ("topic", "payload")


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file, as far as the file does not tell it."""

    time_column: str | None = None
    time_format: TimeFormat | None = None
    has_units: bool = False


def is_history(path: Path) -> bool:
    """Whether a file looks as if it had samples, not messages."""
    if path.suffix.lower() == ".csv":
        return True
    if not _is_parquet(path):
        return False
    names = ParquetRows(path).schema.names
    return not all(name in names for name in MESSAGE_COLUMNS)


def open_history(path: Path, options: ReadOptions) -> HistoryFile:
    """Open a CSV or Parquet file, or a folder of Parquet files; or RecordingError."""
    time_column, time_format = options.time_column, options.time_format
    if not _is_parquet(path):
        return CsvHistory(path, time_column, time_format, has_units=options.has_units)
    rows = ParquetRows(path)
    history = LongParquetHistory if is_long(rows.schema) else WideParquetHistory
    return history(rows, time_column, time_format)


def _is_parquet(path: Path) -> bool:
    if path.is_dir():
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from None
