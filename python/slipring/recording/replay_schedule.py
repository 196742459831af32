"""When a recorded message is due again. Pure: every method takes the time.

All times count from the beginning of the replay, so that a message sent late delays no later one.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

EARLIEST_NS = -(1 << 63)


def due_times(receive_ns: pa.Array, not_before_ns: int = EARLIEST_NS) -> Sequence[int]:
    """The recorded time at which each message is due; never before the message in front of it.

    The order is the journal's. If the broker's clock was set back, the messages received then are
    due at once.
    """
    due = pc.cumulative_max(receive_ns, start=not_before_ns)
    return memoryview(due.buffers()[1]).cast("q")[due.offset : due.offset + len(due)]


@dataclass(frozen=True)
class ReplaySchedule:
    """Maps recorded time to the monotonic clock, `speed` times as fast; None is without waiting."""

    first_ns: int
    """The recorded time that is due at the beginning."""
    began_ns: int
    speed: float | None

    def at_ns(self, due_ns: int) -> int:
        """The monotonic time of a recorded time."""
        if self.speed is None:
            return self.began_ns
        return self.began_ns + round((due_ns - self.first_ns) / self.speed)

    def ready(self, due: Sequence[int], start: int, now_ns: int) -> int:
        """The end of the messages that are due, from `start` on."""
        if self.speed is None:
            return len(due)
        return bisect_right(due, now_ns, lo=start, key=self.at_ns)

    def wait_ns(self, due_ns: int, now_ns: int) -> int:
        """How long until a message is due; 0 if it is late."""
        return max(0, self.at_ns(due_ns) - now_ns)

    def again(self, end_ns: int) -> "ReplaySchedule":
        """The schedule of another pass, which begins when this one reaches `end_ns`."""
        return ReplaySchedule(self.first_ns, self.at_ns(end_ns), self.speed)
