"""The forms in which a file holds messages. Quick to import: knows no library."""

from enum import StrEnum
from pathlib import PurePath

from slipring.errors import RecordingError


class Form(StrEnum):
    """What a file holds messages as."""

    PARQUET = "parquet"
    JSON_LINES = "jsonl"


BY_SUFFIX = {
    ".parquet": Form.PARQUET,
    ".jsonl": Form.JSON_LINES,
    ".ndjson": Form.JSON_LINES,
}


def form_of(path: PurePath) -> Form:
    """The form that a file's name asks for; standard output gets JSON lines."""
    if str(path) == "-":
        return Form.JSON_LINES
    if form := BY_SUFFIX.get(path.suffix.lower()):
        return form
    raise RecordingError(
        f"{path} does not say what to write: name it .parquet or .jsonl, or give --format"
    )
