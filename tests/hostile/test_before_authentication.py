"""What can be done to a broker before anyone has proved who they are."""

import pytest

from tests.hostile.siege import Siege
from tests.mqtt_bytes import variable
from tests.raw_mqtt import PINGREQ, V5, V311, Kind, properties

CONNECT_BYTES = 16 * 1024
HUGE = b"\xff\xff\xff\x7f"
"""The largest Remaining Length there is: 256 MiB."""


def test_cve_2017_7651_a_huge_connect_is_refused_by_its_length(siege: Siege) -> None:
    peer = siege.peer()
    peer.send(bytes([Kind.CONNECT]) + HUGE)
    assert peer.closed()


def test_cve_2017_7651_a_crowd_of_them_costs_nothing(siege: Siege) -> None:
    siege.growth_bytes_max += siege.transport.crowd * siege.transport.connection_bytes
    peers = [siege.peer() for _ in range(siege.transport.crowd // 2)]
    for peer in peers:
        peer.send(bytes([Kind.CONNECT]) + HUGE + bytes(1000))
    siege.bystander.round_trip()
    assert all(peer.drain() == b"" for peer in peers)


def test_cve_2023_0809_a_large_first_packet_that_is_not_connect_is_not_awaited(
    siege: Siege,
) -> None:
    for kind in Kind:
        peer = siege.peer()
        if kind is not Kind.CONNECT:
            peer.send(bytes([kind]) + HUGE + bytes(64 * 1024))
            assert peer.drain() == b""


@pytest.mark.parametrize("packet", [PINGREQ, V5.disconnect(), V5.puback(1), V5.auth(0x18)])
def test_cve_2021_28166_anything_before_connect_closes(siege: Siege, packet: bytes) -> None:
    peer = siege.peer()
    peer.send(packet)
    assert peer.drain() == b""


def test_cve_2021_33175_a_connect_made_to_take_memory_is_refused(siege: Siege) -> None:
    many = properties(user=("", "")) * 3_000
    for connect, reason in (
        (V5.connect("x" * 16_000), 0x85),
        (V5.connect("x", properties=many), 0x97),
        (V5.connect("x", password=bytes(60_000)), None),
    ):
        peer = siege.peer()
        peer.send(connect)
        answer = peer.receive()
        assert (answer and answer.reason) == reason
        assert answer is None or peer.closed()


def test_cve_2026_21888_a_connect_with_a_five_byte_length_is_refused(siege: Siege) -> None:
    peer = siege.peer()
    peer.send(bytes([Kind.CONNECT]) + b"\xff\xff\xff\xff\x01")
    assert peer.drain() == b""


def test_cve_2026_21888_a_length_longer_than_needed_is_refused(siege: Siege) -> None:
    connect = V311.connect("padded")
    peer = siege.peer(V311)
    peer.send(connect[:1] + bytes([connect[1] | 0x80, 0x00]) + connect[2:])
    assert peer.drain() == b""


def test_a_connect_at_the_limit_is_taken(siege: Siege) -> None:
    padding = CONNECT_BYTES - len(V5.connect("edge", properties=properties(user=("k", ""))))
    peer = siege.peer()
    longer = len(variable(CONNECT_BYTES)) - 1
    text = "v" * (padding - 2 * longer)
    assert peer.connect("edge", properties=properties(user=("k", text))).reason == 0
