"""A full disk refuses QoS 1 and 2 with 0x97, serves what it has, and heals by itself (T12).

What was acknowledged before, meanwhile and after is there in the end.
"""

import signal
import urllib.request
from collections.abc import Iterator

import pytest

from tests.faults.disk import Disk
from tests.faults.small_disk import SmallDisk, small_disk
from tests.faults.station import CONFIG, SEED, Station
from tests.faults.telling import Tell
from tests.faults.trouble import journal_told, readiness, status_told, wait_for_state
from tests.faults.witness import Witness, in_journal
from tests.raw_mqtt import V5, V311, Kind, RawPeer
from tests.running_broker import RunningBroker

QUOTA_EXCEEDED = 0x97


@pytest.fixture(params=["bounded", "tmpfs"])
def room(request: pytest.FixtureRequest, disk: Disk) -> Iterator[SmallDisk]:
    with small_disk(request.param, disk) as opened:
        yield opened


@pytest.fixture
def witness(disk: Disk, room: SmallDisk) -> Iterator[Witness]:
    """Everyone is there, some messages were acknowledged, and the travellers are away."""
    station = Station.on(disk, CONFIG, console=True)
    witness = Witness(station.start, SEED)
    witness.begin()
    assert witness.join()
    for one in witness.subscribers:
        one.is_away = one.name.startswith("traveller")
    witness.begin()
    assert witness.load(100)
    assert witness.finish()
    yield witness
    if witness.broker:
        witness.end()


def running(witness: Witness) -> RunningBroker:
    assert isinstance(witness.broker, RunningBroker)
    return witness.broker


def fill(witness: Witness, room: SmallDisk) -> None:
    """Until the broker has noticed."""
    room.fill()
    broker = running(witness)
    with RawPeer(broker.host, broker.port, V311) as peer:
        assert peer.connect("last-straw").reason == 0
        peer.send(V311.publish("straw/x", bytes(5_000), qos=1, packet_id=1))
        wait_for_state(broker, "full")


def test_qos_1_and_2_are_refused_and_everything_else_goes_on(
    witness: Witness, room: SmallDisk, tell: Tell, disk: Disk
) -> None:
    fill(witness, room)
    broker = running(witness)
    refusals(broker)
    reading_goes_on(witness)
    assert status_told(broker).startswith("FULL: ")
    assert readiness(broker) == 503
    with urllib.request.urlopen(broker.console, timeout=60) as page:
        assert page.status == 200
    room.free()
    wait_for_state(broker, "ok")
    assert readiness(broker) == 200
    for one in witness.publishers:
        one.try_again()
    assert witness.load(100), "publishing does not go on by itself"
    witness.settle()
    assert witness.end(signal.SIGTERM) == 0, witness.said
    assert tell(witness.report(in_journal(disk.folder / "journal"))).is_clean


def refusals(broker: RunningBroker) -> None:
    """MQTT 5 is told why; MQTT 3.1.1 has no word for it and is disconnected without an answer."""
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("refused").reason == 0
        for qos, kind in ((1, Kind.PUBACK), (2, Kind.PUBREC)):
            peer.send(V5.publish("full/x", b"x", qos=qos, packet_id=qos))
            answer = peer.packet()
            assert (answer.kind, answer.reason) == (kind, QUOTA_EXCEEDED)
        assert peer.quiet()
    for qos in (1, 2):
        with RawPeer(broker.host, broker.port, V311) as peer:
            assert peer.connect("refused-311").reason == 0
            peer.send(V311.publish("full/x", b"x", qos=qos, packet_id=1))
            assert peer.closed()


def reading_goes_on(witness: Witness) -> None:
    """One who was away comes and gets what is there; QoS 0 is carried.

    At QoS 2 a delivery waits: its identifier has to be safe before it begins.
    """
    [traveller] = [one for one in witness.subscribers if one.name == "traveller"]
    traveller.is_away = False
    witness.begin()
    assert witness.join()
    acknowledged = {(one.name, number) for one in witness.publishers for number in one.acknowledged}

    def has_all() -> bool:
        return acknowledged <= {(one.source, one.number) for one in traveller.arrivals}

    assert witness.wait_for(has_all), f"{len(traveller.arrivals)} of {len(acknowledged)} came"
    broker = running(witness)
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("live").reason == 0
        peer.send(V5.subscribe(1, "live/#"), V5.publish("live/x", b"x"))
        assert [peer.packet().kind for _ in range(2)] == [Kind.SUBACK, Kind.PUBLISH]


def test_what_was_acknowledged_is_there_when_it_is_killed_while_the_disk_is_full(
    witness: Witness, room: SmallDisk, tell: Tell, disk: Disk
) -> None:
    fill(witness, room)
    witness.press(5)
    refusals(running(witness))
    witness.end()
    room.free()
    witness.begin()
    for one in witness.publishers:
        one.try_again()
    witness.settle()
    witness.end()
    assert tell(witness.report(in_journal(disk.folder / "journal"))).is_clean


def test_a_broker_that_finds_no_room_at_its_start_serves_what_there_is(
    witness: Witness, room: SmallDisk, tell: Tell, disk: Disk
) -> None:
    witness.end()
    room.fill()
    witness.begin()
    assert journal_told(running(witness))["state"] in {"full", "ok"}
    reading_goes_on(witness)
    # The console tells a little later what the first message met.
    wait_for_state(running(witness), "full")
    room.free()
    wait_for_state(running(witness), "ok")
    assert witness.load(20)
    witness.settle()
    witness.end()
    assert tell(witness.report(in_journal(disk.folder / "journal"))).is_clean


def test_a_bound_in_the_configuration_is_a_full_disk_and_can_be_raised_while_it_runs(
    disk: Disk,
) -> None:
    station = Station.on(disk, CONFIG + "bytes_max = 200000\n", console=True)
    broker = station.start()
    with RawPeer(broker.host, broker.port) as filler:
        assert filler.connect("filler").reason == 0
        for number in range(1, 100):
            filler.send(V5.publish("filler/x", bytes(5_000), qos=1, packet_id=number))
        wait_for_state(broker, "full")
        refusals(broker)
        stored = sum(file.stat().st_size for file in station.journal.iterdir())
        assert stored < 300_000
        station.config.write_text(CONFIG + "bytes_max = 2000000\n", encoding="utf-8")
        broker.process.send_signal(signal.SIGHUP)
        wait_for_state(broker, "ok")
        reasons = [filler.packet().reason for _ in range(1, 100)]
    assert reasons[0] < 0x80
    assert set(reasons) <= {0, 0x10, QUOTA_EXCEEDED}
    assert broker.stop()[0] == 0
