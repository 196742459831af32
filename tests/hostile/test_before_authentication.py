"""What can be done to a broker before anyone has proved who they are."""

import pytest

from tests.hostile.siege import MIB, Siege
from tests.mqtt_bytes import variable
from tests.raw_mqtt import PINGREQ, V5, V311, Kind, properties

CONFIG = """
[limits]
connect_ms = 3000
keep_alive_s = 4
"""

CONNECT_BYTES = 16 * 1024
HUGE = b"\xff\xff\xff\x7f"
"""The largest Remaining Length there is: 256 MiB."""


def test_cve_2017_7651_a_huge_connect_is_refused_by_its_length(siege: Siege) -> None:
    peer = siege.peer()
    peer.send(bytes([Kind.CONNECT]) + HUGE)
    assert peer.closed()


def test_cve_2017_7651_a_thousand_of_them_cost_nothing(siege: Siege) -> None:
    peers = [siege.peer() for _ in range(1000)]
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


def test_nats_2026_25_thousands_of_half_connects_are_closed_in_time(siege: Siege) -> None:
    half = V5.connect("half", properties=properties(user=("k", "v" * 12_000)))[: CONNECT_BYTES // 2]
    peers = [siege.peer() for _ in range(2000)]
    for peer in peers:
        peer.send(half)
    siege.bystander.round_trip()
    assert siege.client("honest").quiet()
    siege.growth_bytes_max = 2000 * CONNECT_BYTES + 32 * MIB
    assert all(siege.drained(peer) == b"" for peer in peers)


def test_nats_2026_25_a_connect_that_drips_is_closed_as_one_that_stops(siege: Siege) -> None:
    peer = siege.peer()
    peer.socket.settimeout(0.05)
    for byte in V5.connect("drip", properties=properties(user=("k", "v" * 12_000))):
        peer.send(bytes([byte]))
        try:
            closed = peer.receive() is None
        except TimeoutError:
            siege.bystander.round_trip()
            continue
        assert closed
        return
    pytest.fail("the CONNECT took as long as it liked")


def test_cve_2020_13849_nobody_holds_a_connection_by_asking_for_the_longest_keep_alive(
    siege: Siege,
) -> None:
    asked = [(version, asked_s) for version in (V311, V5) for asked_s in (65_535, 0)]
    peers = [siege.peer(version) for version, _ in asked]
    for peer, (version, asked_s) in zip(peers, asked, strict=True):
        answer = peer.connect(f"keeper-{version.level}-{asked_s}", keep_alive_s=asked_s)
        if version is V5:
            assert answer.properties["server_keep_alive"] == (4,)
    for peer in peers:
        last = siege.drained(peer)
        assert (V5.read(last).reason == 0x8D) if peer.version is V5 else not last


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
