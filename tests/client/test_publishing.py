"""Messages at QoS 1 and 2: one at a time, and in bulk."""

import asyncio
import contextlib

import pytest

import slipring
from tests.client.fake_broker import CONNECT, DISCONNECT, Peer, fake_broker

COUNT = 20_000
CONNACK_WINDOW_3 = b"\x20\x06\x00\x00\x03\x21\x00\x03"


def acknowledged(kind: int, body: bytes, code: int = 0) -> bytes:
    """The answer to a message with a topic of one letter."""
    return bytes([kind, 3]) + body[3:5] + bytes([code])


@pytest.mark.parametrize("qos", [1, 2])
async def test_publish_returns_when_the_broker_has_the_message(broker_url: str, qos: int) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("acked") as messages:
        for number in range(100):
            await bus.publish("acked", number, qos=qos)
        numbers = [int((await anext(messages)).payload) for _ in range(100)]
    assert numbers == list(range(100))


async def test_many_tasks_publish_at_once(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("gathered") as messages:
        sending = (bus.publish("gathered", number, qos=1) for number in range(5000))
        await asyncio.gather(*sending)
        numbers = [int((await anext(messages)).payload) for _ in range(5000)]
    assert numbers == list(range(5000))


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_messages_in_bulk_all_arrive_in_order(broker_url: str, qos: int) -> None:
    async with (
        slipring.connect(broker_url) as reader,
        slipring.connect(broker_url) as bus,
        reader.subscribe("bulk/#") as messages,
    ):
        rows = ((f"bulk/{number % 7}", number) for number in range(COUNT))
        publishing = asyncio.create_task(bus.publish_many(rows, qos=qos))
        numbers = [int((await anext(messages)).payload) for _ in range(COUNT)]
        assert await publishing == COUNT
    assert numbers == list(range(COUNT))


async def test_a_bulk_message_may_have_all_its_fields(broker_url: str) -> None:
    message = slipring.Message("fields", b"1", True, (("unit", "rpm"), ("unit", "Hz")))
    async with slipring.connect(broker_url) as bus:
        assert await bus.publish_many([message, ("fields/x", "grün", True)]) == 2
        async with bus.subscribe("fields/#") as messages:
            kept = {await anext(messages), await anext(messages)}
        await bus.publish_many([("fields", b"", True), ("fields/x", b"", True)])
    assert kept == {message, slipring.Message("fields/x", "grün".encode(), retain=True)}


async def test_an_empty_bulk_is_done_at_once(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus:
        assert await bus.publish_many([]) == 0


async def test_no_more_are_on_their_way_than_the_broker_allows() -> None:
    order: list[int] = []

    async def talk(peer: Peer) -> None:
        await peer.expect(CONNECT)
        await peer.send(CONNACK_WINDOW_3)
        waiting = []
        for number in range(9):
            waiting.append(await peer.expect(0x32))
            order.append(number)
            if len(waiting) == 3:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await peer.packet()
                        order.append(-1)
                for body in waiting:
                    await peer.send(acknowledged(0x40, body))
                waiting.clear()
        await peer.expect(DISCONNECT)

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        assert await bus.publish_many([("a", b"x")] * 9) == 9
    assert order == list(range(9))


@pytest.mark.parametrize(("qos", "first", "answer"), [(1, 0x32, 0x40), (2, 0x34, 0x50)])
async def test_a_refusal_is_raised_with_its_reason(qos: int, first: int, answer: int) -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        for code in (0x97, 0x87):
            await peer.send(acknowledged(answer, await peer.expect(first), code))
        await peer.expect(DISCONNECT)

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.PublishRefused, match=r"quota exceeded.*again later") as full:
            await bus.publish("a", qos=qos)
        with pytest.raises(slipring.Refused, match=r"not authorized.*right to publish") as denied:
            await bus.publish("a", qos=qos)
    assert full.value.code == 0x97
    assert isinstance(denied.value, slipring.PublishRefused)


async def test_a_bulk_with_a_refusal_names_the_first_and_sends_no_more() -> None:
    seen = 0

    async def talk(peer: Peer) -> None:
        nonlocal seen
        await peer.accept()
        while True:
            first, body = await peer.packet()
            if first == DISCONNECT:
                return
            code = 0x97 if seen in (100, 101) else 0
            seen += 1
            await peer.send(acknowledged(0x40, body, code))

    async with fake_broker(talk) as url, slipring.connect(url, outbox_bytes_max=50_000) as bus:
        with pytest.raises(slipring.PublishRefused, match="message number 101: quota") as refused:
            await bus.publish_many(("a", b"x") for _ in range(1_000_000))
    assert (refused.value.code, refused.value.index) == (0x97, 100)
    assert seen < 100_000


async def test_a_publisher_tells_how_far_the_broker_has_come() -> None:
    let_go = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        bodies = [await peer.expect(0x32) for _ in range(10)]
        for body in bodies[1:]:
            await peer.send(acknowledged(0x40, body))
        await let_go.wait()
        await peer.send(acknowledged(0x40, bodies[0]))
        await peer.expect(DISCONNECT)

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        async with bus.publisher() as publisher:
            await publisher.send([("a", b"x")] * 10)
            assert publisher.settled == 0
            let_go.set()
            await publisher.flush()
            assert publisher.settled == 10
        assert publisher.settled == 10


async def test_a_bulk_that_loses_its_broker_says_so() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        bodies = [await peer.expect(0x32) for _ in range(10)]
        for body in bodies[:3]:
            await peer.send(acknowledged(0x40, body))

    async with fake_broker(talk) as url, slipring.connect(url, reconnect_s=0) as bus:
        publisher = bus.publisher()
        with pytest.raises(slipring.ConnectionLost, match="closed the connection"):
            async with publisher:
                await publisher.send([("a", b"x")] * 10)
        assert publisher.settled == 3
        with pytest.raises(slipring.ConnectionLost):
            await bus.publish("a", qos=1)


async def test_a_lost_connection_ends_a_publish_that_waits() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.expect(0x32)

    async with fake_broker(talk) as url, slipring.connect(url, reconnect_s=0) as bus:
        with pytest.raises(slipring.ConnectionLost, match="closed the connection"):
            await bus.publish("a", qos=1)


async def test_a_cancelled_publish_is_still_sent(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("cancelled") as messages:
        publishing = asyncio.create_task(bus.publish("cancelled", "1", qos=1))
        await asyncio.sleep(0)
        publishing.cancel()
        assert (await anext(messages)).payload == b"1"


async def test_closing_waits_for_acknowledgements_even_with_a_full_inbox() -> None:
    seen = 0

    async def talk(peer: Peer) -> None:
        nonlocal seen
        await peer.accept()
        await peer.accept_subscription()
        flood = asyncio.create_task(peer.send(b"\x30\x81\x80\x04\0\x01a\0" + bytes(65_533)))
        while True:
            first, body = await peer.packet()
            if first == DISCONNECT:
                break
            seen += 1
            await flood
            await peer.send(acknowledged(0x40, body))

    async with fake_broker(talk) as url:
        bus = await slipring.connect(url, inbox_bytes_max=1 << 17)
        async with bus.subscribe("a"):
            tasks = [asyncio.create_task(bus.publish("a", qos=1)) for _ in range(50)]
            await asyncio.sleep(0)
            await bus.close()
            await asyncio.gather(*tasks)
    assert seen == 50


@pytest.mark.parametrize("qos", [-1, 3])
async def test_a_quality_that_is_none_is_refused(broker_url: str, qos: int) -> None:
    async with slipring.connect(broker_url) as bus:
        with pytest.raises((ValueError, OverflowError)):
            await bus.publish("a", qos=qos)


@pytest.mark.parametrize("row", [("a",), "ab", ("a", 1j), (b"a", b"x"), None])
async def test_a_row_that_is_no_message_is_refused(broker_url: str, row: object) -> None:
    async with slipring.connect(broker_url) as bus:
        with pytest.raises(TypeError):
            await bus.publish_many([row])  # type: ignore[list-item]
        with pytest.raises(slipring.InvalidTopic):
            await bus.publish_many([("a/#", b"")])
