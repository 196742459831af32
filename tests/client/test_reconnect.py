"""A lost connection that is made again: nothing acknowledged is lost, every loss is reported."""

import asyncio
import contextlib
import logging
import random
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import slipring
from tests.client.fake_broker import PUBLISH, SUBSCRIBE, Peer, fake_broker, message
from tests.client.relay import Relay, relay_to
from tests.running_broker import RunningBroker

COUNT = 3000


async def cut_now_and_then(relay: Relay, bus: slipring.Bus, seed: int) -> None:
    """Until cancelled; whoever is slow to come back has come back before the next."""
    chance = random.Random(seed)
    changes = bus.changes()
    while True:
        await asyncio.sleep(chance.uniform(0.1, 0.6))
        relay.cut()
        while not (await anext(changes)).connected:
            pass


async def publish_slowly(bus: slipring.Bus, topic: str, qos: int) -> int:
    """Numbers, in lumps that a cut now and then falls among; and an end, acknowledged after all."""
    async with bus.publisher(qos=qos) as publisher:
        for start in range(0, COUNT, 100):
            await publisher.send((topic, number) for number in range(start, start + 100))
            await asyncio.sleep(0.03)
    await bus.publish(topic, "end", qos=qos)
    return publisher.settled


@contextlib.asynccontextmanager
async def meanwhile(task: asyncio.Task[None]) -> AsyncIterator[None]:
    """Something that goes on during a block."""
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("qos", [1, 2])
async def test_what_is_published_over_a_bad_network_all_arrives(broker_url: str, qos: int) -> None:
    seen: list[int] = []
    async with (
        slipring.connect(broker_url) as reader,
        reader.subscribe(f"bad/{qos}", qos=qos) as messages,
        relay_to(broker_url) as relay,
        slipring.connect(relay.url, session_expiry_s=600) as bus,
        meanwhile(asyncio.create_task(cut_now_and_then(relay, bus, qos))),
    ):
        publishing = asyncio.create_task(publish_slowly(bus, f"bad/{qos}", qos))
        while (payload := (await anext(messages)).payload) != b"end":
            seen.append(int(payload))
        assert await publishing == COUNT
        assert relay.connections > 1
    if qos == 2:
        assert seen == list(range(COUNT))
    assert set(seen) == set(range(COUNT))


@pytest.mark.parametrize("qos", [1, 2])
async def test_what_is_received_over_a_bad_network_all_arrives(broker_url: str, qos: int) -> None:
    seen: list[int] = []
    async with (
        relay_to(broker_url) as relay,
        slipring.connect(relay.url, client_id=f"ear-{qos}", session_expiry_s=600) as bus,
        slipring.connect(broker_url) as writer,
        bus.subscribe(f"far/{qos}", qos=qos) as messages,
        meanwhile(asyncio.create_task(cut_now_and_then(relay, bus, qos))),
    ):
        publishing = asyncio.create_task(publish_slowly(writer, f"far/{qos}", qos))
        while (payload := (await anext(messages)).payload) != b"end":
            seen.append(int(payload))
        await publishing
        assert relay.connections > 1
        messages.unsubscribe()
    if qos == 2:
        assert seen == list(range(COUNT))
    assert set(seen) == set(range(COUNT))


async def test_a_loss_is_told_and_subscriptions_are_made_again(
    broker_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "slipring.client")
    async with (
        relay_to(broker_url) as relay,
        slipring.connect(relay.url) as bus,
        bus.subscribe("again") as messages,
    ):
        changes = bus.changes()
        client_id = bus.client_id
        async with relay.held():
            relay.cut()
            lost = await anext(changes)
            assert lost[0] is False
            assert lost.cause
            assert lost.retry_s is not None
            assert [bus.is_connected] == [False]
        while not (back := await anext(changes)).connected:
            pass
        assert back == slipring.ConnectionChange(connected=True, session_present=False)
        assert [bus.is_connected] == [True]
        await bus.publish("again", 1)
        assert (await anext(messages)).payload == b"1"
        assert bus.client_id == client_id
    assert [change async for change in changes] == []
    assert "lost the connection" in caplog.text
    assert "again; the session is a new one" in caplog.text


async def test_calls_wait_for_the_connection(tmp_path: Path, address: str) -> None:
    place = ("--console", "off", "--mqtt", address)
    broker = RunningBroker.start(tmp_path / "data", *place)
    async with slipring.connect(broker.url) as bus, bus.subscribe("wait") as messages:
        broker.stop(signal.SIGKILL)
        changes = bus.changes()
        await anext(changes)
        waiting = asyncio.gather(
            bus.publish("wait", 0), bus.publish("wait", 1, qos=1), bus.ping(), reading(bus)
        )
        while (await anext(changes)).retry_s is not None and not waiting.done():
            if broker.process.poll() is not None:
                broker = RunningBroker.start(tmp_path / "data", *place)
        await waiting
        assert {(await anext(messages)).payload, (await anext(messages)).payload} == {b"0", b"1"}
    assert broker.stop()[0] == 0


@pytest.mark.parametrize("qos", [1, 2])
async def test_a_broker_that_is_killed_loses_nothing_that_a_session_keeps(
    tmp_path: Path, address: str, qos: int
) -> None:
    place = ("--console", "off", "--mqtt", address)
    broker = RunningBroker.start(tmp_path / "data", *place)
    seen: list[int] = []
    async with (
        slipring.connect(broker.url, session_expiry_s=600) as reader,
        slipring.connect(broker.url, session_expiry_s=600) as writer,
        reader.subscribe("kill", qos=qos) as messages,
    ):
        publishing = asyncio.create_task(publish_slowly(writer, "kill", qos))
        while (payload := (await anext(messages)).payload) != b"end":
            seen.append(int(payload))
            if len(seen) in (COUNT // 3, COUNT // 2):
                broker.stop(signal.SIGKILL)
                broker = RunningBroker.start(tmp_path / "data", *place)
        assert await publishing == COUNT
    assert broker.stop()[0] == 0
    if qos == 2:
        assert seen == list(range(COUNT))
    assert set(seen) == set(range(COUNT))


async def reading(bus: slipring.Bus) -> None:
    async with bus.subscribe("wait/more"):
        pass


async def test_it_is_given_up_in_time(tmp_path: Path) -> None:
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    async with slipring.connect(broker.url, reconnect_s=0.5) as bus, bus.subscribe("a") as messages:
        changes = bus.changes()
        broker.stop(signal.SIGKILL)
        with pytest.raises(slipring.ConnectionLost, match="refused"):
            await anext(messages)
        with pytest.raises(slipring.ConnectionLost, match="refused"):
            await bus.publish("a", qos=1)
        told = [change async for change in changes]
    assert all(not change.connected for change in told)
    assert [change.retry_s is None for change in told] == [False] * (len(told) - 1) + [True]


async def test_closing_does_not_wait_for_a_broker_that_is_gone(tmp_path: Path) -> None:
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    bus = await slipring.connect(broker.url)
    broker.stop(signal.SIGKILL)
    await anext(bus.changes())
    publishing = asyncio.create_task(bus.publish("a", qos=1))
    await asyncio.sleep(0)
    await bus.close()
    with pytest.raises(slipring.ConnectionLost):
        await publishing


async def test_a_ping_over_a_connection_that_breaks_is_told(broker_url: str) -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.packet()

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.ConnectionLost, match="closed the connection"):
            await bus.ping()


async def test_a_client_whose_name_is_taken_does_not_fight_for_it(tmp_path: Path) -> None:
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    async with (
        slipring.connect(broker.url, client_id="twin") as first,
        slipring.connect(broker.url, client_id="twin") as second,
    ):
        with pytest.raises(slipring.ConnectionLost, match=r"taken over.*client id of its own"):
            async with first.subscribe("a") as messages:
                await anext(messages)
        await second.ping()
    assert broker.stop()[0] == 0


async def test_a_subscription_that_is_refused_later_tells_its_reader() -> None:
    async def first(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        await peer.send(message("a", b"1"))
        await peer.expect(PUBLISH)

    async def second(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription(0x87)
        await peer.reader.read()

    async with (
        fake_broker(first, second) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a") as messages,
    ):
        assert (await anext(messages)).payload == b"1"
        await bus.publish("b")
        with pytest.raises(slipring.Refused, match="not authorized"):
            await anext(messages)


async def test_exactly_once_is_not_guessed_when_the_broker_forgot() -> None:
    async def first(peer: Peer) -> None:
        await peer.accept()
        await peer.expect(0x34)

    async def second(peer: Peer) -> None:
        await peer.accept()
        assert (await peer.packet())[0] == 0xE0

    async with fake_broker(first, second) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.ConnectionLost, match=r"nobody knows.*session expiry"):
            await bus.publish("a", qos=2)


async def test_at_least_once_is_sent_again() -> None:
    async def first(peer: Peer) -> None:
        await peer.accept()
        assert await peer.expect(0x32) == b"\0\1a\0\1\0x"

    async def second(peer: Peer) -> None:
        body = await peer.expect(0x10)
        assert body[7] & 2 == 0, "not a clean start"
        await peer.send(b"\x20\x03\x01\x00\x00")
        assert await peer.expect(0x3A) == b"\0\1a\0\1\0x"
        await peer.send(b"\x40\x02\0\1")
        await peer.reader.read()

    async with fake_broker(first, second) as url, slipring.connect(url) as bus:
        await bus.publish("a", "x", qos=1)


async def test_a_subscribe_that_waits_is_made_again() -> None:
    async def first(peer: Peer) -> None:
        await peer.accept()
        await peer.expect(SUBSCRIBE)

    async def second(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        await peer.send(message("a", b"1"))
        await peer.reader.read()

    async with (
        fake_broker(first, second) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a") as messages,
    ):
        assert (await anext(messages)).payload == b"1"
