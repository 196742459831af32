"""The newest values of some parameters over many frames: the inputs of a calculation."""

from collections.abc import Iterable

import numpy as np

from slipring.frames.arrays import NO_TIME, Floats, Indices, Octets, Times
from slipring.frames.frame import Frame
from slipring.frames.table import Table
from slipring.model import GOOD, Quality, Reason, Status


class Newest:
    """Arrays in the order of `names`: NaN and NO_TIME until a parameter has its first sample.

    `torque, rpm = newest.update(frame)` is what is known after a frame.
    """

    def __init__(self, names: Iterable[str] | str) -> None:
        self.names: tuple[str, ...] = (names,) if isinstance(names, str) else tuple(names)
        self.values: Floats = np.full(len(self.names), np.nan)
        self.times: Times = np.full(len(self.names), NO_TIME)
        self.qualities: Octets = np.zeros(len(self.names), np.uint8)
        self._table: Table | None = None
        self._indices: Indices = np.empty(0, np.uint32)
        self._revision = -1

    def update(self, frame: Frame) -> Floats:
        """Takes the frame's samples, and returns a copy of all values."""
        wanted = self._wanted(frame.table)
        times = frame.times(wanted)
        here = times != NO_TIME
        self.values[here] = frame.values(wanted)[here]
        self.qualities[here] = frame.qualities(wanted)[here]
        self.times[here] = times[here]
        return self.values.copy()

    @property
    def is_complete(self) -> bool:
        """Whether every parameter had a sample."""
        return bool((self.times != NO_TIME).all())

    @property
    def time_ns(self) -> int:
        """The newest source time among them."""
        return int(self.times.max(initial=NO_TIME))

    @property
    def quality(self) -> Quality:
        """Good if all are good; else the worst status, with the reason `BAD_INPUTS`."""
        worst = Status(int(self.qualities.max(initial=0)) >> 6)
        return GOOD if worst is Status.GOOD else Quality(worst, Reason.BAD_INPUTS)

    def _wanted(self, table: Table) -> Indices:
        """The indices of the names; for a name that is not there, an index that is never given."""
        if table is not self._table or table.revision != self._revision:
            absent = 0xFFFF_FFFF
            found = [table.get(name) for name in self.names]
            numbers = [absent if entry is None else entry.index for entry in found]
            self._indices = np.array(numbers, np.uint32)
            self._table, self._revision = table, table.revision
        return self._indices
