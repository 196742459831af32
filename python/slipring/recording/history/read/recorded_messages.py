"""The messages of a piece of a recording: which are frames, which are plain samples. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from slipring.frames.arrays import DTYPES, NO_TIME, Times
from slipring.model import Entry, Kind
from slipring.native import decode_properties
from slipring.recording.history.read.value_parsing import ParsedValues, parse_values
from slipring.recording.history.shape.recorded_samples import Mask, RecordedSamples
from slipring.recording.recording import PlainSampleOffsets, Recording

FRAME = "application/vnd.slipring.frame"
"""The content type of a frame."""
TIME = "time"
"""The user property of a plain message that has its source time."""
NO_SAMPLES = PlainSampleOffsets(np.zeros(0, np.int64), np.zeros(0, np.int64))


class RecordedMessages:
    """Each distinct topic, and each distinct list of properties, is decoded once."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        self._payloads = rows.column("payload")
        self._offsets: Times = np.asarray(rows.column("offset"))
        self._receive_ns: Times = np.asarray(rows.column("receive_ns"))
        self._topics = rows.column("topic").dictionary_encode()
        properties = rows.column("properties").dictionary_encode()
        decoded = [_decode(encoded) for encoded in properties.dictionary.to_pylist()]
        codes = np.asarray(properties.indices)
        self.is_frame: Mask = np.array([one[0] for one in decoded], np.bool_)[codes]
        self._times = np.array([one[1] for one in decoded], np.int64)[codes]
        self.frames: npt.NDArray[np.intp] = np.flatnonzero(self.is_frame)
        """The positions of the frames."""

    def __len__(self) -> int:
        return len(self._offsets)

    def offset(self, position: int) -> int:
        return int(self._offsets[position])

    def receive_ns(self, position: int) -> int:
        return int(self._receive_ns[position])

    def payload(self, position: int) -> bytes:
        content: bytes = self._payloads[position].as_py()
        return content

    def plain_topics(self) -> list[str]:
        """The topics of messages that are not frames."""
        codes = np.unique(np.asarray(self._topics.indices)[~self.is_frame])
        names: list[str] = self._topics.dictionary.take(pa.array(codes)).to_pylist()
        return names

    def plain_samples(self, recording: Recording, topics: set[str]) -> PlainSampleOffsets:
        """Which messages on these topics were samples when the broker received them.

        The topic alone does not tell: it may have been declared later, or as something else.
        """
        if not len(self) or topics.isdisjoint(self.plain_topics()):
            return NO_SAMPLES
        return recording.samples(self.offset(0), self.offset(len(self) - 1) + 1)

    def plain(
        self, plain: PlainSampleOffsets, begin: int, end: int
    ) -> Iterator[tuple[int, str, Times]]:
        """The plain samples between two positions.

        For each index of a parameter and each topic: the positions of the messages with both.
        """
        low, high = np.searchsorted(plain.offsets, self._offset_range(begin, end))
        positions = np.searchsorted(self._offsets, plain.offsets[low:high])
        topics = np.asarray(self._topics.indices, np.int64)[positions]
        keys = plain.parameters[low:high] << 32 | topics
        order = np.argsort(keys, kind="stable")
        found, starts = np.unique(keys[order], return_index=True)
        messages = np.split(positions[order], starts[1:]) if len(found) else []
        names = self._topics.dictionary.take(pa.array(found & 0xFFFF_FFFF)).to_pylist()
        return zip((found >> 32).tolist(), names, messages, strict=True)

    def _offset_range(self, begin: int, end: int) -> tuple[int, int]:
        """The offsets from the message at `begin` to before the one at `end`."""
        return (self.offset(begin), self.offset(end - 1) + 1) if begin < end else (0, 0)

    def of_parameter(self, entry: Entry, positions: Times) -> "_PlainMessages":
        """These messages, which went to a parameter's topic."""
        times, receive_ns = self._times[positions], self._receive_ns[positions]
        return _PlainMessages(
            entry,
            self._payloads.take(pa.array(positions)),
            np.where(times == NO_TIME, receive_ns, times),
            self._offsets[positions],
            receive_ns,
        )


class _PlainMessages(NamedTuple):
    """Plain messages to the topic of one parameter, in order: each payload is a value as text."""

    entry: Entry
    payloads: pa.Array
    times: Times
    offsets: Times
    receive_ns: Times

    def samples(self) -> RecordedSamples:
        """The samples of all messages whose payload is a value."""
        parsed = self._parsed()
        return RecordedSamples(
            self.entry.parameter.kind,
            np.full(len(self.times), self.entry.index, np.uint32),
            self.times,
            np.zeros(len(self.times), np.uint8),
            parsed.values,
            self.offsets,
            self.receive_ns,
        ).take(parsed.is_value)

    def _parsed(self) -> ParsedValues:
        kind, count = self.entry.parameter.kind, len(self.payloads)
        if kind is Kind.BYTES:
            values = np.empty(count, DTYPES[kind])
            values[:] = self.payloads.to_pylist()
            return ParsedValues(values, np.ones(count, np.bool_), np.zeros(count, np.bool_))
        return parse_values(self.entry.parameter, _texts(self.payloads))


def _texts(payloads: pa.Array) -> pa.Array:
    """Payloads as text; null for what is not UTF-8."""
    try:
        return payloads.cast(pa.string())
    except pa.ArrowException:
        return pa.array([_text(payload) for payload in payloads.to_pylist()], pa.string())


def _text(payload: bytes) -> str | None:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None


def _decode(encoded: bytes) -> tuple[bool, int]:
    """From a message's properties: whether it is a frame, and its source time or NO_TIME."""
    if not encoded:
        return False, int(NO_TIME)
    try:
        pairs = decode_properties(encoded)
    except ValueError:
        return False, int(NO_TIME)
    is_frame = ("content_type", FRAME) in pairs
    times = (value[1] for name, value in pairs if name == "user" and value[0] == TIME)
    return is_frame, _time_ns(next(times, ""))


def _time_ns(text: str) -> int:
    try:
        time_ns = int(text)
    except ValueError:
        return int(NO_TIME)
    return time_ns if -(1 << 63) <= time_ns < 1 << 63 else int(NO_TIME)
