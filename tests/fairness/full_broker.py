"""A broker whose table, retained messages and streams are many, for tests of bursts."""

import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.limited_broker import ask
from tests.mqtt_bytes import properties
from tests.packets import V5
from tests.raw_mqtt import RawPeer
from tests.running_broker import RunningBroker

PARAMETERS = 190_000
PART = 60_000
"""So many of them are below `part`, the others below `many`."""
DECLARED_AT_ONCE = 2_000
RETAINED = 5_000
STREAMS = 100
FRAME = properties(content_type="application/vnd.slipring.frame")


def frame(table: int, first: int, values: bytes) -> bytes:
    """One f32 for each of the parameters from `first` on."""
    count = len(values) // 4
    ranges = varint(first) + varint(count - 1)
    ranges += bytes(-len(ranges) % 8)
    values += bytes(-len(values) % 8)
    body = ranges + values
    head = b"SRF\x01\x00" + (1).to_bytes(3, "little") + struct.pack("<IIq", table, 0, 0)
    return head + struct.pack("<BBBBIIIq", 10, 0, 0, 0, 24 + len(body), count, 1, 1) + body


def deflated(table: int, index: int, rows: int) -> bytes:
    """A frame of a few bytes: one Boolean at very many times."""
    counted = varint(index) + varint(0) + varint(rows) + bytes(rows)
    body = counted + bytes(-(24 + len(counted)) % 8) + b"\x01" * rows
    body += bytes(-(24 + len(body)) % 8)
    run = struct.pack("<BBBBIIIq", 1, 1, 0, 0, 24 + len(body), 1, 1, time.time_ns()) + body
    head = b"SRF\x01\x01" + (1).to_bytes(3, "little") + struct.pack("<IIq", table, 0, 0)
    return head + struct.pack("<II", len(run), 0) + zlib.compress(run, 9)


def varint(number: int) -> bytes:
    """Seven bits in each byte, the lowest first."""
    digits = bytearray()
    while True:
        number, digit = number >> 7, number & 0x7F
        digits.append(digit | (0x80 if number else 0))
        if not number:
            return bytes(digits)


def fill(peer: RawPeer) -> int:
    """Declare the parameters and streams, give each a value, retain messages; the table."""
    table = 0
    for first in range(0, PARAMETERS, DECLARED_AT_ONCE):
        rows = [
            {"name": f"s{number % 100}/p{number}", "type": "f32"}
            for number in range(first, first + DECLARED_AT_ONCE)
        ]
        prefix = "part" if first >= PARAMETERS - PART else "many"
        table = ask(peer, "table/declare", prefix=prefix, parameters=rows)["table"]
    for first in range(0, PARAMETERS, PARAMETERS // 4):
        values = struct.pack("<f", 1.5) * (PARAMETERS // 4)
        peer.send(V5.publish("many", frame(table, first, values), properties=FRAME))
    streams = [{"name": f"stream/{number}", "media": "audio/pcm"} for number in range(STREAMS)]
    assert "error" not in ask(peer, "streams/declare", streams=streams)
    for number in range(RETAINED):
        peer.send(V5.publish(f"kept/{number % 50}/{number}", b"x" * 64, retain=True))
    peer.settle()
    return table


@contextmanager
def full_broker(data: Path, *, config: str = "") -> Iterator[tuple[RunningBroker, int]]:
    """The broker and the number of its table; who declared stays connected."""
    file = data.with_name("full.toml")
    limits = f"[limits]\nparameters = {2 * PARAMETERS}\n"
    file.write_text(config + limits, encoding="utf-8")
    running = RunningBroker.start(data, "--config", str(file))
    try:
        with RawPeer(running.host, running.port) as owner:
            assert owner.connect("owner").reason == 0
            yield running, fill(owner)
        code, errors = running.stop()
        assert code == 0, errors
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait()
