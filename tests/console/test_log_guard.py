"""The web server's log lines are kept, but a peer cannot flood the log with them."""

import asyncio
import inspect
import logging

import uvicorn

from slipring.console.log_guard import CUT_AT_THE_END, KINDS_MAX, LINES_MAX, PERIOD_S, LogGuard


def record(text: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("uvicorn.error", logging.ERROR, "", 0, text, arguments, None)


def test_a_malformed_request_is_counted_and_not_told() -> None:
    guard = LogGuard()
    for _ in range(1000):
        assert not guard.filter(record("Invalid HTTP request received."))
    assert guard.malformed == 1000


def test_the_same_line_is_told_a_few_times_and_then_as_a_sum() -> None:
    now_s = 100.0
    guard = LogGuard(lambda: now_s)
    told = [guard.filter(record("cannot accept: %s", "no room")) for _ in range(1000)]
    assert told.count(True) == LINES_MAX
    assert guard.filter(record("something else"))
    now_s += PERIOD_S
    later = record("cannot accept: %s", "no room")
    assert guard.filter(later)
    assert later.getMessage() == (f"cannot accept: no room (and {1000 - LINES_MAX} more like it)")


def test_lines_that_are_all_different_are_bounded_too() -> None:
    guard = LogGuard(lambda: 1.0)
    told = [guard.filter(record(f"line {number}")) for number in range(10_000)]
    assert told.count(True) <= KINDS_MAX + LINES_MAX


def test_answers_that_the_end_cuts_are_no_faults() -> None:
    guard, cut = LogGuard(), record("Exception in ASGI application\n")
    cancelled = asyncio.CancelledError("Task cancelled, timeout graceful shutdown exceeded")
    cut.exc_info = (asyncio.CancelledError, cancelled, None)
    assert not guard.filter(cut)
    assert not guard.filter(record(CUT_AT_THE_END, 60))
    assert CUT_AT_THE_END in inspect.getsource(uvicorn.Server), "the web server words it otherwise"
    cut.exc_info = (ValueError, ValueError("ours"), None)
    assert guard.filter(cut)
