"""aiomqtt, the asyncio face of Paho: every QoS, retained messages, wills and sessions (T1, V1)."""

import asyncio
from contextlib import suppress
from typing import Any

import aiomqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from tests.running_broker import RunningBroker

WAIT_S = 60


def client(broker: RunningBroker, name: str, will: aiomqtt.Will | None = None) -> aiomqtt.Client:
    """A client of MQTT 3.1.1 with a session that is kept."""
    return aiomqtt.Client(
        broker.host, broker.port, identifier=name, clean_session=False, will=will, timeout=WAIT_S
    )


async def received(who: aiomqtt.Client, count: int) -> list[tuple[str, bytes, int, bool]]:
    found = []
    async with asyncio.timeout(WAIT_S):
        async for message in who.messages:
            found.append((str(message.topic), message.payload, message.qos, message.retain))
            if len(found) == count:
                break
    return found


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_messages_of_every_qos_arrive(
    standing_broker: RunningBroker, name: str, qos: int
) -> None:
    async with client(standing_broker, f"{name}-s") as sub:
        await sub.subscribe(f"{name}/+", qos=2)
        async with client(standing_broker, f"{name}-p") as pub:
            for number in range(20):
                await pub.publish(f"{name}/{number}", str(number), qos=qos)
        expected = [(f"{name}/{n}", str(n).encode(), qos, False) for n in range(20)]
        assert await received(sub, 20) == expected


async def test_an_mqtt_5_client_sends_and_gets_properties(
    standing_broker: RunningBroker, name: str
) -> None:
    properties: Any = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    properties.UserProperty = [("unit", "rpm"), ("unit", "1/s")]
    properties.ContentType = "text/plain"
    version = aiomqtt.ProtocolVersion.V5
    at = standing_broker.host, standing_broker.port
    async with aiomqtt.Client(*at, protocol=version, timeout=WAIT_S) as bus:
        await bus.subscribe(name, qos=1)
        await bus.publish(name, "1", qos=1, properties=properties)
        message = await anext(aiter(bus.messages))
    got: Any = message.properties
    assert got.UserProperty == [("unit", "rpm"), ("unit", "1/s")]
    assert got.ContentType == "text/plain"


async def test_a_retained_message_is_there_for_those_who_come_later(
    standing_broker: RunningBroker, name: str
) -> None:
    async with client(standing_broker, f"{name}-p") as pub:
        await pub.publish(name, "kept", qos=1, retain=True)
    async with client(standing_broker, f"{name}-s") as sub:
        await sub.subscribe(name, qos=1)
        assert await received(sub, 1) == [(name, b"kept", 1, True)]


async def test_a_will_is_published_when_a_client_is_taken_over(
    standing_broker: RunningBroker, name: str
) -> None:
    async with client(standing_broker, f"{name}-s") as sub:
        await sub.subscribe(name, qos=2)
        first = client(standing_broker, f"{name}-g", aiomqtt.Will(name, "gone", qos=1))
        await first.__aenter__()
        async with client(standing_broker, f"{name}-g"):
            assert await received(sub, 1) == [(name, b"gone", 1, False)]
        with suppress(aiomqtt.MqttError):
            await first.__aexit__(None, None, None)


async def test_a_session_keeps_subscriptions_and_messages(
    standing_broker: RunningBroker, name: str
) -> None:
    async with client(standing_broker, f"{name}-s") as sub:
        await sub.subscribe(name, qos=2)
    async with client(standing_broker, f"{name}-p") as pub:
        await pub.publish(name, "one", qos=1)
        await pub.publish(name, "two", qos=2)
    async with client(standing_broker, f"{name}-s") as sub:
        assert await received(sub, 2) == [(name, b"one", 1, False), (name, b"two", 2, False)]
