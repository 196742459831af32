"""State that a client can make the broker hold: each has a bound, and reaching it has an answer."""

import pytest

from tests.hostile.siege import LASTING, MIB, Siege
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Version, Will, properties

CONFIG = """
[limits]
receive_max = 50
queue_messages = 100
queue_bytes = 1048576
outbox_bytes = 1048576
subscriptions = 50
retained_messages = 40
retained_bytes = 4194304
topic_aliases = 8
sessions = 60
owner_retained_percent = 100
owner_sessions_percent = 100
reserve_percent = 0
inflight = 10
"""

PAYLOAD = bytes(8 * 1024)


def left(siege: Siege, client_id: str, wanted: str) -> None:
    """A session with a subscription, whose client is gone: its will tells when."""
    with siege.client() as watcher:
        watcher.send(V5.subscribe(1, f"left/{client_id}"))
        assert watcher.packet().kind is Kind.SUBACK
        will = Will(f"left/{client_id}")
        leaving = siege.client(client_id, clean=False, properties=LASTING, will=will)
        leaving.send(V5.subscribe(1, (wanted, 1)))
        assert leaving.packet().reasons == (1,)
        leaving.close()
        assert watcher.packet().topic == f"left/{client_id}"


def flood(siege: Siege, topic: str, count: int, qos: int) -> None:
    """Publish numbered messages, never more of them unanswered than the broker allows."""
    publisher = siege.client()
    for number in range(count):
        payload = f"{number}".encode().ljust(len(PAYLOAD))
        packet_id = number % 40 + 1 if qos else None
        publisher.send(V5.publish(topic, payload, qos=qos, packet_id=packet_id))
        if qos:
            assert publisher.packet().kind is Kind.PUBACK
    publisher.settle()
    publisher.close()


def _acknowledged(subscriber: RawPeer) -> Packet:
    heard = subscriber.packet()
    subscriber.send(V5.puback(heard.id))
    return heard


def test_cve_2023_28366_a_qos_2_id_used_again_and_again_is_one_message(
    siege: Siege, version: Version
) -> None:
    watcher, publisher = siege.client("watcher"), siege.client("again", version)
    watcher.send(V5.subscribe(1, ("again/#", 2)))
    assert watcher.packet().reasons == (2,)
    for dup in (False, True) * 2500:
        message = version.publish("again/a", PAYLOAD, qos=2, packet_id=7, dup=dup)
        publisher.send(message)
        assert publisher.packet().kind is Kind.PUBREC
    assert len([packet for packet in watcher.waiting() if packet.kind is Kind.PUBLISH]) == 1


def test_cve_2023_28366_qos_2_messages_never_released_end_at_the_limit(siege: Siege) -> None:
    publisher = siege.client("never")
    for packet_id in range(1, 51):
        publisher.send(V5.publish("never", PAYLOAD, qos=2, packet_id=packet_id))
        assert publisher.packet().kind is Kind.PUBREC
    publisher.send(V5.publish("never", PAYLOAD, qos=2, packet_id=51))
    assert publisher.packet().reason == 0x93
    assert publisher.closed()


def test_cve_2023_28366_a_subscriber_that_never_completes_holds_back_only_itself(
    siege: Siege,
) -> None:
    lazy, keen = siege.client("lazy"), siege.client("keen")
    for subscriber in (lazy, keen):
        subscriber.send(V5.subscribe(1, ("shared/load", 1)))
        assert subscriber.packet().reasons == (1,)
    publisher = siege.client()
    for number in range(500):
        publisher.send(V5.publish("shared/load", b"%d" % number, qos=1, packet_id=1))
        heard = keen.packet()
        assert heard.payload == b"%d" % number
        keen.send(V5.puback(heard.id))
        assert publisher.packet().kind is Kind.PUBACK
    assert len(lazy.waiting()) == 10


def test_cve_2026_95845_the_queue_of_a_client_that_is_away_keeps_the_newest(siege: Siege) -> None:
    left(siege, "away", "away/#")
    flood(siege, "away/topic", 1000, qos=1)
    again = siege.peer()
    assert again.connect("away", clean=False).session_present
    kept = [int(_acknowledged(again).payload)]
    while kept[-1] < 999:
        kept.append(int(_acknowledged(again).payload))
    assert kept == list(range(1000 - len(kept), 1000))
    assert len(kept) <= 100


@pytest.mark.parametrize("qos", [0, 1])
def test_cve_2026_95845_the_queue_of_a_client_that_does_not_read_is_bounded(
    siege: Siege, qos: int
) -> None:
    slow = siege.client("slow")
    slow.send(V5.subscribe(1, ("slow/#", qos)))
    assert slow.packet().reasons == (qos,)
    keen = siege.client("keen")
    keen.send(V5.subscribe(1, ("slow/#", 0)))
    assert keen.packet().reasons == (0,)
    before = siege.memory()
    publisher = siege.client()
    for number in range(4000):
        publisher.send(V5.publish("slow/topic", PAYLOAD, qos=qos, packet_id=1 if qos else None))
        assert keen.packet().kind is Kind.PUBLISH
        if qos:
            assert publisher.packet().kind is Kind.PUBACK, number
    assert siege.memory() - before < 24 * MIB


def test_cve_2026_95845_subscriptions_end_at_the_limit(siege: Siege, version: Version) -> None:
    client = siege.client("greedy", version)
    for number in range(50):
        client.send(version.subscribe(1, f"greedy/{number}"))
        assert client.packet().reasons == (0,)
    client.send(version.subscribe(1, "greedy/one/more", "greedy/0"))
    refusal = 0x97 if version is V5 else 0x80
    assert client.packet().reasons == (refusal, 0)


def test_cve_2026_95845_retained_messages_end_at_the_limit(siege: Siege) -> None:
    publisher = siege.client()
    for number in range(40):
        publisher.send(V5.publish(f"kept/{number}", b"x", qos=1, packet_id=1, retain=True))
        assert publisher.packet().reason in {0x00, 0x10}
    publisher.send(V5.publish("kept/more", b"x", qos=1, packet_id=1, retain=True))
    assert publisher.packet().reason == 0x97
    publisher.send(V5.publish("kept/0", b"newer", qos=1, packet_id=1, retain=True))
    assert publisher.packet().reason in {0x00, 0x10}
    for number in range(40):
        publisher.send(V5.publish(f"kept/{number}", b"", retain=True))
    assert publisher.quiet()


def test_cve_2026_95845_the_bytes_of_retained_messages_end_at_the_limit(siege: Siege) -> None:
    publisher, large = siege.client(), bytes(900 * 1024)
    answers = []
    for number in range(8):
        publisher.send(V5.publish(f"large/{number}", large, qos=1, packet_id=1, retain=True))
        answers.append(publisher.packet().reason)
    assert answers[-1] == 0x97
    assert 0x97 not in answers[:4]
    for number in range(8):
        publisher.send(V5.publish(f"large/{number}", b"", retain=True))
    assert publisher.quiet()


def test_cve_2026_95845_a_topic_alias_above_the_limit_ends_the_connection(siege: Siege) -> None:
    publisher = siege.client("aliases")
    for alias in range(1, 9):
        publisher.send(V5.publish(f"a/{alias}", properties=properties(topic_alias=alias)))
    assert publisher.quiet()
    publisher.send(V5.publish("a/9", properties=properties(topic_alias=9)))
    assert publisher.packet().reason == 0x94
    assert publisher.closed()


def test_cve_2026_95845_sessions_end_at_the_limit_and_stored_ones_stay(siege: Siege) -> None:
    answers = []
    for number in range(100):
        peer = siege.peer()
        answers.append(peer.connect(f"hoard-{number}", clean=False, properties=LASTING).reason)
        peer.close()
    assert set(answers[-40:]) == {0x97}
    again = siege.peer()
    assert again.connect("hoard-0", clean=False, properties=LASTING).session_present
    again.send(V5.disconnect(properties=properties(session_expiry=0)))
    assert again.closed()
    for number in range(1, 100):
        peer = siege.peer()
        peer.send(V5.connect(f"hoard-{number}", clean=True), V5.disconnect())
        peer.drain()


@pytest.mark.parametrize("expiry_s", [0, 1])
def test_cve_2019_11778_a_will_delayed_beyond_its_session_is_sent_once_when_that_ends(
    siege: Siege, expiry_s: int
) -> None:
    watcher = siege.client("watcher")
    watcher.send(V5.subscribe(1, ("will/#", 1)))
    assert watcher.packet().reasons == (1,)
    late = Will("will/late", b"gone", properties=properties(will_delay=3600))
    session = properties(session_expiry=expiry_s)
    siege.client("late", clean=False, will=late, properties=session).hang_up()
    assert watcher.packet().payload == b"gone"
    answer = siege.peer().connect("late", clean=False)
    assert not answer.session_present
    assert watcher.quiet()


def test_cve_2019_11778_a_will_waiting_for_its_delay_goes_when_its_client_is_back(
    siege: Siege,
) -> None:
    watcher = siege.client("watcher")
    watcher.send(V5.subscribe(1, "will/#"))
    assert watcher.packet().kind is Kind.SUBACK
    waiting = Will("will/waiting", b"gone", properties=properties(will_delay=3600))
    for _ in range(50):
        client = siege.client("flapping", clean=False, will=waiting, properties=LASTING)
        client.hang_up()
    siege.client("flapping", clean=False).send(V5.disconnect())
    assert watcher.quiet()


def test_a_half_open_peer_goes_after_its_keep_alive_and_its_will_is_sent_once(
    siege: Siege, version: Version
) -> None:
    watcher = siege.client("watcher")
    watcher.send(V5.subscribe(1, ("half/#", 1)))
    assert watcher.packet().reasons == (1,)
    silent = siege.client("silent", version, keep_alive_s=1, will=Will("half/open", b"gone", 1))
    heard = watcher.packet()
    assert heard.payload == b"gone"
    watcher.send(V5.puback(heard.id))
    if version is V5:
        assert silent.packet().reason == 0x8D
    assert silent.closed()
    assert watcher.quiet()


@pytest.mark.parametrize("qos", [0, 1])
def test_a_slow_consumer_changes_nothing_for_the_others(siege: Siege, qos: int) -> None:
    slow, keen, publisher = siege.client("slow"), siege.client("keen"), siege.client("speaks")
    for subscriber in (slow, keen):
        subscriber.send(V5.subscribe(1, ("slow/#", qos)))
        assert subscriber.packet().reasons == (qos,)
    payload = bytes(16 * 1024)
    siege.growth_bytes_max = 96 * MIB
    for number in range(3000):
        message = V5.publish("slow/load", payload, qos=qos, packet_id=1 if qos else None)
        publisher.send(message)
        heard = keen.packet()
        assert heard.kind is Kind.PUBLISH, number
        if qos:
            keen.send(V5.puback(heard.id))
            assert publisher.packet().kind is Kind.PUBACK
