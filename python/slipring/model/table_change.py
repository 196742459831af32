"""Changes of the broker's table, and what the broker refused."""

from dataclasses import dataclass
from typing import NamedTuple


class TableChange(NamedTuple):
    """Parameters that were added, removed or changed, went stale or are fresh again."""

    event: str
    """`added`, `removed`, `changed`, `stale` or `fresh`; `replaced` if it is another table."""
    names: tuple[str, ...]
    """The parameters it is about; none for all of them."""
    revision: int
    """The table's revision after it."""
    why: str | None = None
    """The reason, if the broker gives one: the publisher is gone, or it is silent."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Frames or samples of this client that the broker refused."""

    topic: str
    error: str
    """The reason, as a code."""
    message: str
    """The reason, for a person."""
    count: int
    """How many were refused since the last report."""
