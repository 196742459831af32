"""What has ended stays so, whatever comes the moment after: sessions, wills, waits of messages.

The disk is slow to sync here, so that an answer that does not wait for it comes long before it. It
takes so long always: the closing of a connection waits for a sync for half a second at most, and
the disk below may take longer at times.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from tests.faults.disk import NO_BOUND
from tests.faults.stage import KEPT, Stage
from tests.faults.station import SEED, Station
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Will, properties

SYNC_US = 50_000
ROUNDS = int(os.environ.get("ROUNDS", "6"))
MESSAGES = 4
WAIT: Pair = ("slipring-wait", "1")


def crash(stage: Stage, *, has_power: bool) -> None:
    """The broker is killed at this moment, perhaps with the whole machine, and comes up again."""
    stage.broker.stop(signal.SIGKILL)
    if not has_power:
        stage.station.cut_power()
    stage.peers.close()
    stage.broker = stage.station.start()


def clean_start(stage: Stage) -> None:
    assert not stage.peer().connect("leaver", clean=True).session_present


def goodbye(stage: Stage) -> None:
    leaver = stage.back("leaver")
    leaver.send(V5.disconnect(0, properties(session_expiry=0)))
    assert leaver.closed(), "DISCONNECT has no answer; the closing says that the end is safe"


def last_connection(stage: Stage) -> None:
    connack = stage.peer().connect("leaver", clean=False)
    assert connack.session_present, "it goes on, but ends with this connection"


def goodbye_and_return(stage: Stage) -> None:
    leaver = stage.back("leaver")
    leaver.send(V5.disconnect(0, properties(session_expiry=0)))
    leaver.close()
    assert not stage.peer().connect("leaver", clean=False).session_present


@pytest.fixture
def stage(station: Station) -> Stage:
    station.disk.panel.sync_us = SYNC_US
    station.disk.panel.sync_noted = 1
    return Stage(station, station.start())


@pytest.mark.parametrize("has_power", [True, False], ids=["kill-9", "power-cut"])
@pytest.mark.parametrize("end", [clean_start, goodbye, last_connection, goodbye_and_return])
def test_a_session_whose_end_was_told_is_not_there_again(
    stage: Stage, end: Callable[[Stage], None], has_power: bool
) -> None:
    stage.away("leaver", ("left/#", 1))
    end(stage)
    crash(stage, has_power=has_power)
    assert not stage.peer().connect("leaver", clean=False, properties=KEPT).session_present
    stage.peers.close()
    assert stage.broker.stop()[0] == 0


def test_a_will_that_a_goodbye_took_back_is_not_sent_after_a_power_cut(stage: Stage) -> None:
    stage.away("heir", ("will/#", 1))
    leaver = stage.client("leaver", will=Will("will/leaver", b"gone", qos=1))
    leaver.send(V5.disconnect())
    assert leaver.closed()
    crash(stage, has_power=False)
    assert stage.back("heir").quiet()
    stage.peers.close()
    assert stage.broker.stop()[0] == 0


@pytest.mark.parametrize("has_power", [True, False], ids=["kill-9", "power-cut"])
def test_a_qos_2_will_that_was_delivered_is_not_sent_again(stage: Stage, has_power: bool) -> None:
    """It goes once it is safe that its client has gone: else the next start would send it again."""
    stage.away("heir", ("will/#", 2))
    for number in range(ROUNDS):
        heir = stage.back("heir")
        payload = b"%d" % number
        stage.client("dying", will=Will("will/dying", payload, qos=2)).hang_up()
        (first,) = heir.until(Kind.PUBLISH)
        crash(stage, has_power=has_power)
        heir = stage.back("heir")
        again = heir.packet()
        assert (again.payload, again.dup, again.id) == (payload, True, first.id)
        heir.send(V5.pubrec(again.id))
        assert heir.packet().kind is Kind.PUBREL
        heir.send(V5.pubcomp(again.id))
        assert heir.quiet(), "the start has not sent it again"
    stage.peers.close()
    assert stage.broker.stop()[0] == 0


def publish_waiting(stage: Stage, first: int) -> None:
    """Messages at QoS 2 that nobody has subscribed to; all are acknowledged."""
    with RawPeer(stage.broker.host, stage.broker.port) as writer:
        assert writer.connect("writer").reason == 0
        for number in range(first, first + MESSAGES):
            given = properties(user=[WAIT])
            payload = b"%d" % number
            writer.send(V5.publish("depot", payload, qos=2, packet_id=1, properties=given))
            assert writer.packet().kind is Kind.PUBREC
            writer.send(V5.pubrel(1))
            assert writer.packet().kind is Kind.PUBCOMP


def claim(stage: Stage, client_id: str, choice: Random) -> tuple[RawPeer, list[Packet]]:
    """Someone without a session to keep subscribes, and hears nothing, SUBACK, or a message."""
    peer = stage.peer()
    assert peer.connect(client_id, clean=True).reason == 0
    peer.send(V5.subscribe(1, ("depot", 2)))
    awaited = choice.choice([[], [Kind.SUBACK], [Kind.SUBACK, Kind.PUBLISH]])
    return peer, [packet for kind in awaited for packet in peer.until(kind)]


def to_the_end(peer: RawPeer) -> list[Packet]:
    """All that a broker had sent that is no more."""
    return list(iter(peer.receive, None))


@pytest.mark.parametrize("has_power", [True, False], ids=["kill-9", "power-cut"])
def test_a_qos_2_message_that_waited_comes_once_to_those_without_a_session(
    stage: Stage, has_power: bool
) -> None:
    choice, came = Random(SEED), list[Packet]()
    for number in range(ROUNDS):
        publish_waiting(stage, number * MESSAGES)
        peer, heard = claim(stage, f"reader-{number}", choice)
        stage.broker.process.kill()
        came += heard + to_the_end(peer)
        crash(stage, has_power=has_power)
    peer, heard = claim(stage, "last", choice)
    came += heard + peer.waiting()
    times = Counter(packet.payload for packet in came if packet.kind is Kind.PUBLISH)
    assert times, "some came"
    assert set(times.values()) == {1}, str(times)
    stage.peers.close()
    assert stage.broker.stop()[0] == 0


def test_a_qos_2_message_that_waited_comes_once_where_the_disk_is_full_at_times(
    stage: Stage,
) -> None:
    """It is claimed while there is no room, or little; some brokers are killed before there is."""
    choice, came = Random(SEED), list[Packet]()
    panel = stage.station.disk.panel
    for number in range(ROUNDS):
        publish_waiting(stage, number * MESSAGES)
        panel.room_bytes = choice.choice([0, 0, 40, 200, 1_000])
        peer = stage.peer()
        assert peer.connect(f"reader-{number}", clean=True).reason == 0
        peer.send(V5.subscribe(1, ("depot", 2)))
        heard = list[Packet]()
        if choice.random() < 0.5:
            panel.room_bytes = NO_BOUND
            heard = peer.until(choice.choice([Kind.SUBACK, Kind.PUBLISH]))
        stage.broker.process.kill()
        came += heard + to_the_end(peer)
        panel.room_bytes = NO_BOUND
        crash(stage, has_power=choice.random() < 0.5)
    last = stage.subscribed("last", ("depot", 2), clean=True)
    came += last.waiting()
    times = Counter(packet.payload for packet in came if packet.kind is Kind.PUBLISH)
    assert times, "some came"
    assert set(times.values()) == {1}, str(times)
    stage.peers.close()
    assert stage.broker.stop()[0] == 0
