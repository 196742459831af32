"""How far the broker's clock is from this machine's, as far as this client knows."""

import time


class Clock:
    """The broker's clock, seen from here. Zero until it has been measured."""

    __slots__ = ("offset_ns",)

    def __init__(self) -> None:
        self.offset_ns = 0
        """The broker's clock minus this machine's."""

    def now_ns(self) -> int:
        """The time at the broker."""
        return time.time_ns() + self.offset_ns
