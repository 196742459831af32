"""The answer to a request, as a value. Never does I/O."""

from typing import NamedTuple


class Answer(NamedTuple):
    """What a service answered: the final answer, or a part before it."""

    payload: bytes
    content_type: str | None = None
    """What the payload is, in the service's words, such as `application/json`."""
    properties: tuple[tuple[str, str], ...] = ()
    """The service's user properties, in its order; a name may come twice."""
    is_part: bool = False
    """Whether more follows: other parts, or the final answer."""

    @property
    def text(self) -> str:
        """The payload as UTF-8 text; raises UnicodeDecodeError if it is not."""
        return self.payload.decode()
