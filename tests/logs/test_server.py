"""A log server that is away, slow, silent or back: nobody waits, and what is lost is counted."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from slipring.errors import ConfigError
from slipring.logs import server as log_server
from slipring.logs.address import LogServerKind, ServerAddress
from slipring.logs.line import LogLine, LogSource
from slipring.logs.server import LINES_BYTES_MAX, LINES_MAX, LogServer, LogServerFigures
from slipring.logs.sinks import make_sink
from tests.logs.receivers import (
    PATIENCE_S,
    Receiver,
    collector,
    datagram_server,
    stream_server,
)
from tests.running_broker import kept_address

SOURCE = LogSource("broker", "host", 1)


def record(text: str) -> logging.LogRecord:
    known = {"levelno": 20, "levelname": "INFO", "msg": "%s", "args": (text,), "name": "a"}
    return logging.makeLogRecord(known)


def started(kind: LogServerKind, address: str) -> LogServer:
    return LogServer(f"{kind} {address}", make_sink(kind, address, {}, SOURCE))


def await_figures(server: LogServer, is_so: Callable[[LogServerFigures], bool]) -> None:
    """Wait until its figures are like this."""
    with server._changed:
        assert server._changed.wait_for(lambda: is_so(server.figures()), PATIENCE_S)


def test_each_kind_of_server_gets_every_line_in_order(tmp_path: Path) -> None:
    with (
        datagram_server("gelf") as gelf_udp,
        stream_server("gelf") as gelf_tcp,
        datagram_server("syslog") as syslog_udp,
        stream_server("syslog") as syslog_tcp,
        datagram_server("syslog", tmp_path / "datagrams") as syslog_unix,
        stream_server("syslog", path=tmp_path / "stream") as syslog_stream,
        collector() as otlp,
    ):
        kinds: list[tuple[LogServerKind, Receiver]] = [
            ("gelf", gelf_udp),
            ("gelf", gelf_tcp),
            ("syslog", syslog_udp),
            ("syslog", syslog_tcp),
            ("syslog", syslog_unix),
            ("syslog", syslog_stream),
            ("otlp", otlp),
        ]
        for kind, receiver in kinds:
            server = started(kind, receiver.address)
            texts = [f"line {number} ä" for number in range(100)]
            for text in texts:
                server.emit(record(text))
            receiver.until(lambda line: line.text == "line 99 ä")
            assert receiver.texts() == texts, receiver.address
            server.end()
            server.join()
            figures = server.figures()
            assert (figures.sent, figures.lost, figures.waiting) == (100, 0, 0)
            assert figures.failure is None


def test_a_server_that_is_away_gets_what_waits_when_it_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with kept_address() as address:
        port = int(address.rpartition(":")[2])
        server = started("gelf", f"tcp://{address}")
        for number in range(LINES_MAX + 5):
            server.emit(record(f"line {number}"))
        await_figures(server, lambda now: now.failure is not None)
        assert server.figures().lost == 5, "the oldest make room"
        with stream_server("gelf", port=port) as receiver:
            receiver.until(lambda line: line.text == f"line {LINES_MAX + 4}")
            assert receiver.texts()[0] == "line 5"
            await_figures(server, lambda now: now.failure is None)
            server.end()
            server.join()
    figures = server.figures()
    assert (figures.sent, figures.lost) == (LINES_MAX, 5)
    told = [one.getMessage() for one in caplog.records]
    assert f"{LINES_MAX:,} lines wait for it at most" in told[0]
    assert told[1:] == [f"log server gelf tcp://{address} is back; 5 lines were lost"]


def test_a_server_that_ends_and_starts_again_gets_the_rest() -> None:
    with kept_address() as address:
        port = int(address.rpartition(":")[2])
        server = started("syslog", f"tcp://{address}")
        with stream_server("syslog", port=port) as first:
            server.emit(record("before"))
            first.until(lambda line: line.text == "before")
            first.disconnect()
        server.emit(record("meanwhile"))
        with stream_server("syslog", port=port) as second:
            server.emit(record("after"))
            second.until(lambda line: line.text == "after")
            assert second.texts() == ["meanwhile", "after"]
        server.end()
        server.join()


def test_a_server_that_never_reads_holds_a_bounded_number_of_lines_and_nobody_up() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = started("gelf", f"tcp://127.0.0.1:{listening.getsockname()[1]}")
        text = "x" * 4_000
        count = 4 * LINES_MAX
        for _ in range(count):
            server.emit(record(text))
        figures = server.figures()
        held_bytes = sum(line.bytes for line in server._waiting)
        assert held_bytes <= LINES_BYTES_MAX
        assert figures.waiting <= LINES_MAX
        assert figures.lost > 0
        server.end()
        server.join()
        listening.close()
    server._thread.join(PATIENCE_S)
    figures = server.figures()
    assert figures.sent + figures.lost == count, "every line is counted, as sent or as lost"


def test_nobody_listens_at_a_port_of_udp(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.bind(("127.0.0.1", 0))
        address = f"udp://127.0.0.1:{opened.getsockname()[1]}"
    server = started("gelf", address)
    server.emit(record("first"))  # whether it arrives is not known
    await_figures(server, lambda now: now.sent == 1)
    server.emit(record("second"))
    await_figures(server, lambda now: now.failure is not None)
    figures = server.figures()
    assert (figures.sent, figures.lost, figures.waiting) == (0, 1, 1)
    server.end()
    server.join()
    assert len([one for one in caplog.records if "wait for it" in one.getMessage()]) == 1


class Slow:
    """A way to a server that takes a line only when the test lets it."""

    lines_max = 1
    refuses_late = False

    def __init__(self) -> None:
        self.turns = threading.Semaphore(0)
        self.taken: list[str] = []

    def send(self, lines: Sequence[LogLine]) -> int:
        self.turns.acquire()
        self.taken += [line.text for line in lines]
        return 0

    def close(self) -> None:
        return


@pytest.fixture
def few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_server, "LINES_MAX", 3)
    monkeypatch.setattr(log_server, "LAST_S", 0.2)


@pytest.mark.usefixtures("few_lines")
def test_losses_at_a_slow_server_are_told(caplog: pytest.LogCaptureFixture) -> None:
    slow = Slow()
    server = LogServer("slow", slow)
    server.emit(record("0"))
    await_figures(server, lambda now: now.waiting == 0)
    for number in range(1, 6):
        server.emit(record(str(number)))
    assert server.figures().lost == 2, "of five, three wait"
    for _ in range(4):
        slow.turns.release()
    await_figures(server, lambda now: now.sent == 4)
    assert slow.taken == ["0", "3", "4", "5"]
    server.end()
    server._thread.join(PATIENCE_S)
    told = [one.getMessage() for one in caplog.records]
    assert told == ["log server slow lost 2 lines: it is too slow"]


@pytest.mark.usefixtures("few_lines")
def test_the_end_does_not_wait_for_a_server_that_hangs() -> None:
    server = LogServer("slow", Slow())
    for number in range(3):
        server.emit(record(str(number)))
    begun_s = time.monotonic()
    server.end()
    server.join()
    assert time.monotonic() - begun_s < PATIENCE_S, "it would hang for ever"


def test_a_collector_that_is_overloaded_is_asked_again() -> None:
    with collector() as otlp:
        otlp.status = 503
        server = started("otlp", otlp.address)
        server.emit(record("patience"))
        await_figures(server, lambda now: now.failure is not None)
        assert "503" in (server.figures().failure or "")
        otlp.status = 200
        otlp.until(lambda line: line.text == "patience")
        await_figures(server, lambda now: now.sent == 1)
        assert server.figures().lost == 0
        server.end()
        server.join()


def test_what_a_collector_refuses_is_counted_and_not_sent_again() -> None:
    with collector() as otlp:
        otlp.status = 400
        server = started("otlp", otlp.address)
        server.emit(record("wrong"))
        await_figures(server, lambda now: now.lost == 1 and now.failure is not None)
        assert "it answers 400 Bad Request to /v1/logs" in (server.figures().failure or "")
        otlp.status, otlp.rejected = 200, 1
        server.emit(record("rejected"))
        await_figures(server, lambda now: now.lost == 2)
        server.end()
        server.join()
        assert (server.figures().sent, len(otlp.requests)) == (0, 2)


class BrokenSink:
    """Fails in a way that nobody thought of."""

    lines_max = 1
    refuses_late = False

    def send(self, lines: Sequence[LogLine]) -> int:
        raise UnicodeError(f"cannot encode {len(lines)} lines")

    def close(self) -> None:
        pass


def test_a_failure_that_nobody_thought_of_is_told_once_and_waited_after(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is told about a server goes to that server too: it must not feed itself."""
    monkeypatch.setattr(log_server, "RETRY_S", (10 * PATIENCE_S, 10 * PATIENCE_S))
    server = LogServer("broken", BrokenSink())
    logging.getLogger().addHandler(server)
    try:
        server.emit(record("first"))
        await_figures(server, lambda now: now.failure is not None and now.waiting == 1)
        figures = server.figures()
        assert (figures.lost, figures.failure) == (1, "cannot encode 1 lines")
    finally:
        logging.getLogger().removeHandler(server)
        server.end()
        server.join()
    assert caplog.text.count("its lines are lost") == 1


def test_every_address_of_a_servers_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    with stream_server("syslog") as stream, datagram_server("syslog") as datagrams:
        for receiver in (stream, datagrams):
            port = ServerAddress.parse(receiver.address).port
            kind = socket.SOCK_STREAM if receiver is stream else socket.SOCK_DGRAM
            found = [
                (socket.AF_INET, kind, 0, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")
            ]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found, **__: found)
            server = started("syslog", receiver.address)
            for number in range(3):
                server.emit(record(f"line {number}"))
            receiver.until(lambda line: line.text == "line 2")
            server.end()
            server.join()


def test_a_collector_gets_the_headers_of_the_configuration() -> None:
    with collector() as otlp:
        sink = make_sink("otlp", f"{otlp.address}/tenant/7", {"Authorization": "Bearer t"}, SOURCE)
        assert sink.send([LogLine(0, 20, "x")]) == 0
        sink.close()
        assert otlp.requests[0]["path"] == "/tenant/7/v1/logs"
        assert otlp.requests[0]["Authorization"] == "Bearer t"
        assert otlp.requests[0]["content-type"] == "application/x-protobuf"


def test_without_the_library_the_configuration_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "slipring.logs.otlp", None)
    with pytest.raises(ConfigError, match=r"pip install slipring\[otlp\]"):
        make_sink("otlp", "http://127.0.0.1:4318", {}, SOURCE)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("graylog:12201", "does not begin with"),
        ("udp://graylog", "no port"),
        ("udp://:12201", "no host"),
        ("unix://host/path", "no path"),
        ("tcp://host:1/path", "has a path"),
        ("http://user:secret@host", "more than"),
        ("udp://host:99999", "range"),
        ("udp://graylog..example:12201", "host name"),
    ],
)
def test_an_address_with_a_mistake_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ServerAddress.parse(text)
