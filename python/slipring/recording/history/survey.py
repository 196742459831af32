"""What an export by time must know first: where which times are. One look at a journal. Pure."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from slipring.recording.history.chosen import Chosen
from slipring.recording.history.samples import Samples
from slipring.recording.history.sweep import Stretch

STRETCH_MESSAGES_MAX = 4096
STRETCH_SAMPLES_MAX = 1_000_000
"""Numbers; a long text counts as several."""
APART_NS = 60_000_000_000
"""Messages whose times are further apart are different stretches: history beside what is live."""
STRETCHES_MAX = 250_000
"""From here on they are not kept apart, so that a strange journal does not fill the memory."""


@dataclass
class Survey:
    """Grows message by message."""

    chosen: Chosen
    stretches: list[Stretch] = field(default_factory=list)
    samples: int = 0
    not_good: npt.NDArray[np.bool_] = field(init=False)
    """Which columns have a sample that is not good."""
    _open: Stretch | None = None
    _open_samples: int = 0

    def __post_init__(self) -> None:
        self.not_good = np.zeros(len(self.chosen), np.bool_)

    @property
    def first_ns(self) -> int:
        """The earliest source time; there is one."""
        return min(stretch.first_ns for stretch in self.stretches)

    @property
    def last_ns(self) -> int:
        """The latest source time; there is one."""
        return max(stretch.last_ns for stretch in self.stretches)

    def add(self, parts: list[Samples]) -> None:
        """Look at samples of messages behind all before."""
        for part in parts:
            flawed = part.indices[part.qualities != 0]
            if len(flawed):
                self.not_good[self.chosen.places(flawed)] = True
            self.samples += len(part)
        for stretch, samples in _messages(parts):
            self._extend(stretch, samples)

    def finish(self) -> None:
        """There are no more messages."""
        if self._open is not None:
            self.stretches.append(self._open)
            self._open = None

    def _extend(self, one: Stretch, samples: int) -> None:
        have = self._open
        if have is not None and self._belongs(have, one, samples):
            first_ns, last_ns = min(have.first_ns, one.first_ns), max(have.last_ns, one.last_ns)
            self._open = Stretch(first_ns, last_ns, have.start, one.end)
            self._open_samples += samples
            return
        self.finish()
        self._open, self._open_samples = one, samples

    def _belongs(self, have: Stretch, one: Stretch, samples: int) -> bool:
        if one.end - have.start > STRETCH_MESSAGES_MAX:
            return False
        if self._open_samples + samples > STRETCH_SAMPLES_MAX:
            return False
        is_near = (
            one.first_ns <= have.last_ns + APART_NS and one.last_ns >= have.first_ns - APART_NS
        )
        return is_near or len(self.stretches) >= STRETCHES_MAX


def _messages(parts: list[Samples]) -> list[tuple[Stretch, int]]:
    """Each message as a stretch, with the weight of its samples; in order."""
    found: dict[int, tuple[Stretch, int]] = {}
    for part in parts:
        for one, samples in _of_part(part):
            have, before = found.get(one.start, (one, 0))
            first_ns, last_ns = min(have.first_ns, one.first_ns), max(have.last_ns, one.last_ns)
            found[one.start] = Stretch(first_ns, last_ns, one.start, one.end), before + samples
    return [found[offset] for offset in sorted(found)]


def _of_part(part: Samples) -> list[tuple[Stretch, int]]:
    starts = np.flatnonzero(np.diff(part.offsets, prepend=part.offsets[0] - 1))
    rows = zip(
        np.minimum.reduceat(part.times, starts).tolist(),
        np.maximum.reduceat(part.times, starts).tolist(),
        part.offsets[starts].tolist(),
        np.add.reduceat(part.weights(), starts).tolist(),
        strict=True,
    )
    return [(Stretch(low, high, at, at + 1), count) for low, high, at, count in rows]
