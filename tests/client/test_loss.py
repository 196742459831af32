"""A connection that breaks, and subscriptions that are refused."""

import asyncio
import contextlib

import pytest

import slipring
from slipring.client.losses import Loss
from tests.client.fake_broker import PINGREQ, PUBLISH, Peer, fake_broker, message


async def test_a_reader_gets_what_arrived_and_then_the_loss() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        await peer.send(message("a", b"1") + message("a", b"2"))

    async with (
        fake_broker(talk) as url,
        slipring.connect(url, reconnect_s=0) as bus,
        bus.subscribe("a") as messages,
    ):
        assert (await anext(messages)).payload == b"1"
        assert (await anext(messages)).payload == b"2"
        with pytest.raises(slipring.ConnectionLost, match="the broker closed the connection"):
            await anext(messages)


async def test_a_lost_connection_ends_every_call_with_the_reason() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        for _ in range(2):
            assert await peer.packet() == (PINGREQ, b"")
        await peer.send(b"\xe0\x02\x8b\x00")

    async with fake_broker(talk) as url, slipring.connect(url, reconnect_s=0) as bus:
        calls = [asyncio.create_task(call) for call in (bus.ping(), bus.ping())]
        for call in calls:
            with pytest.raises(slipring.ConnectionLost, match="server shutting down"):
                await call
        with pytest.raises(slipring.ConnectionLost, match="server shutting down"):
            await bus.publish("a")
        with pytest.raises(slipring.ConnectionLost, match="server shutting down"):
            async with bus.subscribe("a"):
                pass


async def test_a_broker_that_breaks_the_protocol_is_left() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        await peer.send(b"\xc0\x00")
        assert await peer.packet() == (0xE0, b"\x82\x00")

    async with (
        fake_broker(talk) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a") as messages,
    ):
        with pytest.raises(slipring.ConnectionLost, match="broke the protocol"):
            await anext(messages)


@pytest.mark.parametrize(
    "told", [b"", b"[]", b'{"messages": "many"}', b'{"bytes": Infinity}', b'{"since_ms": [1]}']
)
def test_dropped_messages_that_make_no_sense_are_none(told: bytes) -> None:
    assert Loss.of(slipring.Message("a", told)) == Loss(0, 0, "", (), 0)


async def test_a_silent_broker_is_given_up() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        assert await peer.packet() == (0xC0, b"")
        await peer.reader.read()

    async def read(url: str) -> None:
        async with (
            slipring.connect(url, keep_alive_s=1, reconnect_s=0) as bus,
            bus.subscribe("a") as messages,
        ):
            await anext(messages)

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectionLost, match=r"silent for \d"):
            await read(url)


async def test_a_refused_filter_is_named() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription(0x87)
        await peer.reader.read()

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.Refused, match=r"'secret/#' \(not authorized"):
            async with bus.subscribe("secret/#"):
                pass


@pytest.mark.parametrize("filters", [(), ("a#",), ("ok", "+a")])
async def test_a_filter_that_is_none_is_refused_before_it_is_sent(
    broker_url: str, filters: tuple[str, ...]
) -> None:
    async with slipring.connect(broker_url) as bus:
        with pytest.raises(slipring.InvalidTopic):
            async with bus.subscribe(*filters):
                pass


@pytest.mark.parametrize("topic", ["", "a/#", "+/a", "x" * 65_536])
async def test_a_topic_that_is_none_is_refused(broker_url: str, topic: str) -> None:
    async with slipring.connect(broker_url) as bus:
        with pytest.raises(slipring.InvalidTopic, match="cannot publish to"):
            await bus.publish(topic)


async def test_closing_tells_when_accepted_messages_were_not_sent() -> None:
    over = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        await over.wait()

    async with fake_broker(talk) as url:
        bus = await slipring.connect(url, timeout_s=5, outbox_bytes_max=64 << 20)
        for _ in range(60):
            await bus.publish("a", bytes(700_000))
        with pytest.raises(slipring.ConnectionLost, match=r"longer than 5\.0 s.*were not sent"):
            await bus.close()
        await bus.close()
        over.set()


async def test_an_error_in_the_block_is_not_hidden_by_a_loss() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.expect(PUBLISH)

    async def fail(url: str) -> None:
        async with slipring.connect(url) as bus:
            await bus.publish("a")
            with contextlib.suppress(slipring.ConnectionLost):
                await bus.ping()
            raise ZeroDivisionError

    async with fake_broker(talk) as url:
        with pytest.raises(ZeroDivisionError):
            await fail(url)
