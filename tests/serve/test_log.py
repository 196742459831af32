"""Lines of the log: when it happened, and nothing a client could forge."""

import logging

from slipring.cli.serve import TIME, LineFormatter


def line(message: str, **known: int) -> str:
    record = logging.makeLogRecord({"levelname": "INFO", "msg": message, "created": 0.25, **known})
    return LineFormatter("%(asctime)s %(levelname)s %(message)s", TIME).format(record)


def test_an_event_is_logged_with_its_own_time() -> None:
    told = line("gripen connected", at_ns=1_794_789_234_131_563_098)
    assert told == "2026-11-16T00:33:54.131Z INFO gripen connected"


def test_anything_else_is_logged_when_it_is_told() -> None:
    assert line("journal: 0 messages kept") == (
        "1970-01-01T00:00:00.250Z INFO journal: 0 messages kept"
    )


def test_control_characters_are_shown_by_their_code() -> None:
    assert line("a\x1b[2J\nERROR b").endswith("INFO a\\x1b[2J\\nERROR b")
