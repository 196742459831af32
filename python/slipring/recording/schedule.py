"""When a recorded message is due again. Pure: every method is told what time it is.

One clock and one beginning serve a whole replay, so a message that is sent late makes none after
it late.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

EARLIEST_NS = -(1 << 63)


def due_times(receive_ns: pa.Array, not_before_ns: int = EARLIEST_NS) -> Sequence[int]:
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
    began_ns: int
    speed: float | None

    def at_ns(self, due_ns: int) -> int:
        """When a recorded time comes, on the monotonic clock."""
        if self.speed is None:
            return self.began_ns
        return self.began_ns + round((due_ns - self.first_ns) / self.speed)

    def ready(self, due: Sequence[int], start: int, now_ns: int) -> int:
        """The index behind the last message that is due, counted on from `start`."""
        if self.speed is None:
            return len(due)
        return bisect_right(due, now_ns, lo=start, key=self.at_ns)

    def wait_ns(self, due_ns: int, now_ns: int) -> int:
        """How long until a message is due; 0 where it is late."""
        return max(0, self.at_ns(due_ns) - now_ns)

    def again(self, end_ns: int) -> "Schedule":
        """The schedule of another pass, begun when this one reaches `end_ns`."""
        return Schedule(self.first_ns, self.at_ns(end_ns), self.speed)
