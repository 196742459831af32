"""Messages, and changes of a connection, as values. Never does I/O."""

from typing import NamedTuple


class Message(NamedTuple):
    """A message as it arrived.

    A tuple rather than a dataclass: one is made for every message received, and a frozen
    dataclass takes several times as long to make.
    """

    topic: str
    payload: bytes
    retain: bool = False
    """Whether the broker had kept it from before the subscription."""
    properties: tuple[tuple[str, str], ...] = ()
    """User properties in the publisher's order; a name may come twice."""
    qos: int = 0
    """The QoS it came at: the lower of the publisher's and the subscription's."""
    content_type: str | None = None
    """What the payload is, in the publisher's words, such as `application/json`."""
    response_topic: str | None = None
    """The topic on which the publisher expects a response."""
    correlation_data: bytes | None = None
    """Which request a response belongs to."""
    expiry_s: int | None = None
    """Seconds until it expires: as published, less the time it waited at the broker."""

    @property
    def text(self) -> str:
        """The payload as UTF-8 text; raises UnicodeDecodeError if it is not."""
        return self.payload.decode()


class ConnectionChange(NamedTuple):
    """A connection that was lost, could not be made again, or was made again."""

    connected: bool
    cause: str | None = None
    """Why there is no connection."""
    retry_s: float | None = None
    """Seconds until the next try; None if there will be none."""
    unsent_bytes: int = 0
    """Bytes accepted at QoS 0 that were not sent and never will be."""
    session_present: bool = False
    """Whether the broker had kept the session; if not, messages of the meantime are missing."""
