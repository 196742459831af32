"""Messages through a real broker."""

import asyncio
import os
import threading
import time
from multiprocessing import get_context

import pytest

import slipring
from tests.running_broker import PATIENCE_S

COUNT = 100_000


async def test_a_message_comes_back_as_it_was_sent(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("gripen/#") as messages:
        await bus.publish("gripen/39-7/engine/rpm", 12034.5, properties={"unit": "rpm"})
        message = await anext(messages)
    assert message == slipring.Message(
        "gripen/39-7/engine/rpm", b"12034.5", properties=(("unit", "rpm"),)
    )
    assert message.text == "12034.5"


async def test_a_large_message_comes_back_whole(broker_url: str) -> None:
    payload = os.urandom(3_000_000)
    async with slipring.connect(broker_url) as bus, bus.subscribe("large") as messages:
        await bus.publish("large", payload)
        assert (await anext(messages)).payload == payload


async def test_wildcards_choose_messages(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("w/+/rpm", "w/log/#") as messages:
        for topic in ("w/1/rpm", "w/1/fuel", "w/2/rpm", "w/log", "w/log/a/b", "w/x/y/rpm"):
            await bus.publish(topic)
        await bus.publish("w/end/rpm")
        seen = [(await anext(messages)).topic for _ in range(5)]
    assert seen == ["w/1/rpm", "w/2/rpm", "w/log", "w/log/a/b", "w/end/rpm"]


async def test_many_messages_arrive_in_order(broker_url: str) -> None:
    async def publish(bus: slipring.Bus) -> None:
        for number in range(COUNT):
            await bus.publish("order", number)

    async with (
        slipring.connect(broker_url) as reader,
        slipring.connect(broker_url) as writer,
        reader.subscribe("order") as messages,
    ):
        task = asyncio.create_task(publish(writer))
        numbers = [int((await anext(messages)).payload) for _ in range(COUNT)]
        await task
    assert numbers == list(range(COUNT))


async def test_batches_hold_the_same_messages(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("batch") as messages:
        for number in range(5000):
            await bus.publish("batch", number)
        numbers = [int((await anext(messages)).payload)]
        async for batch in messages.batches():
            numbers.extend(int(message.payload) for message in batch)
            if len(numbers) == 5000:
                break
    assert numbers == list(range(5000))


async def test_each_subscription_gets_its_own_messages(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        bus.subscribe("s/a") as first,
        bus.subscribe("s/b") as second,
    ):
        await bus.publish("s/b", 2)
        await bus.publish("s/a", 1)
        assert (await anext(first)).payload == b"1"
        assert (await anext(second)).payload == b"2"


async def test_two_subscriptions_to_one_filter_share_and_part_again(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("shared/+") as first:
        async with bus.subscribe("shared/+") as second:
            await bus.publish("shared/x", 1)
            assert (await anext(first)).payload == (await anext(second)).payload == b"1"
        await bus.publish("shared/x", 2)
        assert (await anext(first)).payload == b"2"


async def test_a_closed_subscription_ends_its_reader(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus:
        async with bus.subscribe("closed") as messages:
            waiting = asyncio.create_task(anext(messages, None))
            await asyncio.sleep(0)
        assert await waiting is None


async def test_a_subscription_that_was_not_entered_says_so(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus:
        with pytest.raises(RuntimeError, match="async with"):
            await anext(bus.subscribe("a"))


async def test_closing_the_bus_ends_its_readers(broker_url: str) -> None:
    bus = await slipring.connect(broker_url)
    async with bus.subscribe("closed") as messages:
        await bus.close()
        assert [message async for message in messages] == []


async def test_everything_accepted_is_sent_before_the_bus_closes(broker_url: str) -> None:
    async with slipring.connect(broker_url) as reader, reader.subscribe("flush") as messages:
        async with slipring.connect(broker_url) as writer:
            for number in range(20_000):
                await writer.publish("flush", number)
        last = b""
        while last != b"19999":
            last = (await anext(messages)).payload


async def test_a_bus_can_be_closed_twice_but_not_used_again(broker_url: str) -> None:
    bus = await slipring.connect(broker_url)
    await bus.close()
    await bus.close()
    with pytest.raises(slipring.ConnectionLost, match=r"is closed; open another"):
        await bus.publish("a")


async def test_a_ping_takes_some_time(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus:
        begun_s = time.monotonic()
        first, second = await asyncio.gather(bus.ping(), bus.ping())
        passed_s = time.monotonic() - begun_s
    assert 0 < first <= passed_s
    assert 0 < second <= passed_s


async def test_a_client_id_is_ours_or_the_brokers(broker_url: str) -> None:
    async with slipring.connect(broker_url, client_id="probe-7") as bus:
        assert bus.client_id == "probe-7"
    async with slipring.connect(broker_url) as bus:
        assert bus.client_id


async def _echo(broker_url: str, topic: str) -> bytes:
    async with slipring.connect(broker_url) as bus, bus.subscribe(topic) as messages:
        await bus.publish(topic, topic)
        return (await anext(messages)).payload


def test_threads_have_their_own_loops_and_buses(broker_url: str) -> None:
    seen: list[bytes] = []

    def work(number: int) -> None:
        seen.append(asyncio.run(_echo(broker_url, f"thread/{number}")))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [b"thread/0", b"thread/1", b"thread/2", b"thread/3"]


def _echo_in_child(broker_url: str, topic: str) -> None:
    assert asyncio.run(_echo(broker_url, topic)) == topic.encode()


def test_a_forked_process_starts_its_own_background_thread(broker_url: str) -> None:
    asyncio.run(_echo(broker_url, "parent"))
    child = get_context("fork").Process(target=_echo_in_child, args=(broker_url, "child"))
    child.start()
    child.join(PATIENCE_S)
    assert child.exitcode == 0
