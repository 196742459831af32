"""Arithmetic on journal offsets. Pure: must never open a journal or import pyspark."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from slipring.errors import JournalError, JournalGap
from slipring.spark.options import Bound

# A Spark task costs more than reading this many messages.
PARTITION_MESSAGES_MIN = 65_536


@dataclass(frozen=True)
class Position:
    """How far a stream has come, in which journal: what Spark keeps in its checkpoint.

    The epoch tells whether other messages have got these offsets since; a checkpoint of an older
    Slipring has none.
    """

    journal: str
    offset: int
    epoch: int | None = None

    def to_json(self) -> dict[str, Any]:
        known = {} if self.epoch is None else {"epoch": self.epoch}
        return {"journal": self.journal, "offset": self.offset, **known}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Position":
        try:
            epoch = value.get("epoch")
            known = None if epoch is None else int(epoch)
            return cls(str(value["journal"]), int(value["offset"]), known)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise JournalError(f"{value!r} is not a position in a journal") from None


def resolve(bound: Bound, first: int, end: int) -> int:
    """The offset a starting or ending option means in a journal of [first, end)."""
    if bound == "earliest":
        return first
    if bound == "latest":
        return end
    check_within(bound, first, end)
    return bound


def check_within(offset: int, first: int, end: int, written: int = 0) -> None:
    """Raise JournalGap, with the numbers, when a stream cannot stand at `offset`.

    Up to `end` the journal is known to be on the disk; what is written may go further.
    """
    if offset < first:
        raise JournalGap(
            f"gap: offset {offset} was asked for, but the journal begins at {first}: retention has "
            f"removed {first - offset} messages; read on with startingOffset={first} and a new "
            "checkpoint, and name a consumer so that nothing unread is removed"
        )
    if end < offset <= written:
        raise JournalGap(
            f"offset {offset} was asked for, but the journal ends at {end}, as far as it is on the "
            "disk; what is behind is written, and not yet known to stay: where no broker runs, "
            "start it, and try again"
        )
    if offset > end:
        raise JournalGap(
            f"offset {offset} was asked for, but the journal ends at {end}, as far as it is on the "
            "disk: it lost messages that were read, or is an older copy; begin again with "
            f"startingOffset={end} or less and a new checkpoint"
        )


def advance(start: int, end: int, messages_max: int | None) -> int:
    """Where the next micro-batch ends."""
    return end if messages_max is None else min(end, start + messages_max)


def split(start: int, end: int, partitions: int | None, cores: int) -> list[tuple[int, int]]:
    """Cut a range into contiguous parts of nearly the same size, none empty.

    Without a wish for `partitions` there are at most `cores`, and fewer for a small range.
    """
    count = end - start
    wanted = partitions or min(cores, -(-count // PARTITION_MESSAGES_MIN))
    parts = min(wanted, count)
    if parts <= 0:
        return []
    return list(pairwise(start + count * part // parts for part in range(parts + 1)))
