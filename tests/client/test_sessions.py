"""Sessions that outlive their connection: messages of the meantime wait for their reader."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

import slipring
from slipring.client import connection


@pytest.fixture
def name() -> str:
    """A client id, and a topic, that no other test uses."""
    return f"session-{uuid4().hex[:8]}"


@asynccontextmanager
async def durable(url: str, name: str, **more: bool) -> AsyncIterator[slipring.Bus]:
    async with slipring.connect(url, client_id=name, session_expiry_s=600, **more) as bus:  # type: ignore[arg-type]
        yield bus


async def publish(url: str, name: str, *payloads: bytes) -> None:
    async with slipring.connect(url) as bus:
        await bus.publish_many([(name, payload) for payload in payloads])


async def take(messages: slipring.Subscription, count: int) -> list[bytes]:
    return [(await anext(messages)).payload for _ in range(count)]


async def test_what_came_while_the_program_was_away_is_there(broker_url: str, name: str) -> None:
    async with durable(broker_url, name) as bus, bus.subscribe(name, qos=1) as messages:
        assert not bus.session_present
        assert bus.session_expiry_s == 600
        await publish(broker_url, name, b"1", b"2", b"3")
        assert await take(messages, 1) == [b"1"]
    await publish(broker_url, name, b"4")
    async with durable(broker_url, name) as bus:
        assert bus.session_present
        await publish(broker_url, name, b"5")
        async with bus.subscribe(name, qos=1) as messages:
            assert await take(messages, 4) == [b"2", b"3", b"4", b"5"]
            messages.unsubscribe()


async def test_many_messages_wait_for_a_subscription_that_comes_late(
    broker_url: str, name: str
) -> None:
    async with durable(broker_url, name) as bus, bus.subscribe(f"{name}/#", qos=2):
        pass
    async with slipring.connect(broker_url) as other:
        rows = ((f"{name}/{number % 2}", number) for number in range(900))
        await other.publish_many(rows, qos=2)
    async with durable(broker_url, name) as bus:
        await bus.ping()
        async with bus.subscribe(f"{name}/0", qos=2) as even, bus.subscribe(f"{name}/1") as odd:
            assert await take(even, 450) == [b"%d" % number for number in range(0, 900, 2)]
            assert await take(odd, 450) == [b"%d" % number for number in range(1, 900, 2)]
        await bus.unsubscribe(f"{name}/#", f"{name}/0", f"{name}/1")


async def test_a_clean_start_forgets_the_session(broker_url: str, name: str) -> None:
    async with durable(broker_url, name) as bus, bus.subscribe(name, qos=1):
        pass
    await publish(broker_url, name, b"1")
    async with durable(broker_url, name, clean_start=True) as bus:
        assert not bus.session_present
        async with bus.subscribe(name, qos=1) as messages:
            await publish(broker_url, name, b"2")
            assert await take(messages, 1) == [b"2"]
            messages.unsubscribe()


async def test_a_message_whose_reader_failed_comes_again(broker_url: str, name: str) -> None:
    async def fail() -> None:
        async with durable(broker_url, name) as bus, bus.subscribe(name, qos=1) as messages:
            await publish(broker_url, name, b"1", b"2", b"3")
            await take(messages, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with durable(broker_url, name) as bus, bus.subscribe(name, qos=1) as messages:
        assert await take(messages, 2) == [b"2", b"3"]
        messages.unsubscribe()


async def test_a_batch_whose_reader_failed_comes_again(broker_url: str, name: str) -> None:
    async def fail() -> None:
        async with durable(broker_url, name) as bus, bus.subscribe(name, qos=2) as messages:
            await publish(broker_url, name, b"1", b"2")
            await take(messages, 1)
            async for batch in messages.batches():
                assert batch[0].payload == b"2"
                raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    async with durable(broker_url, name) as bus, bus.subscribe(name, qos=2) as messages:
        assert await take(messages, 1) == [b"2"]
        messages.unsubscribe()


async def test_a_reader_goes_and_another_one_on_the_same_bus_goes_on(
    broker_url: str, name: str
) -> None:
    async with durable(broker_url, name) as bus:
        async with bus.subscribe(name, qos=1) as messages:
            await publish(broker_url, name, b"1", b"2", b"3")
            assert await take(messages, 1) == [b"1"]
        await publish(broker_url, name, b"4")
        async with bus.subscribe(name, qos=1) as messages:
            assert await take(messages, 3) == [b"2", b"3", b"4"]
            messages.unsubscribe()


async def test_what_was_given_up_does_not_come_back(broker_url: str, name: str) -> None:
    async with durable(broker_url, name) as bus, bus.subscribe(f"{name}/a", f"{name}/b", qos=1):
        pass
    await publish(broker_url, f"{name}/a", b"1")
    async with durable(broker_url, name) as bus:
        await bus.unsubscribe(f"{name}/a")
        await publish(broker_url, f"{name}/a", b"2")
        await publish(broker_url, f"{name}/b", b"3")
        async with bus.subscribe(f"{name}/b", qos=1) as messages:
            assert await take(messages, 1) == [b"3"]
    async with durable(broker_url, name) as bus:
        assert bus.session_present
        async with bus.subscribe(f"{name}/a", f"{name}/b", qos=1) as messages:
            await publish(broker_url, f"{name}/a", b"4")
            assert await take(messages, 1) == [b"4"]
            messages.unsubscribe()


async def test_messages_that_nobody_subscribes_to_are_told(
    broker_url: str, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "UNCLAIMED_S", 0.01)
    async with durable(broker_url, name) as bus, bus.subscribe(name, qos=1):
        pass
    await publish(broker_url, name, b"1", b"2")
    async with durable(broker_url, name) as bus:
        with caplog.at_level(logging.WARNING, "slipring.client"):
            while "wait for a subscription" not in caplog.text:  # noqa: ASYNC110 (a timer tells)
                await asyncio.sleep(0)
        assert name in caplog.text
        await bus.unsubscribe(name)


async def test_without_an_expiry_the_session_ends_with_the_connection(
    broker_url: str, name: str
) -> None:
    async with (
        slipring.connect(broker_url, client_id=name) as bus,
        bus.subscribe(name, qos=1) as messages,
    ):
        await publish(broker_url, name, b"1")
        assert await take(messages, 1) == [b"1"]
    await publish(broker_url, name, b"2")
    async with durable(broker_url, name) as bus:
        assert not bus.session_present
