"""Rows of a file that were read together: checked, and bad rows separated from good ones. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from slipring.errors import InvalidTopic, RecordingError
from slipring.journal.native_messages import MESSAGES
from slipring.native import check_topic, decode_properties

PUBLISHER = "import"
"""The publisher of a message for which the file names none."""
MQTT_STRING_BYTES_MAX = 65_535

# Messages as a file gave them: what should be text is not checked yet.
RAW_MESSAGES = pa.schema(
    [
        field.with_type(pa.binary()) if pa.types.is_string(field.type) else field
        for field in MESSAGES
    ]
)


@dataclass(frozen=True)
class FileBatch:
    """The good messages of some rows of a file."""

    messages: pa.RecordBatch
    numbers: Sequence[int]
    """The row of each message, counted from 0."""
    end: int
    """The rows of the file up to here, bad ones included."""
    bad: int
    """How many rows of this batch are bad."""
    done: int
    """How far the file is read, in units of its `total`."""


@dataclass
class BadRowFilter:
    """Skips bad rows and counts them, or refuses the first one."""

    skip_bad: bool
    where: Callable[[int], str]
    """Says in words where a row is."""

    def batches(
        self,
        rows: pa.RecordBatch,
        numbers: Sequence[int],
        flaws: dict[int, str],
        end: int,
        done: int,
    ) -> Iterator[FileBatch]:
        """The good messages of RAW_MESSAGES; or those before the first bad row, and its error.

        `flaws` says what is wrong with rows of the file; some of them may not be in `rows`.
        """
        flaws = flaws | {numbers[index]: why for index, why in _find_flaws(rows).items()}
        first = min(flaws, default=end)
        if flaws and not self.skip_bad:
            good = [index for index, number in enumerate(numbers) if number < first]
            yield FileBatch(_some(rows, good), [numbers[i] for i in good], first, 0, done)
            raise RecordingError(
                f"{self.where(first)}: {flaws[first]}; correct it, or skip such rows with "
                "--skip-bad"
            )
        if flaws:
            good = [index for index, number in enumerate(numbers) if number not in flaws]
            yield FileBatch(_some(rows, good), [numbers[i] for i in good], end, len(flaws), done)
            return
        yield FileBatch(_text(rows), numbers, end, 0, done)


def _find_flaws(rows: pa.RecordBatch) -> dict[int, str]:
    """What MQTT does not allow in these rows, by index."""
    checks = (("topic", _topic_flaw), ("publisher", _publisher_flaw))
    found = _flaws_of(rows.column("properties"), _properties_flaw)
    for name, check in checks:
        found |= _flaws_of(rows.column(name), check)
    return found


def _flaws_of(column: pa.Array, check: Callable[[bytes], str | None]) -> dict[int, str]:
    """Check each distinct value once."""
    values = column.dictionary_encode()
    flaws = [check(value) for value in values.dictionary.to_pylist()]
    if not any(flaws):
        return {}
    named = ((index, flaws[key]) for index, key in enumerate(values.indices.to_pylist()))
    return {index: flaw for index, flaw in named if flaw}


def _topic_flaw(topic: bytes) -> str | None:
    try:
        check_topic(topic.decode())
    except UnicodeDecodeError:
        return "topic is not UTF-8"
    except InvalidTopic as error:
        return str(error)
    return None


def _publisher_flaw(publisher: bytes) -> str | None:
    if len(publisher) > MQTT_STRING_BYTES_MAX:
        return "publisher is over 65,535 bytes"
    try:
        publisher.decode()
    except UnicodeDecodeError:
        return "publisher is not UTF-8"
    return None


def _properties_flaw(properties: bytes) -> str | None:
    try:
        decode_properties(properties)
    except ValueError as error:
        return f"properties: {error}"
    return None


def _some(rows: pa.RecordBatch, chosen: Sequence[int]) -> pa.RecordBatch:
    return _text(rows.take(pa.array(chosen, pa.int64())))


def _text(rows: pa.RecordBatch) -> pa.RecordBatch:
    return rows.cast(MESSAGES)
