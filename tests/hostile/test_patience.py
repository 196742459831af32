"""How long a broker waits: for a CONNECT, and for a sign of life."""

import pytest

from tests.hostile.siege import MIB, Siege
from tests.raw_mqtt import V5, V311, properties

CONFIG = """
[limits]
connect_ms = 6000
keep_alive_s = 4
"""

CONNECT_BYTES = 16 * 1024
ASKED_S = (65_535, 0)


def test_nats_2026_25_thousands_of_half_connects_are_closed_in_time(siege: Siege) -> None:
    half = V5.connect("half", properties=properties(user=("k", "v" * 12_000)))[: CONNECT_BYTES // 2]
    count, cost = siege.transport.crowd, siege.transport.connection_bytes
    peers = []
    for _ in siege.meanwhile(range(count)):
        peers.append(siege.peer())
        peers[-1].send(half)
    assert siege.client("honest").quiet()
    siege.growth_bytes_max = count * (CONNECT_BYTES + cost) + 32 * MIB
    assert all(siege.drained(peer) == b"" for peer in siege.meanwhile(peers))


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
    """MQTT 5 is told another. MQTT 3.1.1 has no word for that: 0 is never (MQTT-3.1.2-24), and what
    bounds such clients is how many there may be.
    """
    old, peers = [], []
    for asked_s in ASKED_S:
        old.append(siege.client(f"keeper-4-{asked_s}", V311, keep_alive_s=asked_s))
        siege.bystander.round_trip()
        peers.append(siege.peer(V5))
        answer = peers[-1].connect(f"keeper-5-{asked_s}", keep_alive_s=asked_s)
        assert answer.properties["server_keep_alive"] == (4,)
        siege.bystander.round_trip()
    assert [V5.read(siege.drained(peer)).reason for peer in peers] == [0x8D, 0x8D]
    assert all(peer.quiet() for peer in old), "they are there longer than those of MQTT 5"
