"""User name and password: who is let in, who is not, and what waits meanwhile."""

import queue
import select
import subprocess
from contextlib import ExitStack

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from tests.auth.conftest import Guarded
from tests.auth.scram import verifier
from tests.raw_mqtt import PINGREQ, V5, V311, Kind, RawPeer, Version
from tests.running_broker import RunningBroker

WAIT_S = 60
GRANTED, WRONG, UNPROVED, BUSY = 0, 0x86, 0x87, 0x89
RETURN_CODES = {GRANTED: 0, WRONG: 4, UNPROVED: 5}
"""What MQTT 3.1.1 calls them."""

CREDENTIALS = [
    ("user", b"pencil", GRANTED),
    ("anna", b"eraser", GRANTED),
    ("a,b=ö", b"pass word", GRANTED),
    ("user", b"eraser", WRONG),
    ("user", b"", WRONG),
    ("user", None, WRONG),
    ("nobody", b"pencil", WRONG),
    ("", b"", WRONG),
    ("", None, WRONG),
]


def outcome(
    broker: RunningBroker, version: Version, user: str | None, password: bytes | None
) -> int:
    with RawPeer(broker.host, broker.port, version) as peer:
        answer = peer.connect(username=user, password=password)
        assert answer.kind is Kind.CONNACK
        assert peer.quiet() if answer.reason == 0 else peer.closed()
        return answer.reason


@pytest.mark.parametrize(("user", "password", "reason"), [*CREDENTIALS, (None, None, UNPROVED)])
def test_only_a_right_password_is_let_in(
    strict: RunningBroker, user: str | None, password: bytes | None, reason: int
) -> None:
    for _ in range(2):  # a client that comes back is told the same
        assert outcome(strict, V5, user, password) == reason
        assert outcome(strict, V311, user, password) == RETURN_CODES[reason]


@pytest.mark.parametrize("user", ["user", "anna", "nobody", ""])
def test_a_password_left_out_is_not_a_match_cve_2016_9877(strict: RunningBroker, user: str) -> None:
    assert outcome(strict, V5, user, None) == WRONG
    assert outcome(strict, V311, user, None) == RETURN_CODES[WRONG]


def test_a_password_without_a_user_name_is_refused(strict: RunningBroker) -> None:
    assert outcome(strict, V5, None, b"pencil") == WRONG


def test_anonymous_clients_are_let_in_beside_users_and_credentials_must_be_right(
    guarded: Guarded,
) -> None:
    broker = guarded("allow_anonymous = true")
    for user, password, reason in [*CREDENTIALS, (None, None, GRANTED), (None, b"x", WRONG)]:
        assert outcome(broker, V5, user, password) == reason, (user, password)


def test_without_users_everyone_is_let_in(broker: RunningBroker) -> None:
    for user, password in [(None, None), ("user", None), ("user", b"x"), (None, b"x")]:
        assert outcome(broker, V5, user, password) == GRANTED


@pytest.mark.parametrize("version", [MQTTProtocolVersion.MQTTv311, MQTTProtocolVersion.MQTTv5])
@pytest.mark.parametrize(
    ("user", "password", "reason"),
    [("user", "pencil", GRANTED), ("user", "wrong", WRONG), (None, None, UNPROVED)],
)
def test_paho_is_let_in_with_its_password_only(
    strict: RunningBroker,
    version: MQTTProtocolVersion,
    user: str | None,
    password: str | None,
    reason: int,
) -> None:
    told: queue.Queue[ReasonCode] = queue.Queue()
    client = Client(CallbackAPIVersion.VERSION2, protocol=version)
    client.username_pw_set(user, password)
    client.on_connect = lambda _client, _userdata, _flags, code, _properties: told.put(code)
    client.connect(strict.host, strict.port)
    client.loop_start()
    try:
        assert told.get(timeout=WAIT_S).value == reason
    finally:
        client.disconnect()
        client.loop_stop()


@pytest.mark.parametrize("version", ["mqttv311", "mqttv5"])
def test_mosquittos_tools_publish_with_user_name_and_password(
    strict: RunningBroker, version: str
) -> None:
    command = ["mosquitto_pub", "-h", strict.host, "-p", str(strict.port), "-V", version]
    command += ["-t", "t", "-m", "1", "-u", "user", "-P"]
    assert subprocess.run([*command, "pencil"], timeout=WAIT_S, check=False).returncode == 0
    assert subprocess.run([*command, "wrong"], timeout=WAIT_S, check=False).returncode != 0


def test_packets_behind_a_connect_wait_for_its_password(strict: RunningBroker) -> None:
    def sent(password: bytes) -> RawPeer:
        peer = RawPeer(strict.host, strict.port, V5)
        connect = V5.connect("eager", username="anna", password=password)
        peer.send(connect, V5.subscribe(1, "t"), V5.publish("t", password), PINGREQ)
        return peer

    with RawPeer(strict.host, strict.port, V5) as watcher:
        watcher.connect("watcher", username="user", password=b"pencil")
        watcher.send(V5.subscribe(1, "t"))
        watcher.packet()
        with sent(b"wrong") as refused:
            assert refused.packet().reason == WRONG
            assert refused.closed()
        with sent(b"eraser") as granted:
            kinds = [packet.kind for packet in granted.until(Kind.PINGRESP)]
        assert kinds[:2] == [Kind.CONNACK, Kind.SUBACK]
        assert [packet.payload for packet in watcher.waiting()] == [b"eraser"]


SLOW = 300_000
"""Iterations that make one check take long, even on a quick machine."""
SLOWEST = 1_000_000
"""The most that a verifier may have."""
PATIENT = "limits.connect_ms = 120_000"
"""All are checked in time, also where checks have little of the processor: they give way."""


def knocking(stack: ExitStack, broker: RunningBroker, count: int) -> list[RawPeer]:
    """Clients with a wrong password that is slow to check, not answered yet."""
    peers = []
    for _ in range(count):
        peers.append(stack.enter_context(RawPeer(broker.host, broker.port, V5, WAIT_S)))
        peers[-1].send(V5.connect(username="slow", password=b"wrong"))
    return peers


def test_traffic_goes_on_while_passwords_are_checked(guarded: Guarded) -> None:
    slow = verifier("pencil", iterations=SLOW)
    broker = guarded(f"threads = 1\nallow_anonymous = true\n{PATIENT}", slow=slow)
    with ExitStack() as stack:
        client = stack.enter_context(RawPeer(broker.host, broker.port, V5))
        assert client.connect().reason == GRANTED
        waiting = knocking(stack, broker, 5)
        assert client.quiet()
        answered, _, _ = select.select([peer.socket for peer in waiting], [], [], 0)
        assert len(answered) < len(waiting), "the client's ping waited for all the passwords"
        for _ in range(10):
            assert client.quiet()
        assert {peer.packet().reason for peer in waiting} == {WRONG}


def test_a_client_whose_turn_does_not_come_in_time_is_told_to_come_back(guarded: Guarded) -> None:
    slow = verifier("pencil", iterations=SLOWEST)
    broker = guarded("limits.connect_ms = 3000", slow=slow)
    with ExitStack() as stack:
        reasons = [peer.packet().reason for peer in knocking(stack, broker, 200)]
    assert set(reasons) <= {WRONG, BUSY}
    assert BUSY in reasons


def test_a_broker_stops_although_passwords_wait(guarded: Guarded) -> None:
    slow = verifier("pencil", iterations=SLOW)
    broker = guarded(PATIENT, slow=slow)
    with ExitStack() as stack:
        waiting = {peer.socket: peer for peer in knocking(stack, broker, 100)}
        answered, _, _ = select.select(waiting, [], [], WAIT_S)
        assert {waiting.pop(socket).packet().reason for socket in answered} == {WRONG}
        code, errors = broker.stop()
        assert code == 0, errors
        assert any(peer.closed() for peer in waiting.values())
