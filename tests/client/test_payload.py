"""The rule for payloads, and what importing costs."""

import enum
import subprocess
import sys

import pytest

from slipring.client.payload import Value, encode


class Gear(enum.IntEnum):
    DOWN = 1


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        (b"\x00\xff", b"\x00\xff"),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"ab"), b"ab"),
        ("grün", "grün".encode()),
        (12034.5, b"12034.5"),
        (0.1, b"0.1"),
        (-7, b"-7"),
        (Gear.DOWN, b"1"),
        (True, b"true"),
        (False, b"false"),
    ],
)
def test_a_value_becomes_bytes_by_one_rule(value: Value, payload: bytes) -> None:
    assert encode(value) == payload


def test_other_types_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match="cannot publish a dict; give bytes, str"):
        encode({})  # type: ignore[arg-type]


def test_importing_slipring_is_light() -> None:
    code = "import sys, slipring; print([m for m in ('pydantic', 'pyarrow', 'typer') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
