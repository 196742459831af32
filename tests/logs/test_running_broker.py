"""Log servers and levels of a running broker: set by the file, by a command and by the console."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest

from slipring.control.event_kinds import ROOMS
from slipring.control.log_section import LogSection
from tests.configured_broker import Configured, ConfiguredBroker
from tests.console_answer import overview
from tests.logs.receivers import Received, collector, datagram_server, stream_server
from tests.metrics import Metrics
from tests.raw_mqtt import V5
from tests.running_broker import PATIENCE_S, kept_address

OTLP = {"kind": "otlp", "address": "http://a"}


def server(kind: str, address: str, more: str = "") -> str:
    return f'[[log.server]]\nkind = "{kind}"\naddress = "{address}"\n{more}\n'


def is_about(event: str, client: str) -> Any:
    def is_it(line: Received) -> bool:
        return (line.fields.get("event"), line.fields.get("client")) == (event, client)

    return is_it


def slipring(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slipring", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_every_server_gets_the_log_with_its_fields(configured: Configured) -> None:
    with datagram_server("gelf") as gelf, stream_server("syslog") as syslog, collector() as otlp:
        broker = configured(
            server("gelf", gelf.address)
            + server("syslog", syslog.address, 'level = "warning"')
            + server("otlp", otlp.address)
        )
        with broker.peer("gripen") as gripen:
            gripen.send(V5.publish("$SYS/x", b"", qos=1, packet_id=1))
            gripen.packet()
        for receiver in (gelf, syslog, otlp):
            found = receiver.until(is_about("unauthorized", "gripen"))
            assert (found.fields["topic"], found.fields["room"]) == ("$SYS/x", "access")
        for receiver in (gelf, otlp):
            receiver.until(is_about("connected", "gripen"))
        assert not any(is_about("connected", "gripen")(line) for line in syslog.seen), "its level"
        rows = {one["server"]: one for one in overview(broker.running)["log"]["servers"]}
        assert rows[f"gelf {gelf.address}"]["sent"] >= 2
        assert all(row["lost"] == 0 and not row["is_failing"] for row in rows.values())
        name = f'slipring_log_server_sent_total{{server="otlp {otlp.address}"}}'
        Metrics.when(broker.running, name, 2)


def test_a_level_is_set_by_a_command_while_the_broker_runs(configured: Configured) -> None:
    broker = configured("")
    with broker.peer("gripen") as gripen:
        gripen.send(V5.publish("quiet", b""))
        gripen.settle()
        shown = slipring("log", "messages", "debug", "--console", broker.console)
        assert shown.returncode == 0, shown.stderr
        assert "messages       debug" in shown.stdout.splitlines()
        broker.line("the level of messages is debug now")
        gripen.send(V5.publish("loud", b"abc"))
        assert "gripen published loud: QoS 0, 3 bytes" in broker.line("gripen published")
        assert slipring("log", "all", "warning", "--console", broker.console).returncode == 0
        gripen.settle()
        levels = {one["room"]: one["level"] for one in overview(broker.running)["log"]["rooms"]}
        assert levels == dict.fromkeys(ROOMS, "warning")
        gripen.send(V5.publish("quiet", b""))
        gripen.settle()
        broker.reload("[log]\nrooms.messages = 'debug'\n")
        broker.line("config: log.rooms: messages is 'debug' now, was 'default'")
        gripen.send(V5.publish("loud/again", b"abc"))
        assert "gripen published loud/again" in broker.line("gripen published"), "none was quiet"


def test_a_change_with_a_mistake_changes_nothing(configured: Configured) -> None:
    broker = configured("")
    for body, why in (
        (b"{", "send JSON"),
        (b"[]", "send JSON"),
        (b'{"room": "access"}', "send JSON"),
        (b"[" * 100_000, "send JSON"),
        (b'{"room": "mood", "level": "info"}', "no room 'mood'"),
        (b'{"room": "access", "level": "bad"}', "'bad' is no level"),
    ):
        request = urllib.request.Request(f"{broker.console}/api/log", body)
        request.add_header("content-type", "application/json")
        with pytest.raises(urllib.error.HTTPError, match="400") as refused:
            urllib.request.urlopen(request, timeout=PATIENCE_S)
        assert why in refused.value.read().decode()
    command = slipring("log", "mood", "info", "--console", broker.console)
    assert (command.returncode, "no room 'mood'" in command.stderr) == (1, True)
    broker.reload(server("gelf", "http://graylog:12201"))
    assert "is no address for gelf" in broker.line("nothing is changed")
    with urllib.request.urlopen(f"{broker.console}/api/log", timeout=PATIENCE_S) as answer:
        assert {one["level"] for one in json.load(answer)["rooms"]} == {"info"}


def test_the_file_adds_and_removes_servers_while_the_broker_runs(configured: Configured) -> None:
    with stream_server("gelf") as first, stream_server("gelf") as second:
        broker = configured(server("gelf", first.address))
        broker.peer("one").close()
        first.until(is_about("connected", "one"))
        broker.reload(server("gelf", second.address))
        assert first.address in broker.line("config: log.server")
        broker.peer("two").close()
        second.until(is_about("connected", "two"))
        first.texts()
        assert not any(line.fields.get("client") == "two" for line in first.seen)
        broker.reload(server("gelf", second.address) + "[log.rooms]\naccess = 'error'\n")
        broker.line("config: log.rooms: access")
        broker.peer("three").close()
        second.until(is_about("connected", "three"))
        assert len(second.connections) == 1, "a server that stays keeps its connection"


def test_servers_that_are_away_or_never_read_slow_nobody_and_are_told(
    configured: Configured,
) -> None:
    with kept_address() as away, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        broker = configured(
            server("gelf", f"tcp://{away}")
            + server("gelf", f"tcp://127.0.0.1:{silent.getsockname()[1]}")
            + "[log]\nburst = 1000\n[log.rooms]\nmessages = 'debug'\n"
        )
        broker.line(f"log server gelf tcp://{away}")
        flood(broker, 5_000)
        rows = overview(broker.running)["log"]["servers"]
        assert rows[0]["is_failing"]
        assert rows[0]["sent"] == 0
        assert all(0 < row["waiting"] + row["sent"] <= 10_000 + row["sent"] for row in rows)
        with stream_server("gelf", port=int(away.rpartition(":")[2])) as back:
            back.until(is_about("connected", "flood"))
            broker.line(f"log server gelf tcp://{away} is back")


def flood(broker: ConfiguredBroker, count: int) -> None:
    """Publish messages, and wait until all are acknowledged."""
    with broker.peer("flood") as publisher:
        for number in range(count):
            publisher.send(V5.publish("t", b"x", qos=1, packet_id=1 + number % 60_000))
        for _ in range(count):
            publisher.packet()


def test_more_messages_than_lines_are_summed_up(configured: Configured) -> None:
    broker = configured("[log]\nburst = 3\n[log.rooms]\nmessages = 'debug'\n")
    flood(broker, 500)
    told = summed = 0
    while told + summed < 500:
        line = broker.line("")
        if "flood published t" in line:
            told += 1
        elif "more messages were received" in line:
            summed += int(line.split()[2].replace(",", ""))
    assert told + summed == 500, "the broker's own messages are not among them"
    assert summed > 0


def test_mistakes_in_the_file_are_named() -> None:
    twice = {"kind": "gelf", "address": "udp://a:1"}
    for wrong, why in (
        ({"server": [twice, twice]}, "there twice"),
        ({"server": [{**twice, "headers": {"a": "b"}}]}, "has no headers"),
        ({"server": [{**OTLP, "headers": {"a": "b\1"}}]}, "printable"),
        ({"rooms": {"mood": "info"}}, "mood"),
    ):
        with pytest.raises(ValueError, match=why):
            LogSection.model_validate(wrong)
