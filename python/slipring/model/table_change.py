"""What the broker tells about its table, and about what it did not take."""

from dataclasses import dataclass
from typing import NamedTuple


class TableChange(NamedTuple):
    """Parameters that were added, removed or changed, went stale or are fresh again."""

    event: str
    """`added`, `removed`, `changed`, `stale` or `fresh`; `replaced` where it is another table."""
    names: tuple[str, ...]
    """The parameters it is about; none where all of them are."""
    revision: int
    """The table's revision after it."""
    why: str | None = None
    """The reason, where the broker gives one: the publisher is gone, it is silent."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Frames or samples of this client that the broker did not take."""

    topic: str
    error: str
    """What it was, as a code."""
    message: str
    """What it was, for a person."""
    count: int
    """How many since the last one was told."""
