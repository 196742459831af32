"""The forms in which a file holds messages or samples. Quick to import: knows no library."""

from enum import StrEnum
from pathlib import PurePath

from slipring.errors import RecordingError


class Form(StrEnum):
    """What a file holds messages or samples as."""

    PARQUET = "parquet"
    JSON_LINES = "jsonl"
    CSV = "csv"
    MCAP = "mcap"


BY_SUFFIX = {
    ".parquet": Form.PARQUET,
    ".jsonl": Form.JSON_LINES,
    ".ndjson": Form.JSON_LINES,
    ".csv": Form.CSV,
    ".mcap": Form.MCAP,
}
OF_MESSAGES = (Form.PARQUET, Form.JSON_LINES)
OF_SAMPLES = (Form.PARQUET, Form.CSV, Form.MCAP)


def form_of(path: PurePath, given: Form | None = None) -> Form:
    """The form of messages that is asked for; standard output gets JSON lines."""
    form = given or _by_name(path, Form.JSON_LINES)
    if form in OF_MESSAGES:
        return form
    raise RecordingError(
        f"{path} does not say what to write: name it .parquet or .jsonl, or give --format; "
        "csv and mcap are for samples, with --parameters"
    )


def form_of_samples(path: PurePath, given: Form | None = None) -> Form:
    """The form of samples that is asked for; standard output gets CSV."""
    form = given or _by_name(path, Form.CSV)
    if form in OF_SAMPLES:
        return form
    raise RecordingError(
        f"{path} does not say what to write: name it .parquet, .csv or .mcap, or give --format"
    )


def _by_name(path: PurePath, otherwise: Form) -> Form | None:
    return otherwise if str(path) == "-" else BY_SUFFIX.get(path.suffix.lower())
