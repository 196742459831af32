"""A loop that is blocked while its client loses the connection and makes another one.

Such a loop hears of the loss late. It must not end what belongs to the new connection.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

import pytest

import slipring
from slipring import sync
from slipring.client.asking import Asking
from slipring.client.connection import ClientConnection
from slipring.client.request_terms import RequestTerms
from tests.client.relay import Relay, relay_to
from tests.running_broker import PATIENCE_S, RunningBroker

pytestmark = pytest.mark.timeout(120)


class ThreadRelay:
    """A relay with a loop of its own, which carries while the loop of the test is blocked."""

    def __init__(self, relay: Relay, loop: asyncio.AbstractEventLoop) -> None:
        self.url = relay.url
        self._relay = relay
        self._loop = loop

    def cut(self) -> None:
        """Ends what is carried now."""
        self._loop.call_soon_threadsafe(self._relay.cut)

    @contextmanager
    def held(self) -> Iterator[None]:
        """New connections wait meanwhile."""
        held = self._relay.held()
        self._run(held.__aenter__())
        try:
            yield
        finally:
            self._run(held.__aexit__(None, None, None))

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)


@contextmanager
def thread_relay_to(url: str) -> Iterator[ThreadRelay]:
    """A relay to the broker at this address, in a thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    opened = relay_to(url)
    relay = asyncio.run_coroutine_threadsafe(opened.__aenter__(), loop).result(PATIENCE_S)
    try:
        yield ThreadRelay(relay, loop)
    finally:
        ended = opened.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(ended, loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)
        loop.close()


def block_until(is_so: Callable[[], bool]) -> None:
    """Block this thread, and with it the loop."""
    given_up_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < given_up_s
        os.sched_yield()


def block_over_a_reconnection(bus: slipring.Bus, relay: ThreadRelay) -> None:
    """The client loses its connection and makes another one; the loop hears of neither."""
    native = bus._connection.native
    before = native.connection
    relay.cut()
    block_until(lambda: native.connection == before + 1)


async def echo(request: slipring.Request) -> bytes:
    return request.payload


async def sleep(_request: slipring.Request) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_only_requests_of_the_lost_connection_are_told_lost(
    shared_broker: RunningBroker, qos: int
) -> None:
    with thread_relay_to(shared_broker.url) as relay:
        async with (
            slipring.connect(relay.url) as asker,
            slipring.connect(shared_broker.url) as service,
            service.serve("blocked/echo", echo),
            service.serve("blocked/sleep", sleep),
        ):
            old = asyncio.create_task(asker.request("blocked/sleep"))
            await asker.ping()
            block_over_a_reconnection(asker, relay)
            assert (await asker.request("blocked/echo", "new", qos=qos)).text == "new"
            with pytest.raises(slipring.RequestLost):
                await old


async def test_only_requests_of_the_session_that_the_broker_forgot_are_told_lost(
    shared_broker: RunningBroker,
) -> None:
    with thread_relay_to(shared_broker.url) as relay:
        async with (
            slipring.connect(relay.url, client_id="forgotten", session_expiry_s=600) as asker,
            slipring.connect(shared_broker.url) as service,
            service.serve("forgotten/echo", echo),
            service.serve("forgotten/sleep", sleep),
        ):
            native = asker._connection.native
            old = asyncio.create_task(asker.request("forgotten/sleep"))
            await asker.ping()
            with relay.held():
                relay.cut()
                block_until(lambda: native.connection == 0)
                # Somebody else with this client id begins with a clean start: the session is gone.
                sync.connect(shared_broker.url, client_id="forgotten").close()
            block_until(lambda: native.connection == 2)
            assert (await asker.request("forgotten/echo", "new")).text == "new"
            with pytest.raises(slipring.RequestLost, match="had not kept the session"):
                await old


async def test_a_request_need_not_wait_until_the_loop_has_heard_of_the_connection(
    shared_broker: RunningBroker,
) -> None:
    with thread_relay_to(shared_broker.url) as relay:
        async with (
            slipring.connect(relay.url) as asker,
            slipring.connect(shared_broker.url) as service,
            service.serve("heard/echo", echo),
        ):
            native, changes = asker._connection.native, asker.changes()
            with relay.held():
                relay.cut()
                assert not (await anext(changes)).connected
            block_until(lambda: native.connection == 2)
            assert (await asker.request("heard/echo", "new")).text == "new"


class FullOutbox:
    """A connection, the second, whose outbox is full when the test says so."""

    is_durable, url = False, "mqtt://full"

    def __init__(self) -> None:
        self.native = self
        self.has_room = asyncio.Event()
        self.has_room.set()
        self.sent: list[str] = []

    def newest(self) -> int:
        return 2

    def listen(self, *_: object) -> int:
        return 1

    def take(self, *_: object) -> list[tuple[Any, ...]]:
        return []

    def publish_in_session(self, topic: str, *_: object) -> int | None:
        if not self.has_room.is_set():
            return None
        self.sent.append(topic)
        return len(self.sent)

    async def send(self, call: Callable[[], Any]) -> Any:
        await self.has_room.wait()
        return call()


async def test_a_cancel_that_waits_is_dropped_with_its_own_connection_alone() -> None:
    connection = FullOutbox()
    asking = Asking(cast("ClientConnection", connection))
    number, _ = await asking.begin("full/a", b"", RequestTerms.of({}))
    connection.has_room.clear()
    asking.cancel(number)
    asking.end_session("the first is lost", 1)
    connection.has_room.set()
    assert asking._cancelling is not None
    await asking._cancelling
    assert connection.sent == ["full/a", "$slipring/cancel"]


async def test_a_ping_on_the_new_connection_is_answered(shared_broker: RunningBroker) -> None:
    with thread_relay_to(shared_broker.url) as relay:
        async with slipring.connect(relay.url) as bus:
            block_over_a_reconnection(bus, relay)
            assert await bus.ping() > 0


async def test_a_service_answers_what_came_on_the_new_connection(
    shared_broker: RunningBroker,
) -> None:
    with (
        thread_relay_to(shared_broker.url) as relay,
        sync.connect(shared_broker.url) as asker,
        ThreadPoolExecutor() as threads,
    ):
        async with slipring.connect(relay.url) as service:
            native = service._connection.native
            async with service.serve("late/echo", echo, concurrency=2):
                old = threads.submit(asker.request, "late/echo", "old")
                block_until(lambda: native.unread_bytes > 0)
                block_over_a_reconnection(service, relay)
                unread = native.unread_bytes
                new = threads.submit(asker.request, "late/echo", "new", wait=True)
                block_until(lambda: native.unread_bytes > unread)
                assert (await asyncio.wrap_future(new)).text == "new"
                with pytest.raises(slipring.ServiceFailed, match="gone"):
                    await asyncio.wrap_future(old)
