"""Any MQTT client is a citizen: Paho and Mosquitto's tools, at both versions (T1, V1)."""

import queue
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from tests.console_answer import overview
from tests.running_broker import RunningBroker

WAIT_S = 60
MQTTv311 = MQTTProtocolVersion.MQTTv311
MQTTv5 = MQTTProtocolVersion.MQTTv5


@contextmanager
def paho(
    broker: RunningBroker, version: MQTTProtocolVersion, *filters: str
) -> Iterator[tuple[Client, Any]]:
    """A connected and subscribed Paho client, with the queue of what it receives."""
    received: queue.Queue[tuple[str, bytes]] = queue.Queue()
    subscribed: queue.Queue[object] = queue.Queue()
    client = Client(CallbackAPIVersion.VERSION2, protocol=version)

    def on_message(_client: Client, _userdata: object, message: MQTTMessage) -> None:
        received.put((message.topic, bytes(message.payload)))

    def on_subscribe(*_: object) -> None:
        subscribed.put(None)

    client.on_message = on_message
    client.on_subscribe = on_subscribe
    client.connect(broker.host, broker.port)
    client.loop_start()
    for wanted in filters:
        client.subscribe(wanted)
        subscribed.get(timeout=WAIT_S)
    try:
        yield client, received
    finally:
        client.disconnect()
        client.loop_stop()


def tool(name: str, broker: RunningBroker, *arguments: str) -> list[str]:
    return [name, "-h", broker.host, "-p", str(broker.port), *arguments]


@pytest.mark.parametrize("publisher", [MQTTv311, MQTTv5])
@pytest.mark.parametrize("subscriber", [MQTTv311, MQTTv5])
def test_paho_clients_of_any_version_meet(
    broker: RunningBroker, publisher: MQTTProtocolVersion, subscriber: MQTTProtocolVersion
) -> None:
    with (
        paho(broker, subscriber, "gripen/+/engine/#", "plant/#") as (_, received),
        paho(broker, publisher) as (client, _),
    ):
        client.publish("gripen/39-7/engine/rpm", "12034.5")
        client.publish("gripen/39-7/fuel", "not chosen")
        client.publish("plant/level", b"\x00\xff")
        assert received.get(timeout=WAIT_S) == ("gripen/39-7/engine/rpm", b"12034.5")
        assert received.get(timeout=WAIT_S) == ("plant/level", b"\x00\xff")


def test_ten_thousand_messages_arrive_in_order(broker: RunningBroker) -> None:
    with (
        paho(broker, MQTTv5, "t") as (_, received),
        paho(broker, MQTTv5) as (client, _),
    ):
        for number in range(10_000):
            client.publish("t", str(number))
        got = [int(received.get(timeout=WAIT_S)[1]) for _ in range(10_000)]
    assert got == list(range(10_000))


def wait_for_subscription(broker: RunningBroker, wanted: str) -> None:
    """Until the broker itself shows that somebody has subscribed."""
    shown: set[str] = set()
    while wanted not in shown:
        clients = overview(broker)["clients"]
        shown = {subscription for client in clients for subscription in client["subscriptions"]}


@pytest.mark.parametrize("version", ["mqttv311", "mqttv5"])
def test_mosquittos_tools_publish_and_subscribe(broker: RunningBroker, version: str) -> None:
    listen = tool("mosquitto_sub", broker, "-V", version, "-t", "a/#", "-C", "1", "-v")
    with subprocess.Popen(listen, stdout=subprocess.PIPE, text=True) as subscriber:
        wait_for_subscription(broker, "a/#")
        send = tool("mosquitto_pub", broker, "-V", version, "-t", "a/b", "-m", "hello")
        subprocess.run(send, check=True, timeout=WAIT_S)
        output, _ = subscriber.communicate(timeout=WAIT_S)
    assert (output, subscriber.returncode) == ("a/b hello\n", 0)
