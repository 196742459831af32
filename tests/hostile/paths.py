"""The ways by which a message leaves the broker; each brings one message to one subscriber."""

from collections.abc import Callable
from itertools import count

from tests.hostile.siege import LASTING, Siege
from tests.raw_mqtt import V5, Kind, Packet, RawPeer, Will

NAMES = count(1)

Path = Callable[[Siege, str, bytes, bytes], Packet]
"""From topic, payload and properties to what the subscriber got."""


def live(siege: Siege, topic: str, payload: bytes, properties: bytes) -> Packet:
    subscriber = _subscriber(siege, topic)
    _publish(siege, topic, payload, properties)
    return _heard(subscriber)


def shared(siege: Siege, topic: str, payload: bytes, properties: bytes) -> Packet:
    subscriber = _subscriber(siege, f"$share/group/{topic}")
    _publish(siege, topic, payload, properties)
    return _heard(subscriber)


def retained(siege: Siege, topic: str, payload: bytes, properties: bytes) -> Packet:
    _publish(siege, topic, payload, properties, retain=True)
    heard = _heard(_subscriber(siege, topic))
    _publish(siege, topic, b"", b"", retain=True)
    return heard


def stored(siege: Siege, topic: str, payload: bytes, properties: bytes) -> Packet:
    name = f"away-{next(NAMES)}"
    subscriber = _subscriber(siege, topic, name)
    subscriber.send(V5.disconnect())
    assert subscriber.closed()
    _publish(siege, topic, payload, properties)
    again = siege.peer()
    assert again.connect(name, clean=False, properties=LASTING).session_present
    return _heard(again)


def will(siege: Siege, topic: str, payload: bytes, properties: bytes) -> Packet:
    subscriber = _subscriber(siege, topic)
    last = Will(topic, payload, qos=1, properties=properties)
    siege.client(f"dying-{next(NAMES)}", will=last).hang_up()
    return _heard(subscriber)


PATHS: dict[str, Path] = {
    "live": live,
    "shared": shared,
    "retained": retained,
    "stored": stored,
    "will": will,
}


def _subscriber(siege: Siege, wanted: str, name: str = "") -> RawPeer:
    subscriber = siege.client(name, properties=LASTING if name else b"")
    subscriber.send(V5.subscribe(1, (wanted, 1)))
    answers = subscriber.until(Kind.SUBACK)
    assert answers[-1].reasons == (1,), answers
    return subscriber


def _publish(
    siege: Siege, topic: str, payload: bytes, properties: bytes, *, retain: bool = False
) -> None:
    publisher = siege.client()
    publisher.send(
        V5.publish(topic, payload, qos=1, packet_id=1, retain=retain, properties=properties)
    )
    acknowledged = publisher.packet()
    assert acknowledged.kind is Kind.PUBACK
    assert acknowledged.reason in {0x00, 0x10}
    publisher.close()


def _heard(subscriber: RawPeer) -> Packet:
    heard = subscriber.until(Kind.PUBLISH)[-1]
    subscriber.send(V5.puback(heard.id))
    return heard
