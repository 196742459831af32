"""Pictures of the console: of each page that there is, small enough, in the sizes they say."""

import struct
from pathlib import Path

import pytest

from scripts import screenshots
from tests.running_broker import RunningBroker


def size_of(png: bytes) -> tuple[int, ...]:
    """Width and height, from the head of the file."""
    return struct.unpack(">II", png[16:24])


def test_a_page_is_taken_in_each_size_and_theme(
    shared_broker: RunningBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = screenshots.take(shared_broker.console, tmp_path, ("broker", "to-come"))
    assert [file.name for file in taken] == [
        f"console-broker-{size}-{theme}.png"
        for size in ("desktop", "phone")
        for theme in ("dark", "light")
    ]
    pictures = [file.read_bytes() for file in taken]
    assert [size_of(one) for one in pictures] == 2 * [(1280, 800)] + 2 * [(390, 844)]
    assert len(set(pictures)) == 4, "dark differs from light"
    assert all(len(one) < screenshots.BYTES_MAX for one in pictures)
    assert "to-come: the console has no such page yet" in capsys.readouterr().out


def test_the_demo_says_where_its_console_is() -> None:
    for line in ("slipring ready mqtt=127.0.0.1:1 console=http://127.0.0.1:8080",
                 "console   http://127.0.0.1:8080"):  # fmt: skip
        found = screenshots.READY.search(line)
        assert found, line
        assert found[1] == "http://127.0.0.1:8080"
