"""Any `await` may be cancelled, and a bus closed while others wait.

Nothing hangs, nothing is left behind, and no exception is one that nobody ever retrieved.
"""

import asyncio
import gc
import time
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import slipring
from slipring import Parameter, sync

pytestmark = [
    pytest.mark.filterwarnings("error::ResourceWarning"),
    pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning"),
]

F64 = Parameter("f64")
WAIT_S = 60
STEPS_MAX = 500

Work = Callable[[slipring.Bus], Coroutine[Any, Any, object]]


@types.coroutine
def cancelling_at(
    step: int, work: Coroutine[Any, Any, object]
) -> Generator[Any, Any, tuple[bool, object]]:
    """Runs work, and cancels its task at the `step`th suspension; whether it came to that."""
    task, steps, is_cancelled = asyncio.current_task(), 0, False
    sent, error = None, None
    assert task is not None
    while True:
        try:
            waited_for = work.send(sent) if error is None else work.throw(error)
        except StopIteration as stop:
            return is_cancelled, stop.value
        except asyncio.CancelledError:
            return True, None
        steps += 1
        if steps == step:
            asyncio.get_running_loop().call_soon(task.cancel)
            is_cancelled = True
        sent, error = None, None
        try:
            sent = yield waited_for
        except asyncio.CancelledError as cancelled:
            error = cancelled


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """No task is left behind, and nothing is reported to the loop."""
    loop, told = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _loop, context: told.append(context))
    before = asyncio.all_tasks()
    yield
    await settled()
    gc.collect()
    assert asyncio.all_tasks() == before
    assert told == []


async def settled() -> None:
    """Tasks that were cancelled have had their turn."""
    for _ in range(5):
        await asyncio.sleep(0)


async def publish(bus: slipring.Bus) -> None:
    await bus.publish("cancel/a", 1)
    await bus.publish("cancel/a", 1, qos=1)
    await bus.publish("cancel/a", 1, qos=2)


async def publish_many(bus: slipring.Bus) -> None:
    await bus.publish_many([("cancel/many", number) for number in range(3000)])


async def subscribe(bus: slipring.Bus) -> None:
    async with bus.subscribe("cancel/read", qos=1) as messages:
        await bus.publish("cancel/read", 1)
        await anext(messages)
        await bus.publish("cancel/read", 1)
        async for _ in messages.batches():
            break
    await bus.unsubscribe("cancel/other")


async def declare(bus: slipring.Bus) -> None:
    declared = await bus.declare("cancel/engine", {"rpm": F64})
    declared.write({"rpm": 1.5})
    await declared.flush()
    await declared.close()


async def select(bus: slipring.Bus) -> None:
    async with bus.select(names=["cancel/kept/a", "cancel/none"]) as frames:
        await anext(frames)
    async with bus.select("cancel/kept/#", rate_hz=100) as frames:
        async for _ in frames.frames():
            break
    async with bus.select("cancel/kept/#") as frames:
        await frames.collect(0.01)


async def table(bus: slipring.Bus) -> None:
    await bus.table()
    await bus.table_changes()
    await bus.current("cancel/kept/#")
    await bus.newest("cancel/kept/a")
    await bus.refusals()


async def streams(bus: slipring.Bus) -> None:
    writer = await bus.declare_stream("cancel/sound", media="audio/pcm", qos=1)
    await writer.write(b"1")
    await bus.streams()
    async with bus.stream("cancel/sound") as chunks:
        await anext(chunks)


async def serve_and_ask(bus: slipring.Bus) -> None:
    async def solve(request: slipring.Request) -> bytes:
        await request.part(1)
        return request.payload

    def solve_in_thread(request: slipring.ThreadRequest) -> bytes:
        request.part(1)
        return request.payload

    async with bus.serve("cancel/task", solve), bus.serve("cancel/thread", solve_in_thread):
        await bus.request("cancel/task", 1)
        await bus.request("cancel/thread", 1)
        await bus.request_many([("cancel/task", number) for number in range(3)])
        async for _ in bus.ask_parts("cancel/task", 1):
            pass


async def others(bus: slipring.Bus) -> None:
    await bus.ping()
    await bus.clock.measure()
    async with bus.notices() as notices:
        await bus.notify(f"node/{bus.client_id}", "x")
        await anext(notices)


@pytest.fixture
def kept(table_url: str) -> Iterator[None]:
    """A parameter with a value, that somebody else publishes, in another thread."""
    with sync.connect(table_url) as bus:
        declared = bus.declare("cancel/kept", {"a": F64})
        declared.write({"a": 1.0})
        declared.flush()
        yield


@pytest.mark.parametrize(
    "work",
    [publish, publish_many, subscribe, declare, select, table, streams, serve_and_ask, others],
)
@pytest.mark.usefixtures("kept")
async def test_what_is_cancelled_anywhere_leaves_a_bus_that_works(
    table_url: str, work: Work
) -> None:
    for step in range(1, STEPS_MAX):
        async with nothing_left(), asyncio.timeout(WAIT_S), slipring.connect(table_url) as bus:
            was_cancelled, _ = await asyncio.create_task(in_task(cancelling_at(step, work(bus))))
            await work(bus)
        if not was_cancelled:
            return
    raise AssertionError("it never came to its end")


async def in_task(work: Awaitable[tuple[bool, object]]) -> tuple[bool, object]:
    return await work


async def test_connecting_and_closing_can_be_cancelled(table_url: str) -> None:
    async def connect_and_close() -> None:
        async with slipring.connect(table_url) as bus:
            await bus.publish("cancel/a", 1)
            declared = await bus.declare("cancel/closed", {"a": F64})
            await bus.declare_stream("cancel/closed/sound", media="audio/pcm")
            declared.write({"a": 1.0})

    for step in range(1, STEPS_MAX):
        async with nothing_left(), asyncio.timeout(WAIT_S):
            work = in_task(cancelling_at(step, connect_and_close()))
            was_cancelled, _ = await asyncio.create_task(work)
        if not was_cancelled:
            return
    raise AssertionError("it never came to its end")


@pytest.mark.usefixtures("kept")
async def test_closing_the_bus_ends_whoever_waits(table_url: str) -> None:
    async with nothing_left(), asyncio.timeout(WAIT_S):
        bus = await slipring.connect(table_url)
        ready = asyncio.Barrier(7)

        async def read(entering: Any) -> str:
            async with entering as items:
                await ready.wait()
                return await end_of(items)

        async def follow(changes: Any) -> str:
            await ready.wait()
            return await end_of(changes)

        tasks = [
            asyncio.create_task(read(bus.subscribe("cancel/nothing"))),
            asyncio.create_task(read(bus.select("cancel/kept/#"))),
            asyncio.create_task(read(bus.select(names=["cancel/kept/a"], rate_hz=10))),
            asyncio.create_task(read(bus.stream("cancel/nothing"))),
            asyncio.create_task(follow(bus.changes())),
            asyncio.create_task(follow(await bus.table_changes())),
        ]
        await ready.wait()
        await bus.close()
        assert await asyncio.gather(*tasks) == ["end"] * len(tasks)


async def end_of(items: Any) -> str:
    async for _ in items:
        pass
    return "end"


async def test_closing_the_bus_ends_calls_that_wait_for_the_broker(table_url: str) -> None:
    async with nothing_left(), asyncio.timeout(WAIT_S):
        bus = await slipring.connect(table_url)
        calls = [bus.table(), bus.current("#"), bus.declare("cancel/late", {"a": F64}), bus.ping()]
        tasks = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0)
        await bus.close()
        done = await asyncio.gather(*tasks, return_exceptions=True)
    for one in done:
        assert not isinstance(one, BaseException) or isinstance(one, slipring.ConnectionLost)


async def test_refusals_are_heard_though_the_first_who_asked_was_cancelled(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, asyncio.timeout(WAIT_S):
        work = in_task(cancelling_at(1, bus.refusals()))
        assert (await asyncio.create_task(work))[0]
        declared = await bus.declare("cancel/refused", {"a": F64})
        refusals = await bus.refusals()
        declared.write({"a": 1.0}, time_ns=time.time_ns() + 10**18)
        assert "ahead" in (await anext(refusals)).message
