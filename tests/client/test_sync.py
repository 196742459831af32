"""The client without asyncio: the same calls, which wait."""

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import slipring
from slipring import Parameter, sync

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
