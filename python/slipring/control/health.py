"""What is wrong with a broker, and what to do about it. Pure."""

from dataclasses import dataclass
from typing import Literal

from slipring.status.engine import JournalStatus


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why QoS 1 and 2 messages are not acknowledged, or no client is served."""

    state: Literal["failed", "full", "silent"]
    reason: str
    advice: str

    def __str__(self) -> str:
        """Reason and advice in one line."""
        return f"{self.reason}; {self.advice}"


FAILED = (
    "no QoS 1 or 2 message is acknowledged any more: check the disk, then restart the broker; its "
    "log says what it has kept"
)
FULL = (
    "QoS 1 and 2 messages are refused (0x97) until there is room, then it goes on by itself: "
    "free some space, raise journal.bytes_max, or let journal.retain_bytes remove more"
)
SILENT = "clients wait: look at what the busiest of them do; restart the broker if it stays so"
SILENT_S = 1.0
"""After so long without an answer the engine is not ready."""


def silent(silence_s: float) -> Trouble | None:
    """Report an engine that has not answered for too long."""
    if silence_s < SILENT_S:
        return None
    return Trouble("silent", f"it has not answered for {silence_s:.1f} s", SILENT)


def trouble(journal: JournalStatus | None) -> Trouble | None:
    """Report what is wrong with the journal, if anything is."""
    if journal is None:
        return None
    if journal["failure"]:
        return Trouble("failed", journal["failure"], FAILED)
    if journal["no_space"]:
        return Trouble("full", f"no room for more: {journal['no_space']}", FULL)
    return None
