"""The messages of a piece of a recording, by what an export of samples asks of them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from slipring.frames.arrays import NO_TIME, Times
from slipring.model import Entry
from slipring.native import decode_properties
from slipring.recording.history.plain import PlainMessages
from slipring.recording.journal import Noted

FRAME = "application/vnd.slipring.frame"
"""The content type of a frame."""
TIME = "time"
"""The user property of a plain message that has its source time."""


class Messages:
    """Each distinct topic, and each distinct list of properties, is looked at once."""

    def __init__(self, rows: pa.RecordBatch) -> None:
        self._payloads = rows.column("payload")
        self._offsets: Times = np.asarray(rows.column("offset"))
        self._receive_ns: Times = np.asarray(rows.column("receive_ns"))
        self._topics = rows.column("topic").dictionary_encode()
        properties = rows.column("properties").dictionary_encode()
        said = [_said(encoded) for encoded in properties.dictionary.to_pylist()]
        codes = np.asarray(properties.indices)
        self.is_frame = np.array([one[0] for one in said], np.bool_)[codes]
        self._times = np.array([one[1] for one in said], np.int64)[codes]
        self.frames = np.flatnonzero(self.is_frame)
        """Which of them are frames."""

    def __len__(self) -> int:
        return len(self._offsets)

    def offset(self, place: int) -> int:
        return int(self._offsets[place])

    def receive_ns(self, place: int) -> int:
        return int(self._receive_ns[place])

    def payload(self, place: int) -> bytes:
        content: bytes = self._payloads[place].as_py()
        return content

    def plain_topics(self) -> list[str]:
        """The topics of messages that are no frames."""
        codes = np.unique(np.asarray(self._topics.indices)[~self.is_frame])
        names: list[str] = self._topics.dictionary.take(pa.array(codes)).to_pylist()
        return names

    def plain(self, noted: Noted, begin: int, end: int) -> Iterator[tuple[int, str, Times]]:
        """Indices of parameters, a topic, and the messages between that were samples by both."""
        low, high = np.searchsorted(noted.offsets, self._between(begin, end))
        places = np.searchsorted(self._offsets, noted.offsets[low:high])
        topics = np.asarray(self._topics.indices, np.int64)[places]
        keys = noted.parameters[low:high] << 32 | topics
        order = np.argsort(keys, kind="stable")
        found, starts = np.unique(keys[order], return_index=True)
        groups = np.split(places[order], starts[1:]) if len(found) else []
        names = self._topics.dictionary.take(pa.array(found & 0xFFFF_FFFF)).to_pylist()
        return zip((found >> 32).tolist(), names, groups, strict=True)

    def _between(self, begin: int, end: int) -> tuple[int, int]:
        """Offsets of the messages from the one place to before the other."""
        return (self.offset(begin), self.offset(end - 1) + 1) if begin < end else (0, 0)

    def of_parameter(self, entry: Entry, places: Times) -> PlainMessages:
        """These messages, which went to a parameter's topic."""
        times, receive_ns = self._times[places], self._receive_ns[places]
        return PlainMessages(
            entry,
            self._payloads.take(pa.array(places)),
            np.where(times == NO_TIME, receive_ns, times),
            self._offsets[places],
            receive_ns,
        )


def _said(encoded: bytes) -> tuple[bool, int]:
    """Whether it is a frame, and the source time, as the properties say it."""
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
