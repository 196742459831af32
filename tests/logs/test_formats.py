"""Lines of the log as each kind of server has them: decoded by the rules of its format."""

import logging
import zlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from slipring.control.events import EventEntry
from slipring.logs.gelf import CHUNKS_MAX, DATAGRAM_BYTES, gelf_datagrams, gelf_frame, gelf_message
from slipring.logs.line import TEXT_CHARACTERS_MAX, LogLine, LogSource
from slipring.logs.otlp import otlp_rejected, otlp_request
from slipring.logs.syslog import syslog_frame, syslog_message
from tests.logs.receivers import Chunks, read_gelf, read_syslog

AT_NS = 1_794_789_234_131_563_098
SOURCE = LogSource("test bench 7", "host.example", 42)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
"""Without halves of surrogate pairs, which no client can send."""


def a_line(**fields: str | None) -> LogLine:
    line = LogLine(AT_NS, logging.WARNING, "gripen got a failure", "request failed", "requests")
    return replace(line, **fields)  # type: ignore[arg-type]


LINES = st.builds(a_line, client=TEXT, topic=TEXT, request=st.none() | TEXT, detail=TEXT)


def named(line: LogLine) -> dict[str, str]:
    return dict(line.fields)


@given(LINES)
def test_gelf_has_every_field_as_it_was(line: LogLine) -> None:
    found = read_gelf(gelf_message(line, SOURCE))
    assert found.fields == {"broker": "test bench 7", "process": 42, **named(line)}
    assert (found.text, found.severity) == ("gripen got a failure", 4)
    assert found.raw["timestamp"] == pytest.approx(1_794_789_234.131563)


@given(LINES)
def test_syslog_has_every_field_and_nothing_that_ends_a_line(line: LogLine) -> None:
    message = syslog_message(line, SOURCE)
    found = read_syslog(message)
    assert set(found.fields) == {"broker", *named(line)}
    for name, value in named(line).items():
        if value.isprintable():
            assert found.fields[name] == value
    assert not any(byte < 0x20 or byte == 0x7F for byte in message)
    assert found.raw["pri"] == b"28", "a daemon's warning"
    assert found.raw["id"] == b"request-failed"
    assert found.raw["time"] == b"2026-11-16T00:33:54.131563Z"


@given(LINES)
def test_opentelemetry_has_every_field_as_it_was(line: LogLine) -> None:
    request = ExportLogsServiceRequest.FromString(otlp_request([line, line], SOURCE))
    records = request.resource_logs[0].scope_logs[0].log_records
    assert len(records) == 2
    found = {one.key: one.value.string_value for one in records[0].attributes}
    assert found == {f"slipring.{name}": value for name, value in named(line).items()}
    assert (records[0].time_unix_nano, records[0].severity_number) == (line.at_ns, 13)
    assert records[0].event_name == "slipring.request failed"
    resource = request.resource_logs[0].resource.attributes
    assert {one.key: one.value.string_value for one in resource} == {
        "service.name": "slipring",
        "service.instance.id": "test bench 7",
        "host.name": "host.example",
    }


def test_a_stream_says_where_a_message_ends() -> None:
    assert gelf_frame(b"{}") == b"{}\0"
    assert syslog_frame(b"<28>1 ...") == b"9 <28>1 ..."


def test_a_long_line_goes_in_chunks_in_any_order() -> None:
    noise = "".join(chr(0x4E00 + (at * 7919) % 20_000) for at in range(4_000))
    message = gelf_message(a_line(detail=noise), SOURCE)
    datagrams = gelf_datagrams(message)
    assert len(datagrams) > 2
    assert max(map(len, datagrams)) <= DATAGRAM_BYTES
    chunks = Chunks()
    whole = [chunks.add(datagram) for datagram in reversed(datagrams)]
    assert whole[:-1] == [None] * (len(datagrams) - 1)
    assert whole[-1] == message
    assert gelf_datagrams(b"{}") == [zlib.compress(b"{}")]


def test_the_longest_line_has_room_in_chunks() -> None:
    text = "\U0001f600" * TEXT_CHARACTERS_MAX  # four bytes each, as a control character when shown
    fields = dict.fromkeys(("client", "topic", "request", "detail"), "\1" * 1_027)
    line = LogLine(0, 30, text, exception=text, **fields)
    assert len(gelf_datagrams(gelf_message(line, SOURCE))) <= CHUNKS_MAX
    assert len(syslog_message(line, SOURCE)) < 65_507, "and in one datagram of UDP"


def record(message: str, level: int = logging.INFO, **known: object) -> logging.LogRecord:
    levelname = logging.getLevelName(level)
    return logging.makeLogRecord(
        {"levelno": level, "levelname": levelname, "msg": message, "created": 0.25, **known}
    )


def test_a_line_has_the_fields_of_its_event() -> None:
    entry = EventEntry(1, 7, "info", "subscribed", "c subscribed a/#", "c", "", topic="a/#")
    line = LogLine.of(record(entry.text, at_ns=7, entry=entry))
    assert (line.at_ns, line.text) == (7, "c subscribed a/#")
    assert named(line) == {
        "event": "subscribed",
        "room": "subscriptions",
        "client": "c",
        "topic": "a/#",
    }


def test_a_line_that_is_no_event_is_the_brokers() -> None:
    error = RuntimeError("two\nlines")
    line = LogLine.of(record("broken", logging.ERROR, exc_info=(RuntimeError, error, None)))
    assert (line.at_ns, named(line)) == (250_000_000, {"room": "broker"})
    assert read_gelf(gelf_message(line, SOURCE)).raw["full_message"].endswith("two\nlines")
    assert "two#012lines" in read_syslog(syslog_message(line, SOURCE)).text


@pytest.mark.parametrize(
    ("level", "severity"), [(10, 7), (20, 6), (30, 4), (40, 3), (50, 2), (35, 3), (5, 7)]
)
def test_levels_are_those_of_syslog(level: int, severity: int) -> None:
    line = LogLine.of(record("x", level))
    assert read_gelf(gelf_message(line, SOURCE)).severity == severity
    assert read_syslog(syslog_message(line, SOURCE)).severity == severity


def test_an_empty_answer_of_a_collector_refuses_nothing() -> None:
    assert otlp_rejected(b"") == 0
