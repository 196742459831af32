"""How much one reading may cost: bytes, and time. Whoever reads asks before each piece of work."""

import time
from dataclasses import dataclass, field

BYTES_MAX = 1 << 30
"""Of the journal, for one question."""
SECONDS_MAX = 3.0
"""What has not been read by then is left out, and the answer says so."""


@dataclass
class ReadBudget:
    """What is left of the bytes and the time of one question."""

    bytes_left: int = BYTES_MAX
    seconds: float = SECONDS_MAX
    _began_s: float = field(default_factory=time.monotonic)

    @property
    def is_spent(self) -> bool:
        """Whether no further piece of work may begin."""
        return self.bytes_left <= 0 or time.monotonic() - self._began_s >= self.seconds

    def spend(self, count: int) -> None:
        """Note that so many bytes are read."""
        self.bytes_left -= count
