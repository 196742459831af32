"""How a Python value becomes the bytes of a message. Never guesses: other types are refused."""

TYPES = "bytes, str, int, float or bool"

Value = bytes | bytearray | memoryview | str | int | float | bool


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
    raise TypeError(f"cannot publish a {type(value).__name__}; give {TYPES}")
