"""Enhanced authentication over a socket: SCRAM-SHA-256, clause by clause of MQTT 5."""

from pathlib import Path

import pytest

from tests.auth.conftest import USERS, Guarded, config
from tests.auth.scram import AGAIN, CONTINUE, METHOD, Exchange, begin, data, go_on, let_in
from tests.raw_mqtt import PINGREQ, V5, Kind, Packet, RawPeer, properties
from tests.running_broker import RunningBroker


def peer(broker: RunningBroker) -> RawPeer:
    return RawPeer(broker.host, broker.port, V5)


def says(packet: Packet) -> tuple[Kind, int]:
    return packet.kind, packet.reason


@pytest.mark.parametrize("user", USERS)
def test_a_client_that_knows_the_password_is_let_in_and_the_broker_proves_itself_too(
    strict: RunningBroker, user: str
) -> None:
    with peer(strict) as client:
        let_in(client, user, USERS[user])
        client.send(V5.subscribe(1, "t"), V5.publish("t", b"1"))
        assert [packet.kind for packet in client.until(Kind.PUBLISH)] == [Kind.SUBACK, Kind.PUBLISH]


@pytest.mark.parametrize(
    ("user", "password"), [("user", "eraser"), ("user", ""), ("nobody", "pencil")]
)
def test_a_wrong_password_and_an_unknown_user_fail_alike(
    strict: RunningBroker, user: str, password: str
) -> None:
    with peer(strict) as client:
        exchange = Exchange(user, password)
        challenge = begin(client, exchange)
        assert says(challenge) == (Kind.AUTH, CONTINUE)
        answer = go_on(client, CONTINUE, exchange.last(data(challenge)))
        assert says(answer) == (Kind.CONNACK, 0x87)
        assert answer.properties == {"reason_string": ("the authentication has failed",)}
        assert client.closed()


def test_an_unknown_user_is_always_shown_the_same_salt(strict: RunningBroker) -> None:
    def shown(user: str) -> bytes:
        with peer(strict) as client:
            return data(begin(client, Exchange(user, ""))).split(b",", 1)[1]

    assert shown("nobody") == shown("nobody") != shown("somebody")
    assert len(shown("nobody")) == len(shown("user"))


def test_no_salt_tells_after_a_restart_which_names_exist(
    tmp_path: Path, verifiers: dict[str, str]
) -> None:
    file = config(tmp_path, **verifiers)
    salts = []
    for _ in range(2):
        broker = RunningBroker.start(tmp_path / "data", "--console", "off", "--config", str(file))
        for user in ("nobody", "user"):
            with peer(broker) as client:
                salts.append(data(begin(client, Exchange(user, ""))).split(b",", 1)[1])
        assert broker.stop()[0] == 0
    assert salts[:2] == salts[2:]
    assert salts[0] != salts[1]
    key = tmp_path / "data" / "stand-in.key"
    key.chmod(0o644)
    with pytest.raises(AssertionError, match=f"chmod 600 {key}"):
        RunningBroker.start(tmp_path / "data", "--config", str(file))


def test_a_proof_that_was_overheard_is_of_no_use(strict: RunningBroker) -> None:
    exchange = Exchange("user", "pencil")
    with peer(strict) as client:
        proof = exchange.last(data(begin(client, exchange)))
        assert says(go_on(client, CONTINUE, proof)) == (Kind.CONNACK, 0)
    with peer(strict) as thief:
        begin(thief, exchange)
        assert says(go_on(thief, CONTINUE, proof)) == (Kind.CONNACK, 0x87)


@pytest.mark.parametrize("method", ["PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256-PLUS", ""])
def test_another_method_is_refused(strict: RunningBroker, method: str) -> None:
    with peer(strict) as client:
        refused = client.connect(properties=properties(auth_method=method, auth_data=b"x"))
        assert says(refused) == (Kind.CONNACK, 0x8C)  # MQTT-4.12.0-1
        assert client.closed()


def test_without_users_there_is_no_method(broker: RunningBroker) -> None:
    with peer(broker) as client:
        assert says(begin(client, Exchange("user", "pencil"))) == (Kind.CONNACK, 0x8C)
        assert client.closed()


@pytest.mark.parametrize(
    ("reason", "more"),
    [
        (CONTINUE, {"auth_method": "PLAIN"}),  # MQTT-4.12.0-5
        (CONTINUE, {}),  # 3.15.2.2.2
        (AGAIN, {"auth_method": METHOD}),  # MQTT-4.12.0-3
        (0, {"auth_method": METHOD}),  # MQTT-3.15.2-1
    ],
)
def test_an_exchange_goes_on_with_its_method_and_with_0x18(
    strict: RunningBroker, reason: int, more: dict[str, str]
) -> None:
    with peer(strict) as client:
        exchange = Exchange("user", "pencil")
        proof = exchange.last(data(begin(client, exchange)))
        client.send(V5.auth(reason, properties(**more, auth_data=proof)))
        assert says(client.packet()) == (Kind.CONNACK, 0x82)
        assert client.closed()


@pytest.mark.parametrize("packet", [PINGREQ, V5.publish("t"), V5.connect("again")])
def test_nothing_else_may_come_before_connack(strict: RunningBroker, packet: bytes) -> None:
    with peer(strict) as client:
        begin(client, Exchange("user", "pencil"))
        client.send(packet)
        assert says(client.packet()) == (Kind.CONNACK, 0x82)  # MQTT-3.1.2-30
        assert client.closed()


def test_a_client_may_give_up_an_exchange(strict: RunningBroker) -> None:
    with peer(strict) as client:
        begin(client, Exchange("user", "pencil"))
        client.send(V5.disconnect())
        assert client.closed()


def test_an_auth_is_as_small_as_a_connect(guarded: Guarded) -> None:
    broker = guarded("limits.connect_bytes = 400")
    with peer(broker) as client:
        begin(client, Exchange("user", "pencil"))
        assert says(go_on(client, CONTINUE, b"x" * 400)) == (Kind.CONNACK, 0x95)
        assert client.closed()


@pytest.mark.parametrize("half", [b"", b"\xf0", b"\xf0\x20\x18"])
def test_an_exchange_that_does_not_go_on_ends(guarded: Guarded, half: bytes) -> None:
    broker = guarded("limits.connect_ms = 5000")
    with peer(broker) as client:
        begin(client, Exchange("user", "pencil"))
        client.send(half)
        assert client.closed()
    assert "limits.connect_ms" in broker.stop()[1]


def test_a_session_belongs_to_the_name_that_was_proved(strict: RunningBroker) -> None:
    kept = {"clean": False}
    expiry = properties(session_expiry=60)
    with peer(strict) as client:
        exchange = Exchange("user", "pencil")
        first = properties(auth_method=METHOD, auth_data=exchange.first) + expiry
        challenge = client.connect("kept", properties=first, username="anna", **kept)
        answer = go_on(client, CONTINUE, exchange.last(data(challenge)))
        assert says(answer) == (Kind.CONNACK, 0)
        client.send(V5.disconnect())
        assert client.closed()
    with peer(strict) as other:
        refused = other.connect("kept", username="anna", password=b"eraser", **kept)
        assert says(refused) == (Kind.CONNACK, 0x87)
    with peer(strict) as same:
        answer = same.connect("kept", username="user", password=b"pencil", **kept)
        assert answer.session_present


def test_a_client_proves_its_name_again_while_traffic_goes_on(strict: RunningBroker) -> None:
    with peer(strict) as client:
        let_in(client, "user", "pencil")
        exchange = Exchange("user", "pencil")
        challenge = go_on(client, AGAIN, exchange.first)
        assert says(challenge) == (Kind.AUTH, CONTINUE)
        assert client.quiet()
        answer = go_on(client, CONTINUE, exchange.last(data(challenge)))
        assert says(answer) == (Kind.AUTH, 0)
        assert exchange.trusts(data(answer))
        assert client.quiet()


@pytest.mark.parametrize(
    ("user", "password"), [("user", "eraser"), ("anna", "eraser"), ("nobody", "pencil")]
)
def test_who_cannot_prove_the_same_name_again_has_to_go(
    strict: RunningBroker, user: str, password: str
) -> None:
    with peer(strict) as client:
        let_in(client, "user", "pencil")
        exchange = Exchange(user, password)
        proof = exchange.last(data(go_on(client, AGAIN, exchange.first)))
        assert says(go_on(client, CONTINUE, proof)) == (Kind.DISCONNECT, 0x87)  # MQTT-4.12.1-2
        assert client.closed()


@pytest.mark.parametrize(("reason", "method"), [(AGAIN, "PLAIN"), (CONTINUE, METHOD), (0, METHOD)])
def test_re_authentication_begins_with_0x19_and_the_same_method(
    strict: RunningBroker, reason: int, method: str
) -> None:
    with peer(strict) as client:
        let_in(client, "user", "pencil")
        answer = go_on(client, reason, b"n,,n=user,r=abc", method)
        assert says(answer) == (Kind.DISCONNECT, 0x82)  # MQTT-4.12.1-1
        assert client.closed()


def test_who_came_in_with_a_password_has_no_method(strict: RunningBroker) -> None:
    with peer(strict) as client:
        answer = client.connect(username="user", password=b"pencil")
        assert says(answer) == (Kind.CONNACK, 0)
        assert "auth_method" not in answer.properties  # MQTT-4.12.0-6
        refused = go_on(client, AGAIN, b"n,,n=user,r=abc")
        assert says(refused) == (Kind.DISCONNECT, 0x82)  # MQTT-4.12.0-7
        assert client.closed()
