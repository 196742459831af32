"""What a broker grants a connection, how a connection ends, and what hears of both. Values only."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol


@dataclass(slots=True)
class ConnectionEnd:
    """How a connection ended."""

    cause: str | None
    """Why it was lost; None if this client closed it."""
    unsent_bytes: int


class GrantedTerms(NamedTuple):
    """What the broker granted when it accepted the connection."""

    client_id: str
    session_present: bool
    session_expiry_s: int


class Readable(Protocol):
    """What is set when there are messages to take for a subscription; `asyncio.Event` is one."""

    def set(self) -> None:
        """There are messages, or the connection is over."""


class SessionFollower(Protocol):
    """What belongs to one session at the broker."""

    def end_session(self, cause: str, last: int) -> None:
        """The broker ends the session of connection `last`, and what belongs to earlier ones.

        What came or went on a later connection goes on. This may be told twice.
        """
