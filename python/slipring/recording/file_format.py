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
OF_MESSAGES = (FileFormat.PARQUET, FileFormat.JSON_LINES)
OF_SAMPLES = (FileFormat.PARQUET, FileFormat.CSV, FileFormat.MCAP)


def message_format(path: PurePath, given: FileFormat | None = None) -> FileFormat:
    """The format for messages: `given`, or by the file's name; standard output gets JSON lines."""
    found = given or _by_name(path, FileFormat.JSON_LINES)
    if found in OF_MESSAGES:
        return found
    raise RecordingError(
        f"{path} does not say what to write: name it .parquet or .jsonl, or give --format; "
        "csv and mcap are for samples, with --parameters"
    )


def sample_format(path: PurePath, given: FileFormat | None = None) -> FileFormat:
    """The format for samples: `given`, or by the file's name; standard output gets CSV."""
    found = given or _by_name(path, FileFormat.CSV)
    if found in OF_SAMPLES:
        return found
    raise RecordingError(
        f"{path} does not say what to write: name it .parquet, .csv or .mcap, or give --format"
    )


def _by_name(path: PurePath, on_stdout: FileFormat) -> FileFormat | None:
    return on_stdout if str(path) == "-" else BY_SUFFIX.get(path.suffix.lower())
