"""Damage in the middle of the journal is found and named, and the rest is served (D1)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.stage import Stage, messages
from tests.faults.station import Station

COUNT = 200
SIZE = 2_000


@pytest.fixture
def ended(station: Station) -> Iterator[Stage]:
    """A session with messages in several segments; the broker was ended."""
    stage = Stage(station, station.start())
    stage.away("reader", ("damaged/#", 1))
    peer = stage.client("writer")
    for number in range(COUNT):
        content = str(number).encode().ljust(SIZE, b".")
        peer.send(peer.version.publish("damaged/x", content, qos=1, packet_id=number + 1))
    for _ in range(COUNT):
        assert peer.packet().reason < 0x80
    stage.peers.close()
    assert stage.broker.stop()[0] == 0
    yield stage
    stage.peers.close()


def middle_segment(station: Station) -> Path:
    segments = sorted(station.journal.glob("*.seg"))
    assert len(segments) > 3
    return segments[len(segments) // 2]


def flip_a_bit(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0x10
    file.write_bytes(content)


def cut_off_the_end(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slipring", "journal", "check", str(folder), "--json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("damage", [flip_a_bit, cut_off_the_end])
def test_it_is_named_and_the_rest_is_served(ended: Stage, damage: object) -> None:
    assert callable(damage)
    file = middle_segment(ended.station)
    damage(file)
    checked = check(ended.station.disk.folder)
    assert checked.returncode == 1
    assert {one["segment"] for one in json.loads(checked.stdout)["damage"]} == {file.stem}
    ended.broker = ended.station.start()
    reader = ended.back("reader")
    ended.publish("damaged/x", b"end")
    got = []
    while b"end" not in got:
        got += [one.payload.rstrip(b".") for one in messages(reader, 1)]
    numbers = [int(one) for one in got[:-1]]
    assert numbers == sorted(numbers)
    assert COUNT // 2 < len(numbers) < COUNT
    assert set(range(10)) | set(range(COUNT - 10, COUNT)) <= set(numbers)
    ended.peers.close()
    _, errors = ended.broker.stop()
    assert file.stem in errors, errors
