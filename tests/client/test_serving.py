"""Services as the broker sees them, packet by packet."""

import asyncio
import logging
import threading

import pytest

import slipring
from slipring.client.serving import Handler
from tests.client.request_peer import RequestPeer, Talk, answer_topic, request_broker, user
from tests.packets import V5, Packet
from tests.running_broker import PATIENCE_S


async def served(peer: RequestPeer, concurrency: int = 1) -> None:
    """A client that begins to serve."""
    await peer.connect()
    assert await peer.subscribed() == (["$slipring/cancelled"], {})
    assert await peer.subscribed() == (["solver/#"], {"slipring-serve": str(concurrency)})


async def serve_during(
    handler: Handler, *talks: Talk, concurrency: int = 1, session_expiry_s: int = 0
) -> None:
    """Serve until the last of these connections has said everything, and leave in it."""
    done = asyncio.Event()

    async def last(peer: RequestPeer) -> None:
        await talks[-1](peer)
        done.set()
        await peer.unsubscribed()
        await peer.disconnected()

    async with (
        request_broker(*talks[:-1], last) as url,
        slipring.connect(url, client_id="service", session_expiry_s=session_expiry_s) as bus,
        bus.serve("solver/#", handler, concurrency=concurrency),
    ):
        await done.wait()


def said(message: Packet) -> tuple[str, bytes, str | None]:
    return message.topic, message.payload, user(message).get("slipring-status")


async def double(request: slipring.Request) -> bytes:
    return request.payload * 2


async def test_what_a_service_returns_is_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    async def solve(request: slipring.Request) -> object:
        assert request.topic == "solver/a"
        assert request.time_left_s is not None
        assert 0 < request.time_left_s <= 30
        match request.text:
            case "nothing":
                return None
            case "answer":
                return slipring.Answer(b"{}", "application/json", (("mine", "too"),))
            case "table":
                return {}
            case "fail":
                raise slipring.ServiceFailed("no fuel")
            case "divide":
                return 1 / 0
        return f"{request.text}?"

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        found = []
        asked = (b"text", b"nothing", b"answer", b"table", b"fail", b"divide")
        for key, payload in enumerate(asked):
            await peer.send(peer.request(key, payload))
            found.append(await peer.published())
        assert [one.qos for one in found] == [1] * 6
        assert [one.properties["correlation_data"] for one in found] == [
            (b"%d" % key,) for key in range(6)
        ]
        assert [said(one) for one in found] == [
            (answer_topic(0), b"text?", None),
            (answer_topic(1), b"", None),
            (answer_topic(2), b"{}", None),
            (answer_topic(3), found[3].payload, "failed"),
            (answer_topic(4), b"no fuel", "failed"),
            (answer_topic(5), b"division by zero", "failed"),
        ]
        assert b"cannot publish a dict" in found[3].payload
        assert found[2].properties["content_type"] == ("application/json",)
        assert user(found[2]) == {"mine": "too"}

    await serve_during(solve, talk)  # type: ignore[arg-type]
    assert "division by zero" in caplog.text
    assert "no fuel" not in caplog.text  # who fails on purpose has said it


async def test_parts_go_out_before_the_answer() -> None:
    async def solve(request: slipring.Request) -> str:
        for number in range(3):
            await request.part(number, content_type="text/plain", properties={"of": "3"})
        return "all"

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1))
        found = [await peer.published() for _ in range(4)]
        assert [said(one)[1:] for one in found] == [
            *((b"%d" % number, "part") for number in range(3)),
            (b"all", None),
        ]
        assert user(found[0]) == {"slipring-status": "part", "of": "3"}
        assert found[0].properties["content_type"] == ("text/plain",)

    await serve_during(solve, talk)


@pytest.mark.parametrize("status", ["cancelled", "timed-out", "dropped"])
async def test_a_request_that_has_ended_cancels_its_task(status: str) -> None:
    started, ended = asyncio.Event(), []

    async def solve(request: slipring.Request) -> bytes:
        if request.payload:
            return request.payload
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append(request.ended_as)
            await request.part("too late")
            raise
        return b""

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1))
        await started.wait()
        await peer.send(peer.cancelled(7, status) + peer.cancelled(1, status))
        await peer.send(peer.request(2, b"next"))
        assert said(await peer.published()) == (answer_topic(2), b"next", None)

    await serve_during(solve, talk)
    assert ended == [status]


async def test_a_second_end_does_not_interrupt_the_clean_up() -> None:
    started, cleaning, may_end, cleaned = (asyncio.Event() for _ in range(4))

    async def solve(request: slipring.Request) -> bytes:
        if request.payload:
            return request.payload
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await may_end.wait()
            cleaned.set()
        return b""

    async def talk(peer: RequestPeer) -> None:
        await served(peer, 2)
        await peer.send(peer.request(1))
        await started.wait()
        await peer.send(peer.cancelled(1, "cancelled"))
        await cleaning.wait()
        await peer.send(peer.cancelled(1, "timed-out") + peer.request(2, b"later"))
        assert said(await peer.published()) == (answer_topic(2), b"later", None)
        may_end.set()
        await cleaned.wait()

    await serve_during(solve, talk, concurrency=2)


@pytest.mark.parametrize(
    ("result", "status", "payload"),
    [
        (slipring.Answer("text"), "failed", b"cannot be sent"),  # type: ignore[arg-type]
        (slipring.Answer(b"", properties={"a": "b"}), "failed", b"cannot be sent"),  # type: ignore[arg-type]
        (ValueError("a lone \ud800"), "failed", b"a lone \\ud800"),
        (slipring.Answer(b"the end", is_part=True), None, b"the end"),
    ],
    ids=["text", "mapping", "surrogate", "part"],
)
async def test_every_result_of_a_service_ends_the_request(
    result: slipring.Answer | Exception,
    status: str | None,
    payload: bytes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "slipring.client")  # a report cannot hold a lone surrogate

    async def solve(_request: slipring.Request) -> slipring.Answer:
        if isinstance(result, Exception):
            raise result
        return result

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1))
        answer = said(await peer.published())
        assert (answer[0], answer[2]) == (answer_topic(1), status)
        assert payload in answer[1]

    await serve_during(solve, talk)


async def test_leaving_without_a_connection_waits_for_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("slipring.client.connection.ANSWER_S", 10 * PATIENCE_S)
    cut, over = asyncio.Event(), asyncio.Event()

    async def first(peer: RequestPeer) -> None:
        await served(peer)
        await cut.wait()

    async def second(peer: RequestPeer) -> None:
        await over.wait()
        await peer.connect()
        await peer.disconnected()

    async with request_broker(first, second) as url, slipring.connect(url) as bus:
        async with asyncio.timeout(PATIENCE_S), bus.serve("solver/#", double):
            changes = bus.changes()
            cut.set()
            assert not (await anext(changes)).connected
        over.set()
        assert (await anext(changes)).connected


async def test_no_more_run_at_once_than_it_said() -> None:
    running, most, busy, go = 0, 0, asyncio.Event(), asyncio.Event()

    async def solve(_request: slipring.Request) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            busy.set()
        await go.wait()
        await asyncio.sleep(0)
        running -= 1

    async def talk(peer: RequestPeer) -> None:
        await served(peer, 3)
        await peer.send(b"".join(peer.request(key) for key in range(10)))
        await busy.wait()
        go.set()
        for _ in range(10):
            await peer.published()

    await serve_during(solve, talk, concurrency=3)
    assert most == 3


async def test_leaving_finishes_what_came() -> None:
    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        # Sent before the broker has seen UNSUBSCRIBE.
        await peer.unsubscribed(peer.request(1, b"a") + peer.request(2, b"b"))
        found = [said(await peer.published()) for _ in range(2)]
        assert found == [(answer_topic(1), b"aa", None), (answer_topic(2), b"bb", None)]
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        async with bus.serve("solver/#", double) as service:
            pass
        assert service.running == 0


async def test_leaving_by_an_exception_fails_what_runs() -> None:
    started = asyncio.Event()

    async def solve(_request: slipring.Request) -> None:
        started.set()
        await asyncio.Event().wait()

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1))
        await started.wait()
        await peer.unsubscribed(peer.request(2))
        found = {said(await peer.published()) for _ in range(2)}
        assert found == {(answer_topic(key), b"the service has ended", "failed") for key in (1, 2)}
        await peer.disconnected()

    async def serve(bus: slipring.Bus) -> None:
        async with bus.serve("solver/#", solve):
            await started.wait()
            raise RuntimeError("enough")

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(RuntimeError, match="enough"):
            await serve(bus)


async def test_a_lost_session_cancels_what_runs_and_is_served_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL, "slipring.client")
    started, ended = asyncio.Event(), []

    async def solve(request: slipring.Request) -> bytes:
        if request.payload:
            return request.payload
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(request.ended_as)
        return b""

    async def first(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1))
        await started.wait()

    async def second(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(2, b"again"))
        assert said(await peer.published()) == (answer_topic(2), b"again", None)

    await serve_during(solve, first, second)
    assert ended == ["lost"]


async def test_in_a_kept_session_the_answer_goes_out_on_the_next_connection() -> None:
    started, back = asyncio.Event(), asyncio.Event()

    async def solve(_request: slipring.Request) -> bytes:
        started.set()
        await back.wait()
        return b"late"

    async def first(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        await peer.subscribed()
        await peer.subscribed()
        await peer.send(peer.request(1))
        await started.wait()

    async def second(peer: RequestPeer) -> None:
        await peer.connect(session_present=True, session_expiry=60)
        back.set()
        assert said(await peer.published()) == (answer_topic(1), b"late", None)

    await serve_during(solve, first, second, session_expiry_s=60)


async def test_a_plain_function_runs_in_a_thread() -> None:
    started, told, seen = threading.Event(), threading.Event(), []

    def solve(request: slipring.ThreadRequest) -> str | None:
        seen.append(threading.current_thread() is threading.main_thread())
        if request.text == "parts":
            request.part(1)
            return f"{request.topic} {request.time_left_s is not None}"
        started.set()
        while request.ended_as is None and not told.wait(0.01):
            pass
        seen.append(request.ended_as == "cancelled")
        told.set()
        return "too late"

    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1, b"parts"))
        found = [said(await peer.published())[1:] for _ in range(2)]
        assert found == [(b"1", "part"), (b"solver/a True", None)]
        await peer.send(peer.request(2, b"long"))
        await asyncio.to_thread(started.wait, PATIENCE_S)
        await peer.send(peer.cancelled(2, "cancelled"))
        await asyncio.to_thread(told.wait, PATIENCE_S)
        await peer.send(peer.request(3, b"parts"))
        assert said(await peer.published()) == (answer_topic(3), b"1", "part")
        await peer.published()

    await serve_during(solve, talk)
    assert seen == [False, False, True, False]


async def test_an_answer_that_is_too_large_fails_the_request() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.expect(0x10)
        await peer.send(V5.connack(properties=b"\x27" + (1000).to_bytes(4, "big")))
        await peer.subscribed()
        await peer.subscribed()
        await peer.send(peer.request(1, bytes(900)))
        topic, payload, status = said(await peer.published())
        assert (topic, status) == (answer_topic(1), "failed")
        assert b"cannot be sent" in payload

    await serve_during(double, talk)


async def test_an_answer_that_the_broker_refuses_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(peer.request(1))
        answer = await peer.published(acknowledge=False)
        await peer.send(V5.puback(answer.id, 0x97))
        await peer.send(peer.request(2))
        await peer.published()

    await serve_during(double, talk)
    assert "refused a message that nobody waits for: quota exceeded (0x97)" in caplog.text


async def test_a_message_that_asks_for_nothing_is_passed_over() -> None:
    async def talk(peer: RequestPeer) -> None:
        await served(peer)
        await peer.send(V5.publish("solver/a", b"plain") + peer.request(1, b"a"))
        assert said(await peer.published()) == (answer_topic(1), b"aa", None)

    await serve_during(double, talk)


async def test_serving_without_end_ends_with_its_connection() -> None:
    async def talk(peer: RequestPeer) -> None:
        await served(peer)

    async with request_broker(talk) as url, slipring.connect(url, reconnect_s=0) as bus:
        with pytest.raises(slipring.ConnectionLost):
            await bus.serve("solver/#", double).forever()


@pytest.mark.parametrize("concurrency", [0, 65_536])
async def test_a_concurrency_without_sense_is_refused(concurrency: int) -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(ValueError, match="1 to 65535"):
            bus.serve("solver/#", double, concurrency=concurrency)
