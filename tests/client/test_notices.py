"""Notices: from a node to all of a role, and from the broker to all; any MQTT client (G10)."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

import slipring
from slipring.client import Notices
from slipring.errors import PublishRefused
from tests.configured_broker import Configured
from tests.raw_mqtt import V5, V311, Kind, RawPeer, Version, properties
from tests.running_broker import RunningBroker

WAIT_S = 60
NOTICES = "$slipring/notices"
FLOOD = 2_000
"""Notices that one connection may not send at once: it has 20, and then 10 a second."""


@asynccontextmanager
async def node(
    broker: RunningBroker, name: str, *, publishes: bool = False, subscribes: bool = False
) -> AsyncIterator[tuple[slipring.Bus, Notices]]:
    """A client that reads notices, of a role."""
    async with AsyncExitStack() as stack:
        bus = await stack.enter_async_context(slipring.connect(broker.url, client_id=name))
        notices = await stack.enter_async_context(bus.notices())
        if publishes:
            await bus.publish("a", 1, qos=1)
        if subscribes:
            await stack.enter_async_context(bus.subscribe("b/#"))
        yield bus, notices


async def page(console: str, name: str) -> str:
    async with httpx.AsyncClient(timeout=WAIT_S) as browser:
        return (await browser.get(f"{console}/{name}")).text


async def heard(notices: Notices) -> list[str]:
    """All that was said before `end`."""
    texts: list[str] = []
    async with asyncio.timeout(WAIT_S):
        async for notice in notices:
            if notice.text == "end":
                return texts
            texts.append(f"{notice.sender} to {notice.to}: {notice.text}")
    raise AssertionError("the notices ended")


async def test_each_role_hears_what_is_for_it(shared_broker: RunningBroker) -> None:
    async with (
        node(shared_broker, "publisher", publishes=True) as (_, publisher),
        node(shared_broker, "subscriber", subscribes=True) as (_, subscriber),
        node(shared_broker, "both", publishes=True, subscribes=True) as (_, both),
        node(shared_broker, "neither") as (bus, neither),
    ):
        for role in ("publishers", "subscribers", "brokers", "node/both", "node/nobody", "all"):
            await bus.notify(role, role)
        await bus.notify("all", "end")
        assert await heard(publisher) == [
            "neither to publishers: publishers",
            "neither to all: all",
        ]
        assert await heard(subscriber) == [
            "neither to subscribers: subscribers",
            "neither to all: all",
        ]
        assert await heard(both) == [
            "neither to publishers: publishers",
            "neither to subscribers: subscribers",
            "neither to node/both: node/both",
            "neither to all: all",
        ]
        assert await heard(neither) == ["neither to all: all"]


async def test_a_client_is_a_publisher_from_its_first_message_on(
    shared_broker: RunningBroker,
) -> None:
    async with node(shared_broker, "late") as (bus, notices):
        await bus.notify("publishers", "before")
        await bus.publish("a", 1, qos=1)
        await bus.notify("publishers", "after")
        await bus.notify("all", "end")
        assert await heard(notices) == ["late to publishers: after"]


async def test_a_client_that_declares_is_a_publisher(broker: RunningBroker) -> None:
    async with node(broker, "declaring") as (bus, notices):
        await bus._connection.ask("table/declare", b'{"parameters": [{"name": "", "type": "f64"}]}')
        await bus.notify("publishers", "refused")
        await bus._connection.ask(
            "table/declare", b'{"parameters": [{"name": "rpm", "type": "f64"}]}'
        )
        await bus.notify("publishers", "declared")
        await bus.notify("all", "end")
        assert await heard(notices) == ["declaring to publishers: declared"]


async def test_a_client_is_a_subscriber_while_it_subscribes(shared_broker: RunningBroker) -> None:
    async with node(shared_broker, "reader") as (bus, notices):
        await bus.notify("subscribers", "before")
        async with bus.subscribe("a"):
            await bus.notify("subscribers", "meanwhile")
        await bus.notify("subscribers", "after")
        await bus.notify("all", "end")
        assert await heard(notices) == ["reader to subscribers: meanwhile"]


async def test_a_broker_logs_and_shows_what_is_said_to_brokers(configured: Configured) -> None:
    broker = configured("")
    async with slipring.connect(broker.running.url, client_id="gripen") as bus:
        await bus.notify("brokers", "landing \x1b[31m in 5\n minutes")
        line = broker.line("gripen says")
        assert "gripen says: landing" in line
        assert "\x1b" not in line
        overview = json.loads(await page(broker.console, "api/overview"))
        assert [one["kind"] for one in overview["events"]].count("notice") == 1
        metrics = await page(broker.console, "metrics")
        assert 'slipring_notices_total{outcome="accepted"} 1' in metrics


@pytest.mark.parametrize("version", [V311, V5], ids=["v311", "v5"])
def test_any_client_can_say_and_hear(shared_broker: RunningBroker, version: Version) -> None:
    with (
        RawPeer(shared_broker.host, shared_broker.port, version) as speaker,
        RawPeer(shared_broker.host, shared_broker.port) as listener,
    ):
        speaker.connect("speaker")
        listener.connect("listener")
        listener.send(V5.subscribe(1, ("$slipring/#", 1)))
        listener.packet()
        speaker.send(version.publish("$slipring/to/all", b"hello", qos=1, packet_id=5))
        assert speaker.packet().reason == 0
        said = listener.packet()
    assert (said.topic, said.payload, said.qos, said.retain) == (NOTICES, b"hello", 1, False)
    assert said.properties["user"] == (("to", "all"), ("from", "speaker"))


def test_nobody_can_speak_in_the_name_of_another(shared_broker: RunningBroker) -> None:
    forged = b"".join(
        properties(user=pair) for pair in (("from", "admin"), ("why", "x"), ("to", "you"))
    )
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        peer.connect("peer")
        peer.send(V5.subscribe(1, NOTICES))
        peer.packet()
        peer.send(V5.publish("$slipring/to/all", b"hello", properties=forged))
        told = peer.packet().properties["user"]
        assert told == (("why", "x"), ("to", "all"), ("from", "peer"))
        peer.send(V5.publish(NOTICES, b"hello", qos=1, packet_id=1))
        assert peer.packet().reason == 0x87


def test_the_quality_is_the_lower_of_both(shared_broker: RunningBroker) -> None:
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        peer.connect("peer")
        for granted, sent in ((0, 1), (1, 0), (1, 1), (2, 1)):
            peer.send(V5.subscribe(1, (NOTICES, granted)))
            peer.until(Kind.SUBACK)
            peer.send(V5.publish("$slipring/to/node/peer", qos=sent, packet_id=sent or None))
            heard = peer.until(Kind.PUBLISH)[-1]
            assert heard.qos == min(granted, sent)
            if heard.qos:
                peer.send(V5.puback(heard.id))
            peer.settle()


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        ("$slipring/to/everyone", 0x90),
        ("$slipring/to/node/", 0x90),
        ("$slipring/to", 0x87),
        ("$slipring/to/all", 0x10),
        ("$slipring/to/node/stranger", 0x10),
    ],
)
def test_who_speaks_to_nobody_is_told(
    shared_broker: RunningBroker, topic: str, reason: int
) -> None:
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        peer.connect("peer")
        peer.send(V5.publish(topic, b"?", qos=1, packet_id=1))
        # All are also the brokers, which listen.
        assert peer.packet().reason == (0 if topic.endswith("all") else reason)


async def test_a_role_that_does_not_exist_is_an_error_here() -> None:
    for wrong in ("everyone", "node/", ""):
        with pytest.raises(ValueError, match="is not a role"):
            slipring.client.notices.topic_of(wrong)


async def test_too_many_or_too_large_notices_are_refused_and_counted(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        with pytest.raises(PublishRefused, match="0x83"):
            await bus.notify("all", bytes(4097))
        await bus.notify("all", bytes(4096))
        flood = (bus.notify("all", "flood") for _ in range(FLOOD))
        answers = await asyncio.gather(*flood, return_exceptions=True)
        refused = len([one for one in answers if one is not None])
        assert {type(one) for one in answers} == {type(None), PublishRefused}
        assert await bus.ping() > 0
        metrics = await page(broker.console, "metrics")
        assert f'slipring_notices_total{{outcome="refused"}} {refused + 1}' in metrics


def test_a_flood_of_an_old_client_does_not_end_its_connection(shared_broker: RunningBroker) -> None:
    with RawPeer(shared_broker.host, shared_broker.port, V311) as peer:
        peer.connect("peer")
        said = [V311.publish("$slipring/to/all", b"x", qos=1, packet_id=n) for n in range(1, 101)]
        peer.send(*said)
        assert [peer.packet().id for _ in said] == list(range(1, 101))


async def test_a_client_that_is_away_hears_nothing_later(shared_broker: RunningBroker) -> None:
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        kept = properties(session_expiry=600)
        peer.connect("sleeper", properties=kept)
        peer.send(V5.subscribe(1, (NOTICES, 1)))
        peer.packet()
    async with slipring.connect(shared_broker.url) as bus:
        while True:
            clients = json.loads(await page(shared_broker.console, "api/overview"))["clients"]
            if "sleeper" not in {one["client_id"] for one in clients}:
                break
        await bus.notify("node/sleeper", "wake up")
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        assert peer.connect("sleeper", clean=False, properties=kept).session_present
        assert peer.quiet()


@pytest.mark.parametrize("version", [V311, V5], ids=["v311", "v5"])
def test_the_end_of_the_broker_is_told_before_the_goodbye(
    broker: RunningBroker, version: Version
) -> None:
    with (
        RawPeer(broker.host, broker.port, version) as reader,
        RawPeer(broker.host, broker.port, version) as other,
    ):
        reader.connect("reader")
        other.connect("other")
        reader.send(version.subscribe(1, NOTICES))
        reader.packet()
        broker.process.send_signal(signal.SIGTERM)
        told = reader.packet()
        assert (told.topic, told.payload[:20]) == (NOTICES, b'{"event":"shutdown",')
        if version == V5:
            assert reader.packet().reason == 0x8B
            assert other.packet().reason == 0x8B
        assert reader.closed()
        assert other.closed()
    _, errors = broker.process.communicate(timeout=WAIT_S)
    assert broker.process.returncode == 0, errors


async def test_a_shutdown_is_an_event_of_the_broker_alone(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url, reconnect_s=0) as bus, bus.notices() as notices:
        await bus.notify("all", '{"event":"shutdown"}')
        assert (await anext(notices)).event is None
        broker.process.send_signal(signal.SIGTERM)
        notice = await asyncio.wait_for(anext(notices), WAIT_S)
        assert (notice.event, notice.sender, notice.to) == ("shutdown", "", "all")
        assert b'"reason"' in notice.payload
    await asyncio.to_thread(broker.process.communicate, timeout=WAIT_S)


async def test_paho_hears_ours_and_ours_hears_paho(shared_broker: RunningBroker) -> None:
    loop, told = asyncio.get_running_loop(), asyncio.Queue[Any]()

    def on_message(_client: object, _userdata: object, message: paho.MQTTMessage) -> None:
        loop.call_soon_threadsafe(told.put_nowait, message)

    def on_subscribe(*_: Any) -> None:
        loop.call_soon_threadsafe(told.put_nowait, None)

    other = paho.Client(CallbackAPIVersion.VERSION2, "other", protocol=MQTTProtocolVersion.MQTTv5)
    other.on_message = on_message
    other.on_subscribe = on_subscribe
    other.connect(shared_broker.host, shared_broker.port)
    other.loop_start()
    try:
        async with node(shared_broker, "ours") as (bus, notices), asyncio.timeout(WAIT_S):
            other.subscribe(NOTICES, 1)
            assert await told.get() is None
            await bus.notify("node/other", "from ours")
            message = await told.get()
            assert message.payload == b"from ours"
            assert ("from", "ours") in message.properties.UserProperty
            other.publish("$slipring/to/node/ours", "from paho", 1)
            notice = await anext(notices)
            assert (notice.sender, notice.text) == ("other", "from paho")
    finally:
        other.disconnect()
        other.loop_stop()
