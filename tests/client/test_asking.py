"""Requests as their asker sees them, against a broker that does what the test tells it to."""

import asyncio
import math

import pytest

import slipring
from slipring.client import asking
from tests.client.request_peer import ENDS, RequestPeer, request_broker, user
from tests.mqtt_bytes import properties
from tests.packets import V5
from tests.running_broker import PATIENCE_S

CANCEL = "$slipring/cancel"


async def test_a_request_has_its_terms_as_user_properties() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published()
        assert (asked.topic, asked.payload, asked.qos) == ("solver/a", b"12", 1)
        assert asked.properties["response_topic"] == (ENDS,)
        assert asked.properties["content_type"] == ("text/plain",)
        assert user(asked) == {
            "slipring-timeout": "0.5",
            "slipring-wait": "1",
            "slipring-priority": "high",
            "slipring-retry": "2",
            "slipring-balance": "fastest",
            "mine": "too",
        }
        await peer.send(peer.end(asked, "answered", b"42"))
        asked = await peer.published()
        assert user(asked) == {"slipring-timeout": "30"}
        await peer.send(peer.end(asked, "answered", b"43", qos=0))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        answer = await bus.request(
            "solver/a",
            12,
            timeout_s=0.5,
            wait=True,
            priority="high",
            retry=2,
            balance="fastest",
            properties={"mine": "too"},
            content_type="text/plain",
        )
        assert (answer, answer.text) == (slipring.Answer(b"42"), "42")
        assert (await bus.request("solver/a")).payload == b"43"


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0},
        {"timeout_s": math.inf},
        {"priority": "urgent"},
        {"retry": 17},
        {"retry": -1},
        {"balance": "fair"},
    ],
    ids=str,
)
async def test_terms_without_sense_are_not_sent(options: dict[str, object]) -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(ValueError, match=next(iter(options))):
            await bus.request("solver/a", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("failed", slipring.ServiceFailed),
        ("cancelled", slipring.RequestCancelled),
        ("timed-out", slipring.RequestTimedOut),
        ("not-delivered", slipring.RequestNotDelivered),
        ("dropped", slipring.RequestDropped),
        ("refused", slipring.RequestRefused),
        ("unheard-of", slipring.RequestEnded),
    ],
)
async def test_each_end_has_its_exception(status: str, error: type[slipring.RequestEnded]) -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.send(peer.end(await peer.published(), status))
        await peer.send(peer.end(await peer.published(), status, b"words of the service"))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.RequestEnded) as ended:
            await bus.request("solver/a")
        assert type(ended.value) is error
        assert (ended.value.topic, ended.value.reason) == ("solver/a", "why")
        assert str(ended.value).endswith(": why")
        with pytest.raises(error, match=r"'solver/a' .*: words of the service"):
            await bus.request("solver/a")


async def test_a_time_out_is_also_a_time_out_of_python() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.send(peer.end(await peer.published(), "timed-out"))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(TimeoutError):
            await bus.request("solver/a")


async def test_a_refusal_has_the_brokers_code_and_words() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published(acknowledge=False)
        words = properties(reason_string="too many open requests")
        await peer.send(V5.puback(asked.id, 0x97, words))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.RequestRefused, match="too many open requests") as refused:
            await bus.request("solver/a")
        assert refused.value.code == 0x97


async def test_many_requests_are_sent_without_waiting_for_an_acknowledgement() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = [await peer.published(acknowledge=False) for _ in range(300)]
        for number, one in reversed(list(enumerate(asked))):
            await peer.send(V5.puback(one.id))
            status = "failed" if number == 7 else "answered"
            await peer.send(peer.end(one, status, one.payload, qos=0))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        ends = await bus.request_many(("solver/a", number) for number in range(300))
        answers = [end.text for end in ends if isinstance(end, slipring.Answer)]
        assert answers == [str(number) for number in range(300) if number != 7]
        assert isinstance(ends[7], slipring.ServiceFailed)


async def test_a_request_that_cannot_be_sent_ends_alone() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.expect(0x10)
        await peer.send(V5.connack(properties=b"\x27" + (1000).to_bytes(4, "big")))
        for _ in range(2):
            asked = await peer.published()
            await peer.send(peer.end(asked, "answered", asked.payload))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        asked = [("solver/a", b"1"), ("solver/a", bytes(2000)), ("solver/a", b"3")]
        ends = await bus.request_many(asked)
        assert isinstance(ends[1], slipring.RequestRefused)
        assert (ends[0], ends[2]) == (slipring.Answer(b"1"), slipring.Answer(b"3"))
        with pytest.raises(slipring.RequestRefused):
            await bus.request("solver/a", bytes(2000))


async def test_many_requests_without_a_connection_time_out_together() -> None:
    cut, over = asyncio.Event(), asyncio.Event()

    async def first(peer: RequestPeer) -> None:
        await peer.connect()
        await cut.wait()

    async def second(peer: RequestPeer) -> None:
        await over.wait()
        await peer.connect()
        await peer.disconnected()

    async with request_broker(first, second) as url, slipring.connect(url) as bus:
        changes = bus.changes()
        cut.set()
        assert not (await anext(changes)).connected
        ends = await bus.request_many([("solver/a", b"")] * 1000, timeout_s=0.5)
        assert [type(end) for end in ends] == [slipring.RequestTimedOut] * 1000
        over.set()
        assert (await anext(changes)).connected


async def test_parts_come_before_the_answer() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published()
        for payload in (b"1", b"2"):
            await peer.send(peer.end(asked, "part", payload))
        await peer.send(peer.end(asked, "answered", b"3"))
        asked = await peer.published()
        await peer.send(peer.end(asked, "part", b"1") + peer.end(asked, "failed", b"broken"))
        asked = await peer.published()
        await peer.send(peer.end(asked, "part", b"1") + peer.end(asked, "answered", b"2"))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        found = [(one.text, one.is_part) async for one in bus.ask_parts("solver/a")]
        assert found == [("1", True), ("2", True), ("3", False)]
        parts = bus.ask_parts("solver/a")
        assert (await anext(parts)).text == "1"
        with pytest.raises(slipring.ServiceFailed, match="broken"):
            await anext(parts)
        with pytest.raises(StopAsyncIteration):
            await anext(parts)
        assert (await bus.request("solver/a")).text == "2"  # who asks for no parts gets none


async def test_a_reader_that_leaves_early_cancels_the_request() -> None:
    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published()
        await peer.send(peer.end(asked, "part", b"1"))
        cancel = await peer.published()
        assert cancel.topic == CANCEL
        assert cancel.properties["correlation_data"] == asked.properties["correlation_data"]
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        async for part in bus.ask_parts("solver/a"):
            assert part.is_part
            break


@pytest.mark.parametrize(("bound", "value"), [("PARTS_MAX", 2), ("PARTS_BYTES_MAX", 2)])
async def test_a_reader_that_is_too_slow_is_told(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(asking, bound, value)

    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published()
        await peer.send(b"".join(peer.end(asked, "part", b"%d" % number) for number in range(4)))
        assert (await peer.published()).topic == CANCEL
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        parts = bus.ask_parts("solver/a")
        assert (await anext(parts)).text == "0"
        with pytest.raises(slipring.RequestCancelled, match="too slow: 2 parts"):
            async for _ in parts:
                pass


@pytest.mark.parametrize("by", ["task", "timeout"])
async def test_a_cancelled_call_cancels_the_request(by: str) -> None:
    asked_for = asyncio.Event()

    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published()
        asked_for.set()
        cancel = await peer.published()
        assert (cancel.topic, cancel.qos) == (CANCEL, 1)
        assert cancel.properties["correlation_data"] == asked.properties["correlation_data"]
        await peer.send(peer.end(asked, "cancelled"))  # nobody waits for it: harmless
        await peer.send(peer.end(await peer.published(), "answered", b"next"))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        if by == "task":
            task = asyncio.create_task(bus.request("solver/a"))
            await asked_for.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await bus.request("solver/a")
        assert (await bus.request("solver/b")).text == "next"


async def test_a_cancel_is_not_lost_when_the_bus_is_closed_at_once() -> None:
    asked_for, cancels = asyncio.Event(), []

    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        for _ in range(100):
            await peer.published()
        asked_for.set()
        cancels.extend([(await peer.published()).topic for _ in range(100)])
        await peer.disconnected()

    async def ask(url: str) -> None:
        async with slipring.connect(url) as bus:
            await bus.request_many([("solver/a", number) for number in range(100)])

    async with request_broker(talk) as url:
        task = asyncio.create_task(ask(url))
        await asked_for.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert cancels == [CANCEL] * 100


async def test_a_cancel_waits_for_the_connection() -> None:
    asked_for, cut, numbers = asyncio.Event(), asyncio.Event(), []

    async def first(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        numbers.append((await peer.published()).properties["correlation_data"])
        asked_for.set()
        await cut.wait()

    async def second(peer: RequestPeer) -> None:
        await peer.connect(session_present=True, session_expiry=60)
        cancel = await peer.published()
        assert cancel.topic == CANCEL
        assert [cancel.properties["correlation_data"]] == numbers
        await peer.disconnected()

    async with (
        request_broker(first, second) as url,
        slipring.connect(url, client_id="asker", session_expiry_s=60) as bus,
    ):
        changes, task = bus.changes(), asyncio.create_task(bus.request("solver/a"))
        await asked_for.wait()
        cut.set()
        assert not (await anext(changes)).connected
        task.cancel()
        assert (await anext(changes)).connected


async def test_without_a_kept_session_open_requests_end_with_the_connection() -> None:
    async def first(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.published()
        await peer.published(acknowledge=False)

    async def second(peer: RequestPeer) -> None:
        await peer.connect()
        asked = await peer.published()
        assert (asked.payload, asked.dup) == (b"3", False)  # what was lost is not sent again
        await peer.send(peer.end(asked, "answered"))
        await peer.disconnected()

    async with request_broker(first, second) as url, slipring.connect(url) as bus:
        ends = await bus.request_many([("solver/a", 1), ("solver/a", 2)])
        assert [type(end) for end in ends] == [slipring.RequestLost] * 2
        assert issubclass(slipring.RequestLost, slipring.ConnectionLost)
        await bus.request("solver/a", 3)


async def test_in_a_kept_session_open_requests_go_on() -> None:
    asked = []

    async def first(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        asked.append(await peer.published())
        asked.append(await peer.published(acknowledge=False))

    async def second(peer: RequestPeer) -> None:
        await peer.connect(session_present=True, session_expiry=60)
        again = await peer.published()
        assert (again.payload, again.dup) == (b"2", True)
        assert again.properties == asked[1].properties
        for one in asked:
            await peer.send(peer.end(one, "answered", one.payload))
        await peer.disconnected()

    async with (
        request_broker(first, second) as url,
        slipring.connect(url, client_id="asker", session_expiry_s=60) as bus,
    ):
        ends = await bus.request_many([("solver/a", 1), ("solver/a", 2)])
        assert ends == [slipring.Answer(b"1"), slipring.Answer(b"2")]


async def test_a_session_that_the_broker_forgot_ends_its_requests() -> None:
    async def first(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        await peer.published()
        await peer.published(acknowledge=False)

    async def second(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        await peer.disconnected()

    async with (
        request_broker(first, second) as url,
        slipring.connect(url, client_id="asker", session_expiry_s=60) as bus,
    ):
        ends = await bus.request_many([("solver/a", 1), ("solver/a", 2)])
        assert [type(end) for end in ends] == [slipring.RequestLost] * 2


async def test_closing_the_bus_cancels_what_a_kept_session_would_go_on_with() -> None:
    asked_for = asyncio.Event()

    async def talk(peer: RequestPeer) -> None:
        await peer.connect(session_expiry=60)
        await peer.published()
        asked_for.set()
        assert (await peer.published()).topic == CANCEL
        await peer.disconnected()

    async with request_broker(talk) as url:
        async with slipring.connect(url, client_id="asker", session_expiry_s=60) as bus:
            task = asyncio.create_task(bus.request("solver/a"))
            await asked_for.wait()
        with pytest.raises(slipring.RequestLost):
            await task


async def test_a_broker_that_tells_no_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "LATE_S", 0.0)
    monkeypatch.setattr(asking, "SWEEP_S", 0.01)

    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await peer.published()
        assert (await peer.published()).topic == CANCEL
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.RequestTimedOut, match="is a Slipring broker"):
            await bus.request("solver/a", timeout_s=0.01)


async def test_a_request_without_a_connection_waits_for_one_until_it_times_out() -> None:
    cut, timed_out = asyncio.Event(), asyncio.Event()

    async def first(peer: RequestPeer) -> None:
        await peer.connect()
        await cut.wait()

    async def second(peer: RequestPeer) -> None:
        await timed_out.wait()
        await peer.connect()
        await peer.send(peer.end(await peer.published(), "answered"))
        await peer.disconnected()

    async with request_broker(first, second) as url, slipring.connect(url) as bus:
        changes = bus.changes()
        cut.set()
        assert not (await anext(changes)).connected
        with pytest.raises(slipring.RequestTimedOut, match="could not be sent"):
            await bus.request("solver/a", timeout_s=0.01)
        timed_out.set()
        await bus.request("solver/a")


async def test_a_cancel_that_the_broker_cannot_take_leaves_the_end_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broker without QoS 1 takes no cancel; the request ends all the same."""
    monkeypatch.setattr(asking, "LATE_S", 0.0)
    monkeypatch.setattr(asking, "SWEEP_S", 0.01)

    async def talk(peer: RequestPeer) -> None:
        await peer.expect(0x10)
        await peer.send(V5.connack(properties=b"\x24\x00"))
        await peer.disconnected()

    async with request_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.RequestTimedOut):
            async with asyncio.timeout(PATIENCE_S):
                await bus.request("solver/a", timeout_s=0.01, qos=0)
        task = asyncio.create_task(bus.request("solver/a", qos=0))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_close_that_is_cancelled_while_cancels_wait_closes_the_bus() -> None:
    go = asyncio.Event()

    async def talk(peer: RequestPeer) -> None:
        await peer.connect()
        await go.wait()
        await peer.published()
        await peer.disconnected()

    async with request_broker(talk) as url:
        bus = await slipring.connect(url, outbox_bytes_max=1000)
        asked = asyncio.create_task(bus.request("solver/a", bytes(1000)))
        await asyncio.sleep(0)
        asked.cancel()
        await asyncio.wait({asked})
        closing = asyncio.create_task(bus.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait({closing})
        assert closing.cancelled()
        go.set()
