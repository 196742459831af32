"""A flood at the console: newcomers get the page, MQTT is undisturbed, and the log stays short."""

import base64
import contextlib
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.console_answer import answer
from tests.fairness.bystander import MIB, bystander
from tests.metrics import Metrics
from tests.running_broker import PATIENCE_S, RunningBroker

CROWD = 1_400
LOG_BYTES_MAX = 20_000


@pytest.fixture(autouse=True)
def _descriptors() -> None:
    """The crowd is this process: it needs descriptors of its own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * CROWD:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(2 * CROWD + 100, hard), hard))


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker that may open fewer descriptors than the crowd would like to have."""
    config = tmp_path / "narrow.toml"
    config.write_text("[console]\nconnections = 64\n")
    running = RunningBroker.start(tmp_path / "data", "--config", str(config))
    yield running
    if running.process.poll() is None:
        running.stop()


def connected(broker: RunningBroker) -> socket.socket:
    host, port = broker.console.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), PATIENCE_S)


def crowd(broker: RunningBroker, stack: contextlib.ExitStack, said: bytes) -> None:
    """Many connections that say this and then nothing; some are closed by the console."""
    for _ in range(CROWD):
        one = stack.enter_context(connected(broker))
        with contextlib.suppress(ConnectionError):
            one.sendall(said)


def upgrade() -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        "GET /api/live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    ).encode()


def assert_page(broker: RunningBroker) -> None:
    """A newcomer gets the page, the overview and the probes."""
    for path in ("/", "/api/overview", "/ready", "/live", "/metrics"):
        code, text = answer(broker.console + path)
        assert code == 200, (path, text)


def assert_short_log(broker: RunningBroker) -> None:
    code, log = broker.stop()
    assert code == 0
    assert len(log) < LOG_BYTES_MAX, log[:3000]
    assert "Traceback" not in log, log[:3000]


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: loc", b"\x16\x03\x01\x02\x00"])
def test_half_requests_keep_nobody_out(narrow: RunningBroker, said: bytes) -> None:
    assert_page(narrow)
    with contextlib.ExitStack() as stack, bystander(narrow) as beside:
        crowd(narrow, stack, said)
        assert_page(narrow)
    beside.assert_served()
    assert beside.grown_bytes() < 64 * MIB
    assert_short_log(narrow)


def test_many_pages_leave_room_for_requests(narrow: RunningBroker) -> None:
    assert_page(narrow)
    with contextlib.ExitStack() as stack, bystander(narrow) as beside:
        crowd(narrow, stack, upgrade())
        assert_page(narrow)
        counts = Metrics.of(narrow)
        assert counts["slipring_console_pages"] <= counts["slipring_console_pages_max"] == 32
        assert counts["slipring_console_connections"] <= 64
    beside.assert_served()
    assert beside.grown_bytes() < 128 * MIB
    assert_short_log(narrow)


def test_requests_that_are_never_read_are_ended(narrow: RunningBroker) -> None:
    """Each asks for as much as the socket takes, and reads nothing of it."""
    assert_page(narrow)
    asked = b"GET /api/overview HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500
    with contextlib.ExitStack() as stack, bystander(narrow) as beside:
        for _ in range(100):
            one = stack.enter_context(connected(narrow))
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                one.send(asked)
        assert_page(narrow)
    beside.assert_served()
    assert beside.grown_bytes() < 128 * MIB
    assert_short_log(narrow)


def test_without_descriptors_the_log_stays_short(tmp_path: Path) -> None:
    """The system gives the broker no descriptor for a newcomer: it waits, and says so once."""
    running = RunningBroker.start(tmp_path / "data")
    assert_page(running)
    open_now = len(list(Path(f"/proc/{running.process.pid}/fd").iterdir()))
    resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (open_now + 40, open_now + 40))
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(connected(running)).sendall(b"GET /")
        assert httpx.get(running.console + "/live", timeout=PATIENCE_S).status_code == 200
    assert_short_log(running)
