"""What is shown of a payload."""

import pytest

from slipring.console.picture import TEXT_SHOWN, as_text


@pytest.mark.parametrize(
    ("payload", "whole", "text"),
    [
        (b"12034.5", True, "12034.5"),
        (b"", True, ""),
        ("grön".encode(), True, "grön"),
        (b"\xff\x00", True, None),
        ("ö".encode()[:1], True, None),
        (b"cut " + "ö".encode()[:1], False, "cut "),
    ],
)
def test_text_is_shown_and_bytes_are_not(payload: bytes, whole: bool, text: str | None) -> None:
    assert as_text(payload, whole=whole) == text


def test_a_long_text_is_cut() -> None:
    assert as_text(b"x" * 1000, whole=True) == "x" * TEXT_SHOWN
