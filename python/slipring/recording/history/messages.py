"""The messages of a piece of a recording, by what an export of samples asks of them."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from slipring.frames.arrays import NO_TIME, Times
from slipring.model import Entry
from slipring.native import decode_properties
from slipring.recording.history.plain import PlainMessages

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
        self._is_frame = np.array([one[0] for one in said], np.bool_)[codes]
        self._times = np.array([one[1] for one in said], np.int64)[codes]
        self.frames = np.flatnonzero(self._is_frame)
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

    def plain(self, begin: int, end: int) -> Iterator[tuple[str, Times]]:
        """Topics of messages that are no frames, and which these are."""
        places = begin + np.flatnonzero(~self._is_frame[begin:end])
        codes = np.asarray(self._topics.indices)[places]
        order = np.argsort(codes, kind="stable")
        found, starts = np.unique(codes[order], return_index=True)
        groups = np.split(places[order], starts[1:]) if len(found) else []
        names = self._topics.dictionary.take(pa.array(found)).to_pylist()
        return zip(names, groups, strict=True)

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
