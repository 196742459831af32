"""Every request and every kind of packet in a burst: others are served, memory stays bounded."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fairness.bystander import MIB, bystander
from tests.fairness.flood import flooded, question, repeated
from tests.fairness.full_broker import full_broker
from tests.fairness.packets_of_all_kinds import ENDING, PACKETS, QUESTIONS, kinds, known_requests
from tests.packets import Kind
from tests.raw_mqtt import RawPeer
from tests.running_broker import RunningBroker

GROWN_BYTES_MAX = 48 * MIB
"""Far above what one connection may hold, and far below what a burst asks for."""
COMPARED_BYTES_MAX = 128 * MIB
"""What a group that compares many parameters may take beside that, see `limits.selection_bytes`."""
NO_SNAPSHOT = f"[journal]\nsegment_bytes = {1 << 30}\n"
"""While a snapshot is made, all parameters are in memory once more: that is no client's doing."""
ENDED = 50
"""Connections that end at once, in a row."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """One broker for all bursts."""
    data = tmp_path_factory.mktemp("full") / "data"
    with full_broker(data, config=NO_SNAPSHOT) as (running, _):
        yield running


def peak_begins(broker: RunningBroker) -> None:
    """The highest memory of a process is counted from now on."""
    Path(f"/proc/{broker.process.pid}/clear_refs").write_text("5", encoding="ascii")


def endure(broker: RunningBroker, blob: bytes, *, reads: bool, compares: bool = False) -> None:
    """A bystander is served while these packets come, and memory stays bounded."""
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("flood").reason == 0, "who flooded before has gone, and what it held"
    peak_begins(broker)
    with flooded(broker, blob, reads=reads) as flood, bystander(broker, least=20) as beside:
        pass
    beside.assert_served()
    assert flood.sent_bytes > 0
    grown = beside.grown_bytes()
    most = GROWN_BYTES_MAX + (COMPARED_BYTES_MAX if compares else 0)
    assert grown < most, f"{grown >> 20} MiB for {flood.sent_bytes >> 10} KiB"


@pytest.mark.parametrize("reads", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_burst_of_requests_stalls_nobody(full: RunningBroker, name: str, reads: bool) -> None:
    asked = [question(topic, body) for topic, body in QUESTIONS[name]]
    endure(full, repeated(*asked), reads=reads)


@pytest.mark.parametrize("reads", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("name", PACKETS)
def test_a_burst_of_packets_stalls_nobody(full: RunningBroker, name: str, reads: bool) -> None:
    blob = repeated(*PACKETS[name])
    endure(full, blob, reads=reads, compares="compares" in name)


@pytest.mark.parametrize("name", ENDING)
def test_a_burst_of_packets_that_end_their_connection_stalls_nobody(
    full: RunningBroker, name: str
) -> None:
    with bystander(full) as beside:
        for _ in range(ENDED):
            with RawPeer(full.host, full.port) as peer:
                assert peer.connect("flood").reason == 0
                peer.send(ENDING[name] * 100)
                peer.drain()
    beside.assert_served()


def test_every_request_and_every_kind_of_packet_is_tried() -> None:
    asked = {topic for questions in QUESTIONS.values() for topic, _ in questions}
    assert known_requests() - asked == set(), "requests that no burst is made of"
    sent = set[Kind]().union(*(kinds(packets) for packets in PACKETS.values()))
    assert sent | kinds(list(ENDING.values())) == set(Kind)
