"""Requests of clients that know nothing of Slipring: Paho and mosquitto_rr, on either side (T2)."""

import asyncio
import queue
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import slipring
from slipring import sync
from tests.running_broker import RunningBroker

WAIT_S = 60


@contextmanager
def paho(broker: RunningBroker, on_message: Any, *filters: str) -> Iterator[Client]:
    """A Paho client that has subscribed."""
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    subscribed: queue.Queue[None] = queue.Queue()
    client.on_message = on_message
    client.on_subscribe = lambda *_: subscribed.put(None)
    client.connect(broker.host, broker.port)
    client.loop_start()
    for one in filters:
        client.subscribe(one, qos=1)
        subscribed.get(timeout=WAIT_S)
    try:
        yield client
    finally:
        client.disconnect()
        client.loop_stop()


def new_properties(**given: Any) -> Properties:
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    for name, value in given.items():
        setattr(properties, name, value)
    return properties


def answer_upper(client: Client, _userdata: object, message: MQTTMessage) -> None:
    topic, text = of(message, "ResponseTopic"), message.payload.decode()
    told = [("slipring-status", "failed")] if text == "bad" else []
    if text == "parts":
        part = new_properties(UserProperty=[("slipring-status", "part")])
        client.publish(topic, "first", qos=1, properties=part)
    answer = new_properties(ContentType="text/plain", UserProperty=told)
    client.publish(topic, text.upper(), qos=1, properties=answer)


def of(message: MQTTMessage, name: str) -> Any:
    """A property of a message."""
    return getattr(message.properties, name)


def test_paho_serves(standing_broker: RunningBroker, name: str) -> None:
    with (
        paho(standing_broker, answer_upper, f"{name}/#"),
        sync.connect(standing_broker.url) as bus,
    ):
        answer = bus.request(f"{name}/a", "hello")
        assert answer == slipring.Answer(b"HELLO", "text/plain")
        found = [(one.text, one.is_part) for one in bus.ask_parts(f"{name}/a", "parts")]
        assert found == [("first", True), ("PARTS", False)]
        with pytest.raises(slipring.ServiceFailed) as failed:
            bus.request(f"{name}/a", "bad")
        assert failed.value.reason == "BAD"


def test_paho_asks(standing_broker: RunningBroker, name: str) -> None:
    ends: queue.Queue[MQTTMessage] = queue.Queue()
    properties = new_properties(
        ResponseTopic=f"{name}/answers",
        CorrelationData=b"7",
        UserProperty=[("slipring-timeout", "30")],
    )

    def double(request: slipring.ThreadRequest) -> bytes:
        return request.payload * 2

    with (
        paho(standing_broker, lambda *arguments: ends.put(arguments[2])) as client,
        sync.connect(standing_broker.url) as bus,
    ):
        client.publish(f"{name}/a", "ab", qos=1, properties=properties)
        assert status(ends.get(timeout=WAIT_S)) == "not-delivered"
        with bus.serve(f"{name}/#", double):
            client.publish(f"{name}/a", "ab", qos=1, properties=properties)
            end = ends.get(timeout=WAIT_S)
        assert (end.topic, end.payload, status(end)) == (f"{name}/answers", b"abab", "answered")
        assert of(end, "CorrelationData") == b"7"


def status(message: MQTTMessage) -> str:
    return str(dict(of(message, "UserProperty"))["slipring-status"])


async def test_mosquitto_rr_asks(standing_broker: RunningBroker, name: str) -> None:
    async def double(request: slipring.Request) -> bytes:
        return request.payload * 2

    async with (
        slipring.connect(standing_broker.url) as bus,
        bus.serve(f"{name}/ask", double),
    ):
        process = await asyncio.create_subprocess_exec(
            *("mosquitto_rr", "-h", standing_broker.host, "-p", str(standing_broker.port)),
            *("-V", "5", "-q", "1", "-t", f"{name}/ask", "-m", "ab", "-e", f"{name}/answers"),
            *("-D", "publish", "user-property", "slipring-timeout", "30"),
            stdout=subprocess.PIPE,
        )
        async with asyncio.timeout(WAIT_S):
            out, _ = await process.communicate()
    assert out == b"abab\n"
