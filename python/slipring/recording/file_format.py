"""The formats of files with messages or samples. Quick to import: knows no library."""

from enum import StrEnum
from pathlib import PurePath

from slipring.errors import RecordingError


class FileFormat(StrEnum):
    """How a file has messages or samples."""

    PARQUET = "parquet"
    JSON_LINES = "jsonl"
    CSV = "csv"
    MCAP = "mcap"


class TimeFormat(StrEnum):
    """How a file writes source times."""

    ISO = "iso"
    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"


BY_SUFFIX = {
    ".parquet": FileFormat.PARQUET,
    ".jsonl": FileFormat.JSON_LINES,
    ".ndjson": FileFormat.JSON_LINES,
    ".csv": FileFormat.CSV,
    ".mcap": FileFormat.MCAP,
}
OF_MESSAGES = (FileFormat.JSON_LINES, FileFormat.PARQUET)
OF_SAMPLES = (FileFormat.CSV, FileFormat.PARQUET, FileFormat.MCAP)
"""The first is for standard output."""


def message_format(path: PurePath, given: FileFormat | None = None) -> FileFormat:
    """The format for messages: `given`, or by the file's name; standard output gets JSON lines."""
    hint = ".parquet or .jsonl, or give --format; csv and mcap are for samples, with --parameters"
    return _one_of(OF_MESSAGES, path, given, hint)


def sample_format(path: PurePath, given: FileFormat | None = None) -> FileFormat:
    """The format for samples: `given`, or by the file's name; standard output gets CSV."""
    return _one_of(OF_SAMPLES, path, given, ".parquet, .csv or .mcap, or give --format")


def _one_of(
    allowed: tuple[FileFormat, ...], path: PurePath, given: FileFormat | None, hint: str
) -> FileFormat:
    by_name = allowed[0] if str(path) == "-" else BY_SUFFIX.get(path.suffix.lower())
    found = given or by_name
    if found not in allowed:
        raise RecordingError(f"{path} does not say what to write: name it {hint}")
    return found
