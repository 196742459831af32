"""A client that repeats some packets as fast as the broker takes them, in a thread of its own."""

import json
import selectors
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.mqtt_bytes import properties
from tests.packets import V5
from tests.raw_mqtt import RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

BLOB_BYTES = 512 << 10
"""Packets that are written together, about."""
LOOK_S = 0.01


@dataclass
class Flood:
    """What was sent and read so far."""

    sent_bytes: int = 0
    read_bytes: int = 0
    has_ended: bool = False
    """The broker closed the connection."""


def question(topic: str, body: object, *, qos: int = 0, packet_id: int | None = None) -> bytes:
    """A request to `$slipring/`."""
    where = properties(response_topic="answer")
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    return V5.publish(f"$slipring/{topic}", payload, qos=qos, packet_id=packet_id, properties=where)


def repeated(*packets: bytes) -> bytes:
    """These packets again and again, hundreds of kilobytes."""
    once = b"".join(packets)
    return once * max(1, BLOB_BYTES // len(once))


def _step(peer: socket.socket, blob: bytes, reads: bool, flood: Flood) -> None:
    if reads:
        with suppress(BlockingIOError):
            data = peer.recv(1 << 20)
            flood.read_bytes += len(data)
            flood.has_ended |= not data
    offset = flood.sent_bytes % len(blob)
    with suppress(BlockingIOError):
        flood.sent_bytes += peer.send(memoryview(blob)[offset:])


def _run(
    peer: socket.socket, blob: bytes, reads: bool, flood: Flood, stop: threading.Event
) -> None:
    wanted = selectors.EVENT_WRITE | (selectors.EVENT_READ if reads else 0)
    with selectors.DefaultSelector() as selector:
        selector.register(peer, wanted)
        while not stop.is_set() and not flood.has_ended:
            if selector.select(LOOK_S):
                try:
                    _step(peer, blob, reads, flood)
                except (BrokenPipeError, ConnectionResetError):
                    flood.has_ended = True


@contextmanager
def flooded(
    broker: RunningBroker, blob: bytes, *, reads: bool = True, first: bytes = b""
) -> Iterator[Flood]:
    """A broker to which somebody sends these packets again and again; `first` once before."""
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("flood").reason == 0
        peer.send(first)
        peer.settle()
        peer.socket.setblocking(False)
        flood, stop = Flood(), threading.Event()
        thread = threading.Thread(target=_run, args=(peer.socket, blob, reads, flood, stop))
        thread.start()
        try:
            yield flood
        finally:
            stop.set()
            thread.join(PATIENCE_S)
