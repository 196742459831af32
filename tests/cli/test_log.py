"""Lines of the log: when it happened, and nothing a client could forge."""

import json
import logging
import os
import signal
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from paho.mqtt import publish

from slipring.cli.log import TIME, JsonFormatter, LineFormatter
from slipring.cli.stderr_lines import CHARACTERS_MAX, StderrLines
from slipring.control.events import EventEntry
from tests.console_answer import answer
from tests.raw_mqtt import RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

KEYS = ["time", "level", "event", "room", "client", "topic", "request", "detail", "message"]
HOSTILE = "a\x1b[2J\nERROR b\u2028c"


def record(message: str, **known: object) -> logging.LogRecord:
    return logging.makeLogRecord({"levelname": "INFO", "msg": message, "created": 0.25, **known})


def line(message: str, **known: int) -> str:
    formatter = LineFormatter("%(asctime)s %(levelname)s %(message)s", TIME)
    return formatter.format(record(message, **known))


def test_an_event_is_logged_with_its_own_time() -> None:
    told = line("gripen connected", at_ns=1_794_789_234_131_563_098)
    assert told == "2026-11-16T00:33:54.131Z INFO gripen connected"


def test_anything_else_is_logged_when_it_is_told() -> None:
    assert line("journal: 0 messages kept") == (
        "1970-01-01T00:00:00.250Z INFO journal: 0 messages kept"
    )


def test_control_characters_are_shown_by_their_code() -> None:
    assert line("a\x1b[2J\nERROR b").endswith("INFO a\\x1b[2J\\nERROR b")


def test_a_line_for_programs_has_the_event_in_its_parts() -> None:
    entry = EventEntry(1, 0, "info", "connected", f"{HOSTILE} connected from x", HOSTILE, "from x")
    text = JsonFormatter().format(record(entry.text, at_ns=0, entry=entry))
    assert text.isascii()
    assert len(text.splitlines()) == 1
    assert json.loads(text) == {
        "time": "1970-01-01T00:00:00.000Z",
        "level": "info",
        "event": "connected",
        "room": "connections",
        "client": HOSTILE,
        "topic": None,
        "request": None,
        "detail": "from x",
        "message": f"{HOSTILE} connected from x",
    }


def test_an_exception_stays_in_its_line() -> None:
    error = RuntimeError("two\nlines")
    text = JsonFormatter().format(record("broken", exc_info=(RuntimeError, error, None)))
    assert len(text.splitlines()) == 1
    assert "RuntimeError: two\nlines" in json.loads(text)["exception"]


def log_of(tmp_path: Path, config: str, *client_ids: str) -> list[dict[str, Any]]:
    """What a broker logs as JSON while these clients come, subscribe and go, all at once."""
    file = tmp_path / "broker.toml"
    file.write_text(f"[log]\nformat = 'json'\n{config}")
    running = RunningBroker.start(tmp_path / "data", "--config", str(file), "--console", "off")
    peers = [RawPeer(running.host, running.port) for _ in client_ids]
    running.process.send_signal(signal.SIGSTOP)  # so that it finds all of them at once
    for peer, client_id in zip(peers, client_ids, strict=True):
        peer.send(peer.version.connect(client_id), peer.version.subscribe(1, "t"))
    running.process.send_signal(signal.SIGCONT)
    for peer in peers:
        peer.packet()
        peer.packet()
        peer.close()
    code, errors = running.stop()
    assert code == 0
    return [json.loads(row) for row in errors.splitlines()]


def test_every_line_of_a_broker_is_json_if_it_is_told_so(tmp_path: Path) -> None:
    rows = log_of(tmp_path, "", HOSTILE)
    assert all(list(row) == KEYS for row in rows)
    assert [row["event"] for row in rows if row["client"] == HOSTILE] == [
        "connected",
        "disconnected",
    ]


@pytest.mark.parametrize(("level", "kinds"), [("debug", 1), ("info", 0)])
def test_subscriptions_are_told_to_who_debugs(tmp_path: Path, level: str, kinds: int) -> None:
    rows = log_of(tmp_path, f"level = '{level}'\n", "gripen")
    assert sum(row["event"] == "subscribed" for row in rows) == kinds


def test_a_burst_of_clients_is_few_lines_and_no_client_is_left_out_of_the_sum(
    tmp_path: Path,
) -> None:
    count = 600
    rows = log_of(tmp_path, "", *(f"client-{number}" for number in range(count)))
    came = [row for row in rows if row["event"] == "connected"]
    sums = [int(row["message"].split()[0].replace(",", "")) for row in came if not row["client"]]
    assert sums, "a burst of 600 is too much to be told one by one"
    assert len(came) - len(sums) + sum(sums) == count


def test_a_client_cannot_write_lines_of_its_own_into_the_log(broker: RunningBroker) -> None:
    publish.single(
        "t", "x", hostname=broker.host, port=broker.port, client_id="a\x1b[2J\nERROR all is lost"
    )
    _, errors = broker.stop()
    assert "a\\x1b[2J\\nERROR all is lost connected" in errors
    assert "\x1b" not in errors
    assert not any(line.startswith("ERROR") for line in errors.splitlines())


def test_a_log_that_nobody_reads_delays_nobody(tmp_path: Path) -> None:
    """T10: a full pipe keeps neither clients nor the console waiting."""
    file = tmp_path / "broker.toml"
    file.write_text("[log]\nburst = 1000\n")
    broker = RunningBroker.start(tmp_path / "data", "--config", str(file))
    for at in range(1_000):  # two lines each; a pipe holds 64 kB
        with RawPeer(broker.host, broker.port) as peer:
            peer.send(peer.version.connect(f"{at} {'n' * 100}"))
            assert peer.packet().reason == 0
    code, text = answer(f"{broker.console}/metrics")
    assert (code, "slipring_clients" in text) == (200, True)
    code, errors = broker.stop()
    assert code == 0
    assert len(errors) > 100_000


def test_lines_that_nobody_reads_are_lost_and_counted() -> None:
    reading, writing = os.pipe()
    lines = StderrLines(writing)
    lines.setFormatter(JsonFormatter())
    text = "x" * 100_000
    sent = 3 * CHARACTERS_MAX // len(text)
    for at in range(sent):
        lines.emit(record(f"{at} {text}"))
    read: list[str] = []
    with os.fdopen(reading) as stream:
        reader = Thread(target=lambda: read.extend(stream))
        reader.start()
        lines.close()
        lines.thread.join(PATIENCE_S)
        os.close(writing)
        reader.join(PATIENCE_S)
    at = lost = 0
    for line in read:
        told = json.loads(line)["message"]
        if "are missing here" in told:
            gap = int(told.split()[0].replace(",", ""))
            at, lost = at + gap, lost + gap
        else:
            assert int(told.split()[0]) == at
            at += 1
    assert at == sent
    # Two loads are kept at most: one waits, and one is being written.
    assert lost >= sent - 2 * (CHARACTERS_MAX // len(text) + 1)
