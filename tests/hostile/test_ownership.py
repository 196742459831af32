"""Sessions that belong to somebody: take-overs, and who may make one."""

import contextlib
import threading

import pytest

from tests.hostile.siege import LASTING, Siege
from tests.raw_mqtt import DEADLINE_S, V5, V311, Kind, RawPeer, Version, Will, properties


def lasting(siege: Siege, version: Version, client_id: str, username: str | None) -> RawPeer:
    """A client with a session that outlives it, subscribed to its own topic at QoS 1."""
    options = {"clean": False, "properties": LASTING} if version is V5 else {"clean": False}
    owner = siege.client(client_id, version, username=username, **options)
    owner.send(version.subscribe(1, (f"owned/{client_id}", 1)))
    assert owner.packet().reasons == (1,)
    return owner


def publish(siege: Siege, topic: str, payload: bytes) -> None:
    publisher = siege.client()
    publisher.send(V5.publish(topic, payload, qos=1, packet_id=1))
    assert publisher.packet().kind is Kind.PUBACK
    publisher.close()


@pytest.mark.parametrize("thief", ["mallory", None], ids=["another name", "no name"])
def test_cve_2026_95847_a_stored_session_is_only_for_the_name_that_made_it(
    siege: Siege, version: Version, thief: str | None
) -> None:
    client_id = f"stored-{siege.transport.name}-{version.level}-{thief}"
    owner = lasting(siege, version, client_id, "alice")
    owner.send(version.disconnect())
    assert owner.closed()
    publish(siege, f"owned/{client_id}", b"for alice")
    for clean in (False, True):
        peer = siege.peer(version)
        answer = peer.connect(client_id, username=thief, clean=clean)
        assert answer.reason == (0x87 if version is V5 else 5)
        assert peer.closed()
    again = siege.peer(version)
    assert again.connect(client_id, username="alice", clean=False).session_present
    assert again.packet().payload == b"for alice"


@pytest.mark.parametrize("thief", ["mallory", None], ids=["another name", "no name"])
def test_cve_2026_33215_a_connected_client_is_not_taken_over_by_another_name(
    siege: Siege, version: Version, thief: str | None
) -> None:
    watcher = siege.client("watcher")
    watcher.send(V5.subscribe(1, "will/#"))
    assert watcher.packet().kind is Kind.SUBACK
    owner = siege.client("held", version, username="alice", will=Will("will/held", b"gone"))
    owner.send(version.subscribe(1, "to/alice"))
    assert owner.packet().kind is Kind.SUBACK
    for clean in (False, True):
        peer = siege.peer(version)
        answer = peer.connect("held", username=thief, clean=clean)
        assert answer.reason == (0x87 if version is V5 else 5)
        assert peer.closed()
    publish(siege, "to/alice", b"still hers")
    assert owner.packet().payload == b"still hers"
    assert watcher.quiet()


def test_cve_2026_33215_its_own_name_takes_over_and_the_older_is_told(
    siege: Siege, version: Version
) -> None:
    older = siege.client("twice", version, username="alice")
    siege.client("twice", version, username="alice")
    if version is V5:
        assert older.packet().reason == 0x8E
    assert older.closed()


def test_cve_2026_22040_a_session_that_ends_with_its_connection_is_not_handed_on(
    siege: Siege, version: Version
) -> None:
    older = siege.client("ending", version, clean=True)
    older.send(version.subscribe(1, "of/the/older"))
    assert older.packet().kind is Kind.SUBACK
    newer = siege.peer(version)
    assert not newer.connect("ending", clean=False).session_present
    publish(siege, "of/the/older", b"ghost")
    assert newer.quiet()


def attack_with_subscribe(older: RawPeer, start: threading.Barrier) -> None:
    """Subscribes again and again while it is being taken over."""
    start.wait()
    with contextlib.suppress(OSError):
        for number in range(1, 30):
            older.send(older.version.subscribe(number, (f"older/{number}", 1)))


@pytest.mark.parametrize("lives_on", [False, True], ids=["clean", "kept"])
def test_cve_2024_8376_a_take_over_leaves_exactly_the_subscriptions_of_the_survivor(
    siege: Siege, version: Version, lives_on: bool
) -> None:
    publisher = siege.client()
    keeping = {"properties": LASTING} if version is V5 else {}
    for race in range(siege.transport.crowd // 10):
        older = siege.client("raced", version, clean=not lives_on, **keeping)
        start = threading.Barrier(2)
        attack = threading.Thread(target=attack_with_subscribe, args=(older, start))
        attack.start()
        newer = siege.peer(version)
        start.wait()
        answer = newer.connect("raced", clean=True)
        assert (answer.reason, answer.session_present) == (0, False)
        newer.send(version.subscribe(1, (f"newer/{race}", 1)))
        heard = newer.until(Kind.SUBACK)
        attack.join()
        publisher.send(*(V5.publish(f"older/{number}", b"ghost") for number in range(1, 30)))
        publisher.send(V5.publish(f"newer/{race}", b"own", qos=1, packet_id=1))
        assert publisher.packet().reason == 0
        heard += newer.until(Kind.PUBLISH) + newer.waiting()
        assert [packet.payload for packet in heard if packet.kind is Kind.PUBLISH] == [b"own"]
        older.close()
        newer.close()


def has_gone(peer: RawPeer) -> bool:
    """Whether the broker has closed this one by now."""
    peer.socket.settimeout(0.05)
    with contextlib.suppress(TimeoutError):
        while peer.receive() is not None:
            pass
        return True
    return False


def test_cve_2026_22040_a_hundred_take_overs_at_once_leave_one_client(
    siege: Siege, version: Version
) -> None:
    peers = [siege.peer(version) for _ in range(100)]
    for peer in peers:
        peer.send(version.connect("crowd"), version.subscribe(1, ("crowd/#", 1)))
    while len(peers) > 1:
        peers = [peer for peer in peers if not has_gone(peer)]
        siege.bystander.round_trip()
    peers[0].socket.settimeout(DEADLINE_S)
    peers[0].settle()
    publish(siege, "crowd/call", b"who is there?")
    assert peers[0].until(Kind.PUBLISH)[-1].payload == b"who is there?"
    assert peers[0].quiet()


def test_cve_2026_22040_a_session_taken_over_by_311_and_5_in_turn_stays_whole(
    siege: Siege,
) -> None:
    for round_ in range(20):
        version = (V5, V311)[round_ % 2]
        keeping = {"properties": properties(session_expiry=600)} if version is V5 else {}
        peer = siege.client("turn", version, clean=False, **keeping)
        peer.send(version.subscribe(1, ("turn/topic", 1)))
        assert peer.until(Kind.SUBACK)
        publish(siege, "turn/topic", f"round {round_}".encode())
        heard = peer.until(Kind.PUBLISH)[-1]
        assert heard.payload == f"round {round_}".encode()
        peer.send(version.puback(heard.id))
        peer.settle()
