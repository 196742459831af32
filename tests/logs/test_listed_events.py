"""Every event that the requirements list (2.1.4, T10), provoked on a real broker and found in the
log with its client, topic and request as fields.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from slipring.control.event_kinds import KINDS
from tests.access_rules import ALL
from tests.auth.scram import verifier
from tests.logs.logged_broker import logged
from tests.logs.receivers import Received, Receiver
from tests.mqtt_bytes import Pair
from tests.raw_mqtt import V5, RawPeer, properties
from tests.running_broker import RunningBroker

PEERS: list[RawPeer] = []
"""All that connected, to be closed."""
SECRET = "not to be told"
KEPT = properties(session_expiry=3_600)


@dataclass(frozen=True)
class Row:
    """A line of the document: an event that must be found for it."""

    line: str
    event: str
    client: str | None = None
    topic: str | None = None
    detail: str = ""


MESSAGE = "successful receiving, storing, restoring and delivering message to subscribers"
ERROR = "error occurring during request handling or message delivery"
SUBSCRIPTION = "successful/unsuccessful subscription and subscription cancel"
CONNECTION = "successful/unsuccessful connection and disconnection"
AUTHENTICATION = "successful/unsuccessful authentication"
RIGHTS = "unauthorized action performed"
OVERLOAD = "discarding messages due to overload"
ROWS = (
    Row(MESSAGE, "message received", "publisher", "plant/a", "QoS 0, 5 bytes"),
    Row(MESSAGE, "message delivered", "reader", "plant/a", "QoS 0"),
    Row(MESSAGE, "message received", "publisher", "plant/b", "QoS 1, 4 bytes"),
    Row(MESSAGE, "message received", "publisher", "plant/u", "`slipring-priority` is high, nor"),
    Row(MESSAGE, "message delivered", "reader", "plant/b", "acknowledged"),
    Row(MESSAGE, "message delivered", "reader", "plant/c", "acknowledged"),
    Row(MESSAGE, "message stored", "publisher", "kept", "as the retained message"),
    Row(MESSAGE, "message stored", "publisher", "later/1", "until a client subscribes"),
    Row(MESSAGE, "message restored", "late", "later/1", "it waited for a subscriber"),
    Row(MESSAGE, "message stored", "absent", "for/absent", "until the client is back"),
    Row(MESSAGE, "message restored", "absent", "for/absent", "from the journal, offset"),
    Row(MESSAGE, "message delivered", "absent", "for/absent", "acknowledged"),
    Row(ERROR, "message not delivered", "reader", "plant/d", "the subscriber refused it"),
    Row(SUBSCRIPTION, "subscribed", "reader", "plant/#"),
    Row(SUBSCRIPTION, "subscription refused", "reader", "third", "quota exceeded"),
    Row(SUBSCRIPTION, "unsubscribed", "reader", "second"),
    Row(SUBSCRIPTION, "not subscribed", "reader", "never"),
    Row(CONNECTION, "connected", "reader", None, "MQTT 5"),
    Row(CONNECTION, "refused", None, None, "bad user name or password"),
    Row(CONNECTION, "disconnected", "publisher", None, "said goodbye"),
    Row(CONNECTION, "disconnected", "careless", None, "the client closed the connection"),
    Row(AUTHENTICATION, "authenticated", "known", None, "as gripen"),
    Row(AUTHENTICATION, "authentication refused", None, None, "bad user name or password"),
    Row(RIGHTS, "unauthorized", "publisher", "$SYS/broker/uptime", "it may not publish there"),
    Row(OVERLOAD, "dropped", "absent", None, "1 message: it does not keep up (limits.queue_me"),
    Row(OVERLOAD, "message discarded", "broker", "later/0", "limits.waiting_messages"),
)
"""Those of requests are in `test_listed_requests.py`."""


CONFIG = f"""
allow_anonymous = true
[limits]
subscriptions = 2
queue_messages = 2
waiting_messages = 2
[log]
level = "debug"
[[user]]
name = "gripen"
password = "{verifier("right")}"
{ALL}
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    """What a log server got of a broker on which all of it happened."""
    with logged(tmp_path_factory.mktemp("listed"), CONFIG, happen) as receiver:
        yield receiver


def happen(running: RunningBroker) -> None:
    """Provoke every event."""
    peer(running, "known", username="gripen", password=b"right").close()
    peer(running, "stranger", username="gripen", password=SECRET.encode()).drain()
    peer(running, "careless").close()
    publisher, reader = peer(running, "publisher"), peer(running, "reader")
    reader.send(V5.subscribe(1, ("plant/#", 2), ("second", 0)))
    reader.send(V5.subscribe(2, "third"), V5.unsubscribe(3, "second", "never"))
    reader.settle()
    reader.waiting()
    publish_to_reader(publisher, reader)
    be_absent(running, publisher)
    publisher.send(V5.publish("$SYS/broker/uptime", b"0", qos=1, packet_id=90))
    publisher.send(V5.publish("kept", b"1", retain=True))
    wait_for_a_subscriber(running, publisher)
    publisher.send(V5.disconnect())
    publisher.drain()
    for one in PEERS:
        one.close()


def peer(broker: RunningBroker, client_id: str, **options: object) -> RawPeer:
    """A client, let in or not."""
    made = RawPeer(broker.host, broker.port)
    PEERS.append(made)
    made.connect(client_id, **options)
    return made


def publish_to_reader(publisher: RawPeer, reader: RawPeer) -> None:
    publisher.send(V5.publish("plant/a", b"hello"))
    assert reader.packet().topic == "plant/a"
    urgent = properties(user=("slipring-priority", "urgent"))
    publisher.send(V5.publish("plant/u", b"soon", properties=urgent))
    assert reader.packet().topic == "plant/u"
    publisher.send(V5.publish("plant/b", b"once", qos=1, packet_id=1))
    reader.send(V5.puback(reader.packet().id))
    publisher.send(V5.publish("plant/c", b"safe", qos=2, packet_id=2), V5.pubrel(2))
    got = reader.packet().id
    reader.send(V5.pubrec(got))
    reader.packet()
    reader.send(V5.pubcomp(got))
    publisher.send(V5.publish("plant/d", b"no", qos=2, packet_id=3), V5.pubrel(3))
    reader.send(V5.pubrec(reader.packet().id, reason=0x83))
    reader.settle()
    publisher.settle()


def be_absent(broker: RunningBroker, publisher: RawPeer) -> None:
    """A client that is away while messages come, one more than its queue holds."""
    absent = peer(broker, "absent", properties=KEPT)
    absent.send(V5.subscribe(1, ("for/#", 1)), V5.disconnect())
    absent.drain()  # the broker closes when it is away
    for number in (1, 2, 3):
        publisher.send(V5.publish("for/absent", b"%d" % number, qos=1, packet_id=number))
    publisher.settle()
    absent = peer(broker, "absent", clean=False, properties=KEPT)
    for payload in (b"2", b"3"):
        message = absent.packet()
        assert message.payload == payload
        absent.send(V5.puback(message.id))
    absent.settle()


def wait_for_a_subscriber(broker: RunningBroker, publisher: RawPeer) -> None:
    """Messages that wait for their first subscriber, one more than may."""
    for number, priority in enumerate(("low", "normal", "high")):
        user: list[Pair] = [("slipring-wait", "1"), ("slipring-priority", priority)]
        asked = properties(user=user)
        message = V5.publish(f"later/{number}", b"x", qos=1, packet_id=10, properties=asked)
        publisher.send(message)
        publisher.settle()
    late = peer(broker, "late")
    late.send(V5.subscribe(1, ("later/#", 1)))
    late.settle()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.event} {row.topic or row.client}")
def test_every_listed_event_is_in_the_log_with_its_fields(told: Receiver, row: Row) -> None:
    def is_told(line: Received) -> bool:
        fields = line.fields
        return (
            fields.get("event") == row.event
            and (row.client is None or fields.get("client") == row.client)
            and fields.get("topic") == row.topic
            and row.detail in fields.get("detail", "")
        )

    found = [line for line in told.seen if is_told(line)]
    assert found, [line.fields for line in told.seen if line.fields.get("event") == row.event]
    assert all(line.fields["room"] == KINDS[row.event].room for line in found)
    assert all(line.fields["client"] for line in found)


def test_a_password_is_never_in_the_log(told: Receiver) -> None:
    assert not [line for line in told.seen if SECRET in str(line.raw)]
