"""Opening a file of samples: what it holds is seen from its first bytes and its columns."""

from dataclasses import dataclass
from pathlib import Path

from slipring.errors import RecordingError
from slipring.recording.files import PARQUET_MAGIC
from slipring.recording.history.csv_history import CsvHistory
from slipring.recording.history.history_file import HistoryFile
from slipring.recording.history.long_history import LongParquetHistory, is_long
from slipring.recording.history.parquet_history import ParquetSource, WideParquetHistory
from slipring.recording.time_format import TimeFormat

MESSAGE_COLUMNS = ("topic", "payload")


@dataclass(frozen=True)
class Manner:
    """How to read it, where the file does not say it."""

    time_column: str | None = None
    time_format: TimeFormat | None = None
    has_units: bool = False


def is_history(path: Path) -> bool:
    """Whether a file has samples, by its looks, and not messages."""
    if path.suffix.lower() == ".csv":
        return True
    if not _is_parquet(path):
        return False
    names = ParquetSource(path).schema.names
    return not all(name in names for name in MESSAGE_COLUMNS)


def open_history(path: Path, manner: Manner) -> HistoryFile:
    """Open a CSV or Parquet file, or a folder of Parquet files; raises RecordingError."""
    if not _is_parquet(path):
        return CsvHistory(path, manner.time_column, manner.time_format, has_units=manner.has_units)
    source = ParquetSource(path)
    form = LongParquetHistory if is_long(source.schema) else WideParquetHistory
    return form(source, manner.time_column, manner.time_format)


def _is_parquet(path: Path) -> bool:
    if path.is_dir():
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    except OSError as error:
        raise RecordingError(f"cannot read {path}: {error.strerror}") from None
