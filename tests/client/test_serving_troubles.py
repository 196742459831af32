"""Services in trouble: requests that come twice, bad handlers, cancels at a bad moment."""

import asyncio
import gc
import sys
import threading
from collections.abc import Callable

import pytest

import slipring
from slipring import sync
from slipring.client.cancels import ENDED_MAX, Cancels
from tests.client.request_peer import RequestPeer, answer_topic, request_broker
from tests.client.test_blocked_loop import block_until
from tests.client.test_serving import said, serve_during, served
from tests.packets import V5
from tests.running_broker import PATIENCE_S, RunningBroker

DUP = 0x08


def again(message: bytes) -> bytes:
    """The same packet, as a broker sends it a second time."""
    return bytes([message[0] | DUP]) + message[1:]


@pytest.mark.parametrize("concurrency", [1, 2], ids=["after it", "beside it"])
@pytest.mark.parametrize("retry", [0, 1])
async def test_a_request_that_a_kept_session_sends_again_is_computed_once(
    concurrency: int, retry: int
) -> None:
    """Unless it has ended, and may be tried again."""
    started, back = asyncio.Event(), asyncio.Event()
    computed, sent = list[str](), list[bytes]()

    async def solve(request: slipring.Request) -> bytes:
        computed.append(request.text)
        started.set()
        await back.wait()
        return b""

    async def first(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        await peer.subscribed()
        await peer.subscribed()
        sent.append(peer.request(1, b"first", retry=retry))
        await peer.send(sent[0])
        await started.wait()

    async def second(peer: RequestPeer) -> None:
        await peer.connect(session_present=True, session_expiry=60)
        await peer.send(again(sent[0]))
        if concurrency > 1:
            assert await peer.packet() == (0x40, V5.puback(1)[2:])  # the service has taken it
        back.set()
        assert said(await peer.published())[0] == answer_topic(1)
        peer.newest_id = 1
        await peer.send(peer.request(2, b"second"))
        while said(await peer.published())[0] != answer_topic(2):
            pass

    await serve_during(solve, first, second, concurrency=concurrency, session_expiry_s=60)
    is_tried_again = retry and concurrency == 1
    assert computed == ["first", *["first"] * bool(is_tried_again), "second"]


async def test_a_request_that_is_given_again_after_a_loss_is_computed_anew() -> None:
    """Its first handler may still clean up; a cancel is for the second."""
    started, told = asyncio.Queue[int](), asyncio.Queue[str | None]()
    may_end, computed = asyncio.Event(), 0

    async def solve(request: slipring.Request) -> None:
        nonlocal computed
        computed += 1
        which = computed
        started.put_nowait(which)
        try:
            await asyncio.Event().wait()
        finally:
            if which == 1:
                await may_end.wait()
            told.put_nowait(request.ended_as)

    async def first(peer: RequestPeer) -> None:
        await served(peer, 2)
        await peer.send(peer.request(1, retry=1))
        assert await started.get() == 1

    async def second(peer: RequestPeer) -> None:
        await served(peer, 2)
        await peer.send(peer.request(1, retry=1))
        assert await started.get() == 2
        may_end.set()
        assert await told.get() == "lost"
        await peer.send(peer.cancelled(1, "cancelled"))
        assert await asyncio.wait_for(told.get(), PATIENCE_S) == "cancelled"

    await serve_during(solve, first, second, concurrency=2)


async def test_requests_that_have_ended_are_not_remembered_without_bound() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        cancels = Cancels(bus._connection)
        topics = [answer_topic(key) for key in range(2 * ENDED_MAX)]
        for topic in topics:
            cancels.watch(topic, 1, lambda _ended_as: None)
            cancels.unwatch(topic)
        requests = [slipring.Message("a", b"", qos=1, response_topic=topic) for topic in topics]
        known = [cancels.is_known(request, 1) for request in requests]
        assert known == [False] * ENDED_MAX + [True] * ENDED_MAX


async def test_messages_with_one_response_topic_are_different_requests() -> None:
    """Other brokers, and messages without a time-out, have the response topic of their asker."""

    async def double(request: slipring.Request) -> bytes:
        await asyncio.sleep(0)
        return request.payload * 2

    async def talk(peer: RequestPeer) -> None:
        await served(peer, 2)
        told = b"\x08\x00\x05reply"
        await peer.send(
            b"".join(V5.publish("solver/a", one, properties=told) for one in (b"1", b"2"))
        )
        assert {(await peer.published()).payload for _ in range(2)} == {b"11", b"22"}

    await serve_during(double, talk, concurrency=2)


async def test_leaving_by_an_exception_fails_what_has_not_begun() -> None:
    peers = list[RequestPeer]()

    async def solve(_request: slipring.Request) -> None:
        raise AssertionError("it is cancelled before it begins")

    async def talk(peer: RequestPeer) -> None:
        peers.append(peer)
        await served(peer)
        await peer.unsubscribed()
        answer = said(await asyncio.wait_for(peer.published(), PATIENCE_S))
        assert answer == (answer_topic(1), b"the service has ended", "failed")
        await peer.disconnected()

    async def serve(bus: slipring.Bus) -> None:
        async with bus.serve("solver/#", solve) as service:
            peers[0].writer.write(peers[0].request(1))
            block_until(lambda: bus.unread_bytes > 0)
            service.set()
            assert service.running == 1
            raise ZeroDivisionError

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(ZeroDivisionError):
            await serve(bus)


async def test_closing_that_is_cancelled_fails_what_came() -> None:
    leaving = asyncio.Event()

    async def solve(_request: slipring.Request) -> None:
        raise AssertionError("it comes too late")

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        assert (await peer.said())[0] == 0xA2  # UNSUBSCRIBE, which gets no answer
        await peer.send(peer.request(1))
        leaving.set()
        answer = said(await asyncio.wait_for(peer.published(), PATIENCE_S))
        assert answer == (answer_topic(1), b"the service has ended", "failed")
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        service = await bus.serve("solver/#", solve).__aenter__()
        closing = asyncio.create_task(service.close())
        await leaving.wait()
        block_until(lambda: bus.unread_bytes > 0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing


def stop_iteration(_request: slipring.ThreadRequest) -> str:
    return next(iter([]))


def leave(_request: slipring.ThreadRequest) -> str:
    sys.exit("no licence")


@pytest.mark.parametrize("solve", [stop_iteration, leave])
def test_whatever_a_thread_raises_fails_its_request(
    shared_broker: RunningBroker, solve: Callable[[slipring.ThreadRequest], str]
) -> None:
    with sync.connect(shared_broker.url) as bus, bus.serve("raising/a", solve):
        for _ in range(2):
            with pytest.raises(slipring.ServiceFailed, match=r"StopIteration|no licence"):
                bus.request("raising/a", timeout_s=PATIENCE_S)


async def test_requests_that_end_while_all_threads_are_busy_leave_nothing_behind() -> None:
    started, go = threading.Event(), threading.Event()
    count, left = 20, list[int]()

    def solve(_request: slipring.ThreadRequest) -> None:
        started.set()
        go.wait(PATIENCE_S)

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        for key in range(count):
            await peer.send(peer.request(key))
            await asyncio.to_thread(started.wait, PATIENCE_S)
            await peer.send(peer.cancelled(key, "timed-out"))
            for _ in range(2):
                assert (await peer.packet())[0] == 0x40  # the service has heard of both
        gc.collect()
        held = [one for one in gc.get_objects() if isinstance(one, slipring.ThreadRequest)]
        left.append(sum(one.topic == "solver/a" for one in held))
        go.set()
        await peer.send(peer.request(count))
        assert said(await peer.published())[0] == answer_topic(count)

    await serve_during(solve, talk)
    assert left == [1]  # that of the thread


async def test_a_service_whose_first_subscription_was_refused_can_try_again() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        body = await peer.expect(0x82)
        await peer.send(V5.suback(int.from_bytes(body[:2], "big"), 0x87))
        assert await peer.subscribed() == (["$slipring/cancelled"], {})
        await peer.subscribed()
        await peer.unsubscribed()
        await peer.disconnected()

    async def solve(_request: slipring.Request) -> None:
        pass

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.Refused, match="not authorized"):
            async with bus.serve("solver/#", solve):
                pass
        async with bus.serve("solver/#", solve):
            pass
