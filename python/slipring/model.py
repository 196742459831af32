"""Value types: what travels on the bus. Standard library only; never does I/O."""

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
    """The quality it came at: the lower of the publisher's and the subscription's."""
    content_type: str | None = None
    """What the payload is, in the publisher's words, such as `application/json`."""
    response_topic: str | None = None
    """Where an answer is expected."""
    correlation_data: bytes | None = None
    """Which question an answer belongs to."""
    expiry_s: int | None = None
    """Seconds after which nobody needs it: as published, less the time it waited at the broker."""

    @property
    def text(self) -> str:
        """The payload as UTF-8 text; raises UnicodeDecodeError where it is not."""
        return self.payload.decode()
