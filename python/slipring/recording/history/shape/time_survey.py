"""Which source times are where in a journal: an export by time must know it first. Pure."""

from dataclasses import dataclass, field

import numpy as np

from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.recorded_samples import Mask, RecordedSamples
from slipring.recording.history.shape.time_merge import MessageRange

RANGE_MESSAGES_MAX = 4096
RANGE_SAMPLES_MAX = 1_000_000
"""Numbers; a long text counts as several."""
APART_NS = 60_000_000_000
"""Times further apart go into different ranges: imported history beside live samples."""
RANGES_MAX = 250_000
"""With so many ranges, times no longer split one, so that memory stays bounded."""


@dataclass
class TimeSurvey:
    """Collects the ranges of messages while a recording is read once."""

    columns: ExportColumns
    ranges: list[MessageRange] = field(default_factory=list)
    samples: int = 0
    not_good: Mask = field(init=False)
    """Which columns have a sample that is not good."""
    _open: MessageRange | None = None
    _open_samples: int = 0

    def __post_init__(self) -> None:
        self.not_good = np.zeros(len(self.columns), np.bool_)

    @property
    def first_ns(self) -> int:
        """The earliest source time of a survey that has samples."""
        return min(one.first_ns for one in self.ranges)

    @property
    def last_ns(self) -> int:
        """The latest source time of a survey that has samples."""
        return max(one.last_ns for one in self.ranges)

    def add(self, parts: list[RecordedSamples]) -> None:
        """Add the samples of the messages that follow."""
        for part in parts:
            flawed = part.indices[part.qualities != 0]
            if len(flawed):
                self.not_good[self.columns.numbers(flawed)] = True
            self.samples += len(part)
        for message, samples in _messages(parts):
            self._extend(message, samples)

    def finish(self) -> None:
        """Close the last range: no messages follow."""
        if self._open is not None:
            self.ranges.append(self._open)
            self._open = None

    def _extend(self, message: MessageRange, samples: int) -> None:
        if self._open is not None and self._belongs(self._open, message, samples):
            self._open = self._open.joined(message)
            self._open_samples += samples
            return
        self.finish()
        self._open, self._open_samples = message, samples

    def _belongs(self, have: MessageRange, message: MessageRange, samples: int) -> bool:
        if message.end - have.start > RANGE_MESSAGES_MAX:
            return False
        if self._open_samples + samples > RANGE_SAMPLES_MAX:
            return False
        is_near = (
            message.first_ns <= have.last_ns + APART_NS
            and message.last_ns >= have.first_ns - APART_NS
        )
        return is_near or len(self.ranges) >= RANGES_MAX


def _messages(parts: list[RecordedSamples]) -> list[tuple[MessageRange, int]]:
    """Each message as a range, with the weight of its samples; by offset."""
    found: dict[int, tuple[MessageRange, int]] = {}
    for part in parts:
        for message, samples in _of_part(part):
            have, before = found.get(message.start, (message, 0))
            found[message.start] = have.joined(message), before + samples
    return [found[offset] for offset in sorted(found)]


def _of_part(part: RecordedSamples) -> list[tuple[MessageRange, int]]:
    starts = np.flatnonzero(np.diff(part.offsets, prepend=part.offsets[0] - 1))
    rows = zip(
        np.minimum.reduceat(part.times, starts).tolist(),
        np.maximum.reduceat(part.times, starts).tolist(),
        part.offsets[starts].tolist(),
        np.add.reduceat(part.weights(), starts).tolist(),
        strict=True,
    )
    return [(MessageRange(low, high, at, at + 1), count) for low, high, at, count in rows]
