"""What only a WebSocket can bring: frames that lie, compressed bombs, requests that never end."""

import zlib
from collections.abc import Iterator

import pytest

from tests.hostile.siege import Siege, laid_to
from tests.hostile.transports import (
    TRANSPORTS,
    StreamPeer,
    WebSocketStream,
    connected,
    open_websocket,
)
from tests.raw_mqtt import V5, Kind
from tests.running_broker import RunningBroker

CONFIG = """
[limits]
connect_ms = 6000
"""

DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
FINAL_BINARY, COMPRESSED, PING, TEXT = 0x82, 0xC2, 0x89, 0x81


@pytest.fixture
def siege(fortress: RunningBroker) -> Iterator[Siege]:
    """A siege by WebSocket."""
    with laid_to(fortress, TRANSPORTS[2]) as begun:
        yield begun


def ended(stream: WebSocketStream) -> bool:
    """Whether the broker closes, with or without a close frame, and says nothing of MQTT."""
    try:
        return stream.recv(1) == b""
    except ConnectionResetError:
        return True
    finally:
        stream.close()


def test_cve_2026_67232_compression_is_not_agreed_to(siege: Siege) -> None:
    stream = WebSocketStream(connected(siege.broker, "web"))
    head = stream.greet(siege.broker.further["web"], DEFLATE).lower()
    assert b" 101 " in head
    assert b"permessage-deflate" not in head
    stream.close()


def test_cve_2026_67232_a_compressed_bomb_ends_its_connection(siege: Siege) -> None:
    bomb = zlib.compress(bytes(50 << 20))
    for _ in range(20):
        stream = open_websocket(siege.broker)
        stream.inner.sendall(stream.frame(bomb, COMPRESSED))
        assert ended(stream)


def test_cve_2026_25627_a_frame_shorter_than_its_packet_waits_for_the_rest(siege: Siege) -> None:
    stream = open_websocket(siege.broker)
    connect = V5.connect("pieces")
    for byte in connect:
        stream.sendall(bytes([byte]))
    peer = StreamPeer(stream, V5)
    assert peer.packet().reason == 0
    stream.sendall(bytes([Kind.PUBLISH, 100]) + b"\x00\x01a")
    stream.close()


def test_cve_2026_25627_a_frame_that_claims_more_than_it_has_is_not_awaited_for_ever(
    siege: Siege,
) -> None:
    streams = []
    for claimed in (125, 65_535, 1 << 40, (1 << 63) - 1):
        streams.append(open_websocket(siege.broker))
        streams[-1].inner.sendall(streams[-1].frame(b"\x10\x0e", length=claimed))
    assert all(ended(stream) for stream in streams)


@pytest.mark.parametrize("first", [0x83, 0x8B, 0xF2, 0x80, TEXT], ids=hex)
def test_a_frame_of_a_kind_that_does_not_exist_ends_the_connection(
    siege: Siege, first: int
) -> None:
    stream = open_websocket(siege.broker)
    stream.inner.sendall(stream.frame(V5.connect("kind"), first))
    assert ended(stream)


def test_a_frame_without_a_mask_ends_the_connection(siege: Siege) -> None:
    stream = open_websocket(siege.broker)
    connect = V5.connect("bare")
    stream.inner.sendall(bytes([FINAL_BINARY, len(connect)]) + connect)
    assert ended(stream)


def test_pings_without_end_are_answered_or_end_and_grow_nothing(siege: Siege) -> None:
    stream = open_websocket(siege.broker)
    try:
        stream.inner.sendall(stream.frame(bytes(125), PING) * 20_000)
    except (BrokenPipeError, ConnectionResetError, TimeoutError):
        assert siege.is_alive()
    stream.close()


@pytest.mark.parametrize(
    "request_", [b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000, b"GET " + b"/" * 100_000, b"G"]
)
def test_a_request_without_end_is_closed(siege: Siege, request_: bytes) -> None:
    stream = connected(siege.broker, "web")
    try:
        stream.sendall(request_)
        while stream.recv(4096):
            pass
    except (BrokenPipeError, ConnectionResetError):
        assert siege.is_alive()
    stream.close()
