"""When a recorded message is due again. Pure: every method is told what time it is.

One clock and one beginning serve a whole replay, so a message that is sent late makes none after
it late.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

FOR_EVER_NS = (1 << 63) - 1
EARLIEST_NS = -(1 << 63)


def due_times(receive_ns: pa.Array, not_before_ns: int = EARLIEST_NS) -> memoryview:
    """The recorded time at which each message is due; never before the one in front of it.

    The order is the journal's. Where the clock of the broker was set back, what came then is due
    at once.
    """
    due = pc.cumulative_max(receive_ns, start=not_before_ns)
    return memoryview(due.buffers()[1]).cast("q")[due.offset : due.offset + len(due)]


@dataclass(frozen=True)
class Schedule:
    """Recorded time against the monotonic clock, `speed` times as fast; None is at once."""

    first_ns: int
    """The recorded time that is due at the beginning."""
    began_s: float
    speed: float | None

    def reached_ns(self, now_s: float) -> int:
        """The recorded time that has come."""
        if self.speed is None:
            return FOR_EVER_NS
        return self.first_ns + int((now_s - self.began_s) * self.speed * 1e9)

    def at_s(self, due_ns: int) -> float:
        """When a recorded time comes."""
        if self.speed is None:
            return self.began_s
        return self.began_s + (due_ns - self.first_ns) / (self.speed * 1e9)

    def ready(self, due: Sequence[int], start: int, now_s: float) -> int:
        """The index behind the last message that is due, counted on from `start`."""
        return bisect_right(due, self.reached_ns(now_s), lo=start)

    def wait_s(self, due_ns: int, now_s: float) -> float:
        """How long until a message is due; 0 where it is late."""
        return max(0.0, self.at_s(due_ns) - now_s)

    def again(self, end_ns: int) -> "Schedule":
        """The schedule of another pass, begun when this one reaches `end_ns`."""
        return Schedule(self.first_ns, self.at_s(end_ns), self.speed)
