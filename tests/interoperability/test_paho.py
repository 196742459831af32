"""Paho at every version: every QoS, retained messages, wills and sessions (T1, V1)."""

import queue
import socket
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.running_broker import RunningBroker

WAIT_S = 60
MQTTv31 = MQTTProtocolVersion.MQTTv31
MQTTv311 = MQTTProtocolVersion.MQTTv311
MQTTv5 = MQTTProtocolVersion.MQTTv5
VERSIONS = pytest.mark.parametrize(
    "version", [MQTTv31, MQTTv311, MQTTv5], ids=["v31", "v311", "v5"]
)
QOS = pytest.mark.parametrize("qos", [0, 1, 2])


class Paho:
    """A Paho client that puts what it receives into a queue."""

    def __init__(self, broker: RunningBroker, version: MQTTProtocolVersion, name: str) -> None:
        self.broker = broker
        self.version = version
        self.received: queue.Queue[tuple[str, bytes, int, bool]] = queue.Queue()
        self.connected: queue.Queue[bool] = queue.Queue()
        self.subscribed: queue.Queue[object] = queue.Queue()
        options: dict[str, Any] = {} if version == MQTTv5 else {"clean_session": False}
        self.client = Client(CallbackAPIVersion.VERSION2, name, protocol=version, **options)
        self.client.on_connect = self._on_connect
        self.client.on_message = self._on_message
        self.client.on_subscribe = lambda *_: self.subscribed.put(None)

    def _on_connect(self, *arguments: Any) -> None:
        assert not arguments[3].is_failure, arguments[3]
        self.connected.put(arguments[2].session_present)

    def _on_message(self, _client: Client, _userdata: object, message: MQTTMessage) -> None:
        payload = bytes(message.payload)
        self.received.put((message.topic, payload, message.qos, message.retain))

    def __enter__(self) -> "Paho":
        """Connect with a session that is kept."""
        options: dict[str, Any] = {}
        if self.version == MQTTv5:
            kept: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            kept.SessionExpiryInterval = 600
            options = {"clean_start": False, "properties": kept}
        self.client.connect(self.broker.host, self.broker.port, **options)
        self.client.loop_start()
        self.session_present = self.connected.get(timeout=WAIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def subscribe(self, wanted: str, qos: int) -> None:
        self.client.subscribe(wanted, qos)
        self.subscribed.get(timeout=WAIT_S)

    def publish(self, topic: str, payload: str, qos: int, *, retain: bool = False) -> None:
        self.client.publish(topic, payload, qos, retain).wait_for_publish(WAIT_S)

    def next(self) -> tuple[str, bytes, int, bool]:
        return self.received.get(timeout=WAIT_S)

    def lose_the_network(self) -> None:
        """End the connection without a DISCONNECT."""
        connection = self.client.socket()
        assert isinstance(connection, socket.socket)
        self.client.loop_stop()
        connection.shutdown(socket.SHUT_RDWR)


@VERSIONS
@QOS
def test_messages_of_every_qos_arrive(
    standing_broker: RunningBroker, name: str, version: MQTTProtocolVersion, qos: int
) -> None:
    with Paho(standing_broker, version, f"{name}-s") as sub:
        sub.subscribe(f"{name}/#", 2)
        with Paho(standing_broker, version, f"{name}-p") as pub:
            for number in range(100):
                pub.publish(f"{name}/{number}", str(number), qos)
        expected = [(f"{name}/{n}", str(n).encode(), qos, False) for n in range(100)]
        assert [sub.next() for _ in range(100)] == expected


@VERSIONS
@QOS
def test_a_retained_message_is_there_for_those_who_come_later(
    standing_broker: RunningBroker, name: str, version: MQTTProtocolVersion, qos: int
) -> None:
    with Paho(standing_broker, version, f"{name}-p") as pub:
        pub.publish(name, "first", qos, retain=True)
        pub.publish(name, "last", qos, retain=True)
    with Paho(standing_broker, version, f"{name}-s") as sub:
        sub.subscribe(name, 2)
        assert sub.next() == (name, b"last", qos, True)


@VERSIONS
@QOS
def test_a_will_is_published_when_the_network_is_lost(
    standing_broker: RunningBroker, name: str, version: MQTTProtocolVersion, qos: int
) -> None:
    with Paho(standing_broker, version, f"{name}-s") as sub:
        sub.subscribe(name, 2)
        gone = Paho(standing_broker, version, f"{name}-g")
        gone.client.will_set(name, "gone", qos)
        gone.__enter__().lose_the_network()
        assert sub.next() == (name, b"gone", qos, False)


@VERSIONS
def test_a_session_keeps_subscriptions_and_messages(
    standing_broker: RunningBroker, name: str, version: MQTTProtocolVersion
) -> None:
    with Paho(standing_broker, version, f"{name}-s") as sub:
        assert not sub.session_present
        sub.subscribe(f"{name}/#", 2)
    with Paho(standing_broker, version, f"{name}-p") as pub:
        pub.publish(f"{name}/0", "not kept", 0)
        pub.publish(f"{name}/1", "one", 1)
        pub.publish(f"{name}/2", "two", 2)
    with Paho(standing_broker, version, f"{name}-s") as sub:
        assert sub.session_present == (version != MQTTv31), "3.1 has no word for it"
        assert sub.next() == (f"{name}/1", b"one", 1, False)
        assert sub.next() == (f"{name}/2", b"two", 2, False)
