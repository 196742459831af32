"""Requests from end to end: askers and services at a real broker."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import slipring
from tests.client.relay import Relay, relay_to
from tests.running_broker import RunningBroker

pytestmark = pytest.mark.timeout(120)


@asynccontextmanager
async def two(url: str) -> AsyncIterator[tuple[slipring.Bus, slipring.Bus]]:
    """An asker and a service."""
    async with slipring.connect(url) as asker, slipring.connect(url) as service:
        yield asker, service


async def echo(request: slipring.Request) -> bytes:
    return request.payload


async def test_a_request_is_answered(shared_broker: RunningBroker) -> None:
    async def solve(request: slipring.Request) -> slipring.Answer:
        assert request.content_type == "text/plain"
        assert dict(request.properties)["mine"] == "too"
        assert request.time_left_s is not None
        assert 0 < request.time_left_s <= 20
        return slipring.Answer(request.payload * 2, "x/y", (("a", "1"), ("a", "2")))

    async with two(shared_broker.url) as (asker, service), service.serve("answered/#", solve):
        for qos in (0, 1, 2):
            answer = await asker.request(
                "answered/a",
                "ab",
                qos=qos,
                timeout_s=20,
                properties={"mine": "too"},
                content_type="text/plain",
            )
            assert answer == slipring.Answer(b"abab", "x/y", (("a", "1"), ("a", "2")))


async def test_a_service_may_ask_itself(shared_broker: RunningBroker) -> None:
    async with slipring.connect(shared_broker.url) as bus, bus.serve("itself/#", echo):
        assert (await bus.request("itself/a", 1)).text == "1"


async def test_the_ends_that_a_broker_tells(shared_broker: RunningBroker) -> None:
    async def solve(request: slipring.Request) -> None:
        if request.text == "sleep":
            await asyncio.Event().wait()
        raise ValueError("no such thing")

    async with two(shared_broker.url) as (asker, service):
        with pytest.raises(slipring.RequestNotDelivered):
            await asker.request("ends/a")
        with pytest.raises(slipring.RequestRefused, match="slipring-timeout"):
            await asker.request("ends/a", timeout_s=1e9)
        with pytest.raises(slipring.RequestRefused):
            await asker.request("ends/a", timeout_s=1e9, qos=0)
        async with service.serve("ends/#", solve, concurrency=2):
            with pytest.raises(slipring.ServiceFailed, match="no such thing") as failed:
                await asker.request("ends/a")
            assert failed.value.reason == "no such thing"
            with pytest.raises(slipring.RequestTimedOut):
                await asker.request("ends/a", "sleep", timeout_s=0.1)


async def test_a_request_waits_for_a_service(shared_broker: RunningBroker) -> None:
    async with two(shared_broker.url) as (asker, service):
        asked = asyncio.create_task(asker.request("later/a", 1, wait=True))
        await asker.ping()
        async with service.serve("later/#", echo):
            assert (await asked).text == "1"


async def test_parts_come_in_order_before_the_answer(shared_broker: RunningBroker) -> None:
    async def solve(request: slipring.Request) -> str:
        for number in range(100):
            await request.part(number)
        return "all"

    async with two(shared_broker.url) as (asker, service), service.serve("parts/#", solve):
        found = [(one.text, one.is_part) async for one in asker.ask_parts("parts/a")]
        assert found == [*((str(number), True) for number in range(100)), ("all", False)]
        assert (await asker.request("parts/a")).text == "all"


class Sleeping:
    """A service that never answers, and notes how its requests ended."""

    def __init__(self) -> None:
        self.started = asyncio.Queue[str]()
        self.ended = asyncio.Queue[str | None]()

    async def __call__(self, request: slipring.Request) -> None:
        self.started.put_nowait(request.text)
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.put_nowait(request.ended_as)


@pytest.mark.parametrize("by", ["task", "timeout", "parts", "time-out of the request"])
async def test_a_cancel_reaches_the_service(shared_broker: RunningBroker, by: str) -> None:
    sleeping = Sleeping()

    async def ask(asker: slipring.Bus) -> None:
        if by == "timeout":
            async with asyncio.timeout(0.1):
                await asker.request(f"cancel/{len(by)}", by)
        elif by == "parts":
            async for _ in asker.ask_parts(f"cancel/{len(by)}", by):
                pass
        else:
            await asker.request(f"cancel/{len(by)}", by, timeout_s=0.1 if "-" in by else 30)

    async with (
        two(shared_broker.url) as (asker, service),
        service.serve(f"cancel/{len(by)}", sleeping),
    ):
        task = asyncio.create_task(ask(asker))
        assert await sleeping.started.get() == by
        if by in {"task", "parts"}:
            task.cancel()
        (end,) = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(end, asyncio.CancelledError | TimeoutError)
        assert await sleeping.ended.get() == ("timed-out" if "-" in by else "cancelled")


async def test_no_service_computes_more_than_it_said(shared_broker: RunningBroker) -> None:
    running, most = [0, 0], [0, 0]

    def counting(index: int) -> object:
        async def solve(request: slipring.Request) -> bytes:
            running[index] += 1
            most[index] = max(most[index], running[index])
            await asyncio.sleep(0.001)
            running[index] -= 1
            return request.payload

        return solve

    async with (
        two(shared_broker.url) as (asker, first),
        slipring.connect(shared_broker.url) as second,
        first.serve("busy/#", counting(0), concurrency=3),  # type: ignore[arg-type]
        second.serve("busy/#", counting(1), concurrency=5),  # type: ignore[arg-type]
    ):
        ends = await asker.request_many([("busy/a", number) for number in range(500)])
        assert ends == [slipring.Answer(b"%d" % number) for number in range(500)]
    assert most[0] <= 3
    assert most[1] <= 5
    assert min(most) > 0


async def test_ten_thousand_at_once(shared_broker: RunningBroker) -> None:
    async with (
        two(shared_broker.url) as (asker, service),
        service.serve("bulk/#", echo, concurrency=1000),
    ):
        ends = await asker.request_many([("bulk/a", number) for number in range(10_000)])
        assert ends == [slipring.Answer(b"%d" % number) for number in range(10_000)]
        asked = [asker.request("bulk/a", number) for number in range(10_000)]
        ends = list(await asyncio.gather(*asked))
        assert ends == [slipring.Answer(b"%d" % number) for number in range(10_000)]


async def test_a_service_that_dies_is_replaced_where_it_was_asked_for(
    shared_broker: RunningBroker,
) -> None:
    sleeping = Sleeping()
    async with two(shared_broker.url) as (asker, other):
        dying = await slipring.connect(shared_broker.url)
        service = dying.serve("dying/#", sleeping, concurrency=2)
        await service.__aenter__()
        tasks = [
            asyncio.create_task(asker.request("dying/a", retry, retry=retry)) for retry in (0, 1)
        ]
        assert {await sleeping.started.get() for _ in tasks} == {"0", "1"}
        async with other.serve("dying/#", echo):
            await dying.close()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(ends[0], slipring.ServiceFailed)
        assert "gone" in ends[0].reason
        assert ends[1] == slipring.Answer(b"1")


async def test_leaving_answers_what_was_under_way(shared_broker: RunningBroker) -> None:
    async def slowly(request: slipring.Request) -> bytes:
        await asyncio.sleep(0.01)
        return request.payload

    async with two(shared_broker.url) as (asker, service):
        asked = None
        for _ in range(5):
            async with service.serve("leaving/#", slowly, concurrency=8):
                asked = asked or asyncio.create_task(
                    asker.request_many([("leaving/a", number) for number in range(200)], wait=True)
                )
                await asyncio.sleep(0.02)
        async with service.serve("leaving/#", slowly, concurrency=100):
            assert asked is not None
            assert await asked == [slipring.Answer(b"%d" % number) for number in range(200)]


async def answered_in_spite_of_cuts(asker: slipring.Bus, topic: str, relay: Relay) -> None:
    """Ask an echo, and cut the connection a little later each time."""
    for number in range(5):
        asked = [(topic, f"{number} {index}") for index in range(200)]
        task = asyncio.create_task(asker.request_many(asked))
        await asyncio.sleep(0.001 * number)
        relay.cut()
        assert await task == [slipring.Answer(text.encode()) for _, text in asked]


async def test_an_asker_with_a_session_gets_its_answers_over_a_bad_network(
    shared_broker: RunningBroker,
) -> None:
    async with (
        relay_to(shared_broker.url) as relay,
        slipring.connect(relay.url, client_id="bad-network", session_expiry_s=600) as asker,
        slipring.connect(shared_broker.url) as service,
        service.serve("bad-network/#", echo, concurrency=10),
    ):
        await answered_in_spite_of_cuts(asker, "bad-network/a", relay)


async def test_a_service_with_a_session_answers_over_a_bad_network(
    shared_broker: RunningBroker,
) -> None:
    async with (
        relay_to(shared_broker.url) as relay,
        slipring.connect(relay.url, client_id="bad-service", session_expiry_s=600) as service,
        slipring.connect(shared_broker.url) as asker,
        service.serve("bad-service/#", echo, concurrency=10),
    ):
        await answered_in_spite_of_cuts(asker, "bad-service/a", relay)


async def test_without_a_session_a_lost_connection_ends_the_request_and_its_task(
    shared_broker: RunningBroker,
) -> None:
    sleeping = Sleeping()
    async with (
        relay_to(shared_broker.url) as relay,
        slipring.connect(relay.url) as asker,
        slipring.connect(shared_broker.url) as service,
        service.serve("lost/#", sleeping),
    ):
        task = asyncio.create_task(asker.request("lost/a"))
        await sleeping.started.get()
        relay.cut()
        with pytest.raises(slipring.RequestLost):
            await task
        assert await sleeping.ended.get() == "cancelled"


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGKILL])
async def test_a_broker_that_starts_again_goes_on(
    tmp_path: Path, address: str, ended_by: signal.Signals
) -> None:
    data, options = tmp_path / "data", ("--console", "off", "--mqtt", address)
    broker = RunningBroker.start(data, *options)
    go = asyncio.Event()

    async def solve(request: slipring.Request) -> bytes:
        await go.wait()
        return request.payload

    async with (
        slipring.connect(broker.url, client_id="asker", session_expiry_s=600) as asker,
        slipring.connect(broker.url, client_id="service", session_expiry_s=600) as service,
        service.serve("restart/#", solve, concurrency=5),
    ):
        asked = [("restart/a", number) for number in range(100)]
        task = asyncio.create_task(asker.request_many(asked, timeout_s=100))
        await asker.publish("restart/mark", qos=1)  # the broker has all requests before it
        broker.stop(ended_by)
        broker = RunningBroker.start(data, *options)
        go.set()
        assert await task == [slipring.Answer(b"%d" % number) for number in range(100)]
    broker.stop()
