"""A sync that fails ends acknowledging: it is told, and never taken as success (T12)."""

import errno
import signal
from collections.abc import Iterator

import pytest

from tests.faults.disk import Disk
from tests.faults.station import CONFIG, SEED, Station
from tests.faults.telling import Tell
from tests.faults.trouble import journal_told, readiness, status_told, wait_for_state
from tests.faults.witness import Witness, in_journal
from tests.metrics import Metrics
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Version
from tests.running_broker import RunningBroker

KNOBS = ("sync_errno", "write_errno")


@pytest.fixture
def station(disk: Disk) -> Station:
    return Station.on(disk, CONFIG, console=True)


@pytest.fixture
def witness(station: Station) -> Iterator[Witness]:
    """Some messages were acknowledged."""
    witness = Witness(station.start, SEED)
    witness.begin()
    assert witness.join()
    assert witness.load(100)
    yield witness
    if witness.broker:
        witness.end()


def acknowledgements(broker: RunningBroker, version: Version) -> list[int]:
    """What a publisher is told before it is answered a ping, or disconnected."""
    with RawPeer(broker.host, broker.port, version) as peer:
        if peer.connect("hopeful").reason:
            return []
        for qos in (1, 2):
            peer.send(version.publish("hope/x", b"x", qos=qos, packet_id=qos))
        found = []
        try:
            found = peer.waiting()
        except AssertionError:
            assert peer.closed()
        answers = (Kind.PUBACK, Kind.PUBREC)
        return [one.reason for one in found if one.kind in answers and one.reason < 0x80]


def wait_for_failure(witness: Witness, broker: RunningBroker) -> None:
    """Publish until the broker says that its disk has failed."""
    witness.press(1_000)
    witness.wait_for(lambda: journal_told(broker)["state"] == "failed")
    wait_for_state(broker, "failed")


@pytest.mark.parametrize("knob", KNOBS)
def test_nothing_is_acknowledged_any_more_and_everyone_is_told(
    witness: Witness, station: Station, tell: Tell, knob: str
) -> None:
    broker = witness.broker
    assert isinstance(broker, RunningBroker)
    setattr(station.disk.panel, knob, errno.EIO)
    wait_for_failure(witness, broker)
    before = witness.acknowledged
    assert status_told(broker).startswith("FAILED: ")
    assert readiness(broker) == 503
    for version in (V5, V311):
        assert acknowledgements(broker, version) == []
    setattr(station.disk.panel, knob, 0)
    assert acknowledgements(broker, V5) == [], "a failed disk is not trusted again"
    assert witness.acknowledged == before
    witness.end()
    station.cut_power()
    witness.begin()
    witness.settle()
    witness.end()
    assert tell(witness.report(in_journal(station.journal))).is_clean


def test_the_log_says_what_failed_and_what_to_do(witness: Witness, station: Station) -> None:
    broker = witness.broker
    assert isinstance(broker, RunningBroker)
    station.disk.panel.sync_errno = errno.EIO
    wait_for_failure(witness, broker)
    Metrics.when(broker, 'slipring_events_total{kind="failed"}', 1)
    witness.end(signal.SIGTERM)
    told = [line for line in witness.said.splitlines() if " ERROR " in line]
    assert any("sync" in line and "Input/output error" in line for line in told), witness.said


def test_reading_goes_on_after_a_sync_has_failed(witness: Witness, station: Station) -> None:
    broker = witness.broker
    assert isinstance(broker, RunningBroker)
    station.disk.panel.sync_errno = errno.EIO
    wait_for_failure(witness, broker)
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("live").reason == 0
        peer.send(V5.subscribe(1, "live/#"), V5.publish("live/x", b"x"))
        assert [peer.packet().kind for _ in range(2)] == [Kind.SUBACK, Kind.PUBLISH]
