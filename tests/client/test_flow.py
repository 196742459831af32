"""Bounds, fairness and cancellation."""

import asyncio
import contextlib

import slipring
from tests.client.fake_broker import DISCONNECT, PUBLISH, Peer, fake_broker, message

INBOX_BYTES_MAX = 256 << 10
# One read may pass the bound, and its messages take more room in memory than on the wire.
INBOX_BYTES_PEAK = INBOX_BYTES_MAX + (256 << 10)


async def test_a_slow_reader_holds_the_broker_up_and_loses_nothing() -> None:
    count = 40_000
    payload = bytes(1000)

    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        for number in range(count):
            await peer.send(message("a", b"%d:" % number + payload))
        await peer.reader.read()

    async with fake_broker(talk) as url:
        async with slipring.connect(url, inbox_bytes_max=INBOX_BYTES_MAX) as bus:
            async with bus.subscribe("a") as messages:
                for number in range(count):
                    assert bus.unread_bytes <= INBOX_BYTES_PEAK
                    received = await anext(messages)
                    assert received.payload.startswith(b"%d:" % number)


async def test_a_reader_that_stopped_stops_the_socket_and_can_go_on() -> None:
    count = 3000
    sent = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription()
        for _ in range(count):
            peer.writer.write(message("a", bytes(10_000)))
        sending = asyncio.create_task(peer.writer.drain())
        assert await peer.expect(PUBLISH)
        assert not sending.done()
        sent.set()
        await sending
        await peer.reader.read()

    async with fake_broker(talk) as url:
        async with slipring.connect(url, inbox_bytes_max=INBOX_BYTES_MAX) as bus:
            async with bus.subscribe("a") as messages:
                await bus.publish("still/sending")
                await sent.wait()
                assert bus.unread_bytes <= INBOX_BYTES_PEAK
                for _ in range(count):
                    await anext(messages)


async def test_a_full_outbox_makes_publishers_wait_and_loses_nothing() -> None:
    count = 2000
    read = asyncio.Event()
    seen = 0

    async def talk(peer: Peer) -> None:
        nonlocal seen
        await peer.accept()
        await read.wait()
        while (await peer.packet())[0] != DISCONNECT:
            seen += 1

    async with fake_broker(talk) as url:
        async with slipring.connect(url, outbox_bytes_max=100_000) as bus:

            async def publish() -> None:
                for _ in range(count // 2):
                    await bus.publish("a", bytes(10_000))

            tasks = [asyncio.create_task(publish()) for _ in range(2)]
            done, _ = await asyncio.wait(tasks, timeout=0.05)
            assert not done
            assert bus.unsent_bytes <= 110_100
            read.set()
            await asyncio.gather(*tasks)
    assert seen == count


async def test_a_cancelled_reader_loses_no_message(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("cancel") as messages:
        for number in range(300):
            reading = asyncio.create_task(anext(messages))
            await asyncio.sleep(0)
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
            await bus.publish("cancel", number)
            assert (await anext(messages)).payload == b"%d" % number


async def test_a_cancelled_subscribe_leaves_no_subscription() -> None:
    subscribed = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.expect(0x82)
        subscribed.set()
        assert (await peer.packet())[0] == 0xA2
        await peer.expect(DISCONNECT)

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        entering = asyncio.create_task(bus.subscribe("a").__aenter__())
        await subscribed.wait()
        entering.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await entering


async def test_a_cancelled_publisher_leaves_the_others_waiting_safely() -> None:
    read = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        await read.wait()
        while (await peer.packet())[0] != DISCONNECT:
            pass

    async with fake_broker(talk) as url:
        async with slipring.connect(url, outbox_bytes_max=100_000) as bus:

            async def publish() -> None:
                for _ in range(1000):
                    await bus.publish("a", bytes(10_000))

            first, second = (asyncio.create_task(publish()) for _ in range(2))
            await asyncio.wait([first, second], timeout=0.05)
            first.cancel()
            read.set()
            await second
            assert first.cancelled()


async def test_publishing_in_a_loop_lets_other_tasks_run(broker_url: str) -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with slipring.connect(broker_url) as bus:
        counting = asyncio.create_task(count())
        for number in range(10_000):
            await bus.publish("fair", number)
        counting.cancel()
    assert turns >= 10
