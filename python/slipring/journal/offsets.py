"""Arithmetic on journal offsets. Pure: must never open a journal."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from slipring.errors import JournalError, JournalGap

OffsetBound = int | Literal["earliest", "latest"]
"""An end of a range: an offset, or wherever the journal begins or ends."""

# A Spark task costs more than reading this many messages.
PARTITION_MESSAGES_MIN = 65_536


@dataclass(frozen=True)
class JournalPosition:
    """How far a stream has read, and in which journal. Spark keeps it in its checkpoint.

    The epoch tells whether these offsets have been given to other messages since. A checkpoint of
    an older Slipring has no epoch.
    """

    journal: str
    offset: int
    epoch: int | None = None

    def to_json(self) -> dict[str, Any]:
        known = {} if self.epoch is None else {"epoch": self.epoch}
        return {"journal": self.journal, "offset": self.offset, **known}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "JournalPosition":
        try:
            epoch = value.get("epoch")
            known = None if epoch is None else int(epoch)
            return cls(str(value["journal"]), int(value["offset"]), known)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise JournalError(f"{value!r} is not a position in a journal") from None


def resolve(bound: OffsetBound, first: int, end: int) -> int:
    """The offset that a bound means in a journal of the offsets [first, end)."""
    if bound == "earliest":
        return first
    if bound == "latest":
        return end
    check_within(bound, first, end)
    return bound


def check_within(offset: int, first: int, end: int, written: int = 0) -> None:
    """Raise JournalGap, with the numbers, when a stream cannot continue at `offset`.

    The journal is on the disk up to `end`, and written up to `written`, which may be further.
    """
    if offset < first:
        raise JournalGap(
            f"gap: offset {offset} was asked for, but the journal begins at {first}: retention has "
            f"removed {first - offset} messages; read on with startingOffset={first} and a new "
            "checkpoint, and name a consumer so that nothing unread is removed"
        )
    if end < offset <= written:
        raise JournalGap(
            f"offset {offset} was asked for, but the journal is synced up to {end} only; the rest "
            "is written, but not synced yet: try again, and start the broker if none is running"
        )
    if offset > end:
        raise JournalGap(
            f"offset {offset} was asked for, but the journal is synced up to {end} only: it lost "
            f"messages that were read, or is an older copy; begin again with startingOffset={end} "
            "or less and a new checkpoint"
        )


def advance(start: int, end: int, messages_max: int | None) -> int:
    """The offset at which the next micro-batch ends."""
    return end if messages_max is None else min(end, start + messages_max)


def split(start: int, end: int, partitions: int | None, cores: int) -> list[tuple[int, int]]:
    """Cut a range into contiguous parts of nearly the same size, none empty.

    Unless `partitions` says how many, there are at most `cores`, and fewer for a small range.
    """
    count = end - start
    wanted = partitions or min(cores, -(-count // PARTITION_MESSAGES_MIN))
    parts = min(wanted, count)
    if parts <= 0:
        return []
    return list(pairwise(start + count * part // parts for part in range(parts + 1)))
