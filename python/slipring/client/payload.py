"""From a Python value to the bytes of a message. Never guesses: other types are refused."""

from typing import Any, Protocol

TYPES = "bytes, str, int, float or bool"


class _Scalar(Protocol):
    """A numpy number."""

    @property
    def ndim(self) -> int:
        """0; an array has more."""

    def item(self) -> Any:
        """The same as a Python number."""


Value = bytes | bytearray | memoryview | str | int | float | bool | _Scalar


def encode(value: Value) -> bytes:
    """Bytes as they are; text as UTF-8; numbers as Python prints them; true and false.

    A float is printed with the fewest digits that give the same float back.
    """
    if isinstance(value, float):
        return float.__repr__(value).encode()
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, int):
        return int.__repr__(value).encode()
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if getattr(value, "ndim", None) == 0:
        return encode(value.item())
    raise TypeError(f"cannot publish a {type(value).__name__}; give {TYPES}, or json.dumps() of it")
