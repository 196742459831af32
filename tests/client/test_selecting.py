"""Subscriptions with properties: each gets its own messages alone, also after a reconnection."""

import asyncio

import pytest

import slipring
from slipring.client.subscription import Subscription
from tests.client.fake_broker import DISCONNECT, SUBSCRIBE, Peer, fake_broker
from tests.client.relay import relay_to
from tests.running_broker import PATIENCE_S

NEEDS = (("note", "of our own"),)


def select(bus: slipring.Bus, *filters: str) -> Subscription:
    return Subscription(bus._connection, filters, 0, NEEDS)


async def test_a_message_reaches_each_of_the_subscriptions_it_names_once(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        select(bus, "sel/+/rpm") as wide,
        select(bus, "sel/1/#") as narrow,
        bus.subscribe("other/#") as plain,
    ):
        for topic in ("sel/1/rpm", "sel/2/rpm", "sel/1/oil", "other/1"):
            await bus.publish(topic, topic)
        assert [(await anext(wide)).topic for _ in range(2)] == ["sel/1/rpm", "sel/2/rpm"]
        assert [(await anext(narrow)).topic for _ in range(2)] == ["sel/1/rpm", "sel/1/oil"]
        assert (await anext(plain)).topic == "other/1"
        await bus.publish("sel/1/rpm", b"last")
        assert (await anext(wide)).payload == (await anext(narrow)).payload == b"last"


async def test_it_is_made_again_after_a_loss(broker_url: str) -> None:
    async with (
        relay_to(broker_url) as relay,
        slipring.connect(relay.url) as bus,
        select(bus, "sel/again/#") as messages,
    ):
        for _ in range(3):
            changes = bus.changes()
            relay.cut()
            while not (await anext(changes)).connected:
                pass
            await bus.publish("sel/again/1", b"x")
            assert (await anext(messages)).payload == b"x"


async def test_it_does_not_stay_in_a_session_that_outlives_the_connection(broker_url: str) -> None:
    async with slipring.connect(broker_url, client_id="sel-kept", session_expiry_s=600) as bus:
        async with select(bus, "sel/kept"):
            pass
        async with bus.subscribe("sel/kept", qos=1) as messages:
            await bus.publish("sel/kept", b"plain", qos=1)
            assert (await anext(messages)).payload == b"plain"
            messages.unsubscribe()


async def test_a_filter_cannot_be_asked_for_with_other_properties_at_once(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, select(bus, "sel/twice"):
        with pytest.raises(slipring.Refused, match=r"sel/twice.*already.*another connection"):
            async with bus.subscribe("sel/twice"):
                pass


async def test_the_properties_and_the_identifier_are_sent_and_the_brokers_words_told() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        body = await peer.expect(SUBSCRIBE)
        assert b"\x00\x04note\x00\x0aof our own\x0b\x01" in body
        words = b"\x1f\x00\x08too fast"
        suback = body[:2] + bytes([len(words)]) + words + b"\x83"
        await peer.send(bytes([0x90, len(suback)]) + suback)
        while (await peer.packet())[0] != DISCONNECT:
            pass

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.Refused, match="too fast"):
            async with select(bus, "a"):
                pass


async def test_readers_of_two_selections_do_not_wait_for_each_other(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        select(bus, "sel/fast") as fast,
        select(bus, "sel/slow") as slow,
    ):
        for number in range(100):
            await bus.publish("sel/slow", number)
            await bus.publish("sel/fast", number)
        async with asyncio.timeout(PATIENCE_S):
            assert [int((await anext(fast)).payload) for _ in range(100)] == list(range(100))
            assert [int((await anext(slow)).payload) for _ in range(100)] == list(range(100))
