"""The client without asyncio: the same calls, which wait."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

import slipring
from slipring import Parameter, sync
from slipring.sync.waiting import loop_of

WAIT_S = 60


def test_a_message_is_published_and_received(broker_url: str) -> None:
    with sync.connect(broker_url) as bus, bus.subscribe("sync/#") as messages:
        bus.publish("sync/a", 12034.5, qos=1)
        assert next(messages) == slipring.Message("sync/a", b"12034.5")
        assert bus.publish_many([("sync/b", "1"), ("sync/b", "2")]) == 2
        assert [message.text for batch in _some(messages, 2) for message in batch] == ["1", "2"]
        assert 0 < bus.ping() < WAIT_S
        assert bus.is_connected
    with pytest.raises(slipring.ConnectionLost):
        bus.publish("sync/a")


def _some(messages: sync.Subscription, count: int) -> list[list[slipring.Message]]:
    """Lists, until there are so many messages in them."""
    found: list[list[slipring.Message]] = []
    for batch in messages.batches():
        found.append(batch)
        if sum(map(len, found)) >= count:
            break
    return found


def test_parameters_are_declared_written_and_selected(table_url: str) -> None:
    with sync.connect(table_url) as bus:
        engine = bus.declare("sync/engine", {"rpm": Parameter("f64"), "on": Parameter("bool")})
        assert engine.names == ("rpm", "on")
        with bus.select(names=["sync/engine/rpm", "sync/none"]) as frames:
            assert list(frames.missing) == ["sync/none"]
            engine.write({"rpm": 12034.5, "on": True})
            assert next(frames)["sync/engine/rpm"].value == 12034.5
        engine.write_row({"f64": [1.5], "bool": [False]})
        engine.flush()
        with bus.select("sync/engine/#") as frames:
            (frame,) = next(frames.frames())
            assert frame.values(["sync/engine/rpm", "sync/engine/on"]).tolist() == [1.5, 0]
        assert bus.current("sync/engine/#")["sync/engine/on"].value is False
        assert "sync/engine/rpm" in bus.table()
        engine.remove()
        assert bus.current("sync/engine/#") == {}


def test_errors_are_the_same(table_url: str) -> None:
    with pytest.raises(slipring.ConnectError):
        sync.connect("mqtt://127.0.0.1:1")
    with sync.connect(table_url) as bus:
        bus.declare("sync/clash", {"a": Parameter("f64")})
        with pytest.raises(slipring.DeclareRefused, match="sync/clash/a"):
            bus.declare("sync/clash", {"a": Parameter("text")})
        with pytest.raises(slipring.InvalidTopic):
            bus.publish("#")


def test_threads_share_a_bus(broker_url: str) -> None:
    with sync.connect(broker_url) as bus, bus.subscribe("threads/#") as messages:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: bus.publish("threads/a", number, qos=1), range(100)))
        found = sorted(int(message.text) for batch in _some(messages, 100) for message in batch)
    assert found == list(range(100))


def test_closing_ends_who_iterates_in_another_thread(broker_url: str) -> None:
    with sync.connect(broker_url) as bus, bus.subscribe("ended/#") as messages:
        seen: list[slipring.Message] = []
        reader = threading.Thread(target=lambda: seen.extend(messages))
        reader.start()
        bus.publish("ended/a", qos=1)
        messages.close()
        reader.join(WAIT_S)
        assert not reader.is_alive()


PROGRAM = """
from slipring import sync
with sync.connect({url!r}) as bus, bus.subscribe("interrupted") as messages:
    print("ready", flush=True)
    for message in messages:
        print(message.text, flush=True)
"""


def test_messages_go_in_bulk_and_are_counted(broker_url: str) -> None:
    with sync.connect(broker_url) as bus, bus.publisher(qos=1) as publisher:
        publisher.send(("bulk/a", str(number)) for number in range(3_000))
        publisher.flush()
        assert (publisher.accepted, publisher.outstanding, publisher.settled) == (3_000, 0, 3_000)
        assert bus.unsent_bytes == 0
        with pytest.raises(slipring.InvalidTopic):
            publisher.send([("#", "1")])


def test_a_session_goes_on_and_gives_up_what_nobody_reads(broker_url: str) -> None:
    options: Any = {"client_id": "sync-session", "session_expiry_s": 100}
    with sync.connect(broker_url, **options) as bus:
        assert (bus.session_present, bus.session_expiry_s) == (False, 100)
        for name in ("kept", "left", "ended"):
            with bus.subscribe(f"session/{name}", qos=1) as messages:
                if name == "ended":
                    messages.unsubscribe()
    with sync.connect(broker_url) as other:
        for name in ("kept", "left", "ended"):
            other.publish(f"session/{name}", name, qos=1)
    with sync.connect(broker_url, **options) as bus:
        assert bus.session_present
        bus.unsubscribe("session/left")
        with bus.subscribe("session/kept", qos=1) as messages:
            assert next(messages).text == "kept"
        assert bus.unread_bytes >= 0


def test_the_clock_of_the_broker_is_measured(table_url: str) -> None:
    with sync.connect(table_url) as bus:
        bus.clock.measure(3)
        assert bus.clock.offset_ns is not None
        assert bus.clock.round_trip_ns is not None
        assert bus.clock.uncertainty_ns is not None
        with bus.clock.kept():
            assert bus.clock.refresh()
        identity, entries = bus.remembered()
        assert identity == bus.table().identity
        assert isinstance(entries, list)


def test_brokers_are_found() -> None:
    assert isinstance(sync.discover(timeout_s=0.01, mdns=False), list)


def test_ctrl_c_ends_a_program_that_waits(broker_url: str) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM.format(url=broker_url)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=WAIT_S)
    assert out == b""
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith(b"KeyboardInterrupt")


def test_requests_are_asked_and_served(table_url: str) -> None:
    def shout(request: slipring.ThreadRequest) -> str:
        if request.text == "bad":
            raise ValueError("no such thing")
        request.part("listening")
        return request.text.upper()

    with (
        sync.connect(table_url) as asker,
        sync.connect(table_url) as bus,
        bus.serve("sync-requests/#", shout, concurrency=2) as service,
    ):
        assert asker.request("sync-requests/a", "hello", timeout_s=WAIT_S).text == "HELLO"
        found = [(one.text, one.is_part) for one in asker.ask_parts("sync-requests/a", "a")]
        assert found == [("listening", True), ("A", False)]
        with pytest.raises(slipring.ServiceFailed, match="no such thing"):
            asker.request("sync-requests/a", "bad")
        ends = asker.request_many([("sync-requests/a", "x"), ("sync-requests/a", "bad")])
        assert ends[0] == slipring.Answer(b"X")
        assert isinstance(ends[1], slipring.ServiceFailed)
        assert service.running == 0
        with ThreadPoolExecutor(4) as pool:
            asked = pool.map(lambda number: asker.request("sync-requests/a", number), range(50))
            assert [int(answer.text) for answer in asked] == list(range(50))


def test_a_reader_of_parts_that_is_collected_in_the_loops_thread_stops_nobody(
    table_url: str,
) -> None:
    def solve(request: slipring.ThreadRequest) -> None:
        request.part("one")
        while request.ended_as is None:
            ended.wait(0.01)
        ended.set()

    ended = threading.Event()
    with (
        sync.connect(table_url) as asker,
        sync.connect(table_url) as bus,
        bus.serve("sync-collected/#", solve),
    ):
        parts = cast("Generator[slipring.Answer]", asker.ask_parts("sync-collected/a"))
        assert next(parts).text == "one"
        loop_of(os.getpid()).call_soon_threadsafe(parts.close)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(bus.ping).result(WAIT_S) > 0
        assert ended.wait(WAIT_S), "the request is cancelled"


ASKING = """
from slipring import sync
with sync.connect({url!r}) as bus:
    bus.request("sync-interrupted/a", timeout_s=600)
"""


def test_ctrl_c_cancels_the_request(table_url: str) -> None:
    started, ended = threading.Event(), threading.Event()

    def solve(request: slipring.ThreadRequest) -> None:
        started.set()
        while request.ended_as is None and not ended.wait(0.01):
            pass
        ended.set()

    with sync.connect(table_url) as bus, bus.serve("sync-interrupted/#", solve):
        command = [sys.executable, "-W", "error", "-c", ASKING.format(url=table_url)]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            assert started.wait(WAIT_S)
            process.send_signal(signal.SIGINT)
            assert ended.wait(WAIT_S)
            _, errors = process.communicate(timeout=WAIT_S)
    assert errors.rstrip().endswith(b"KeyboardInterrupt")
