"""The console's listener with fake connections: which are too slow, and which make room."""

import asyncio
import socket
from typing import cast

import pytest

from slipring.console.eviction import ConnectionUse, Stage
from slipring.console.listener import (
    STUCK_S,
    TELL_S,
    UNSENT_BYTES_MAX,
    WAIT_S,
    ConsoleConnection,
    ConsoleListener,
)


class FakeTransport:
    """Notes that it was ended; a test says what waits to be read."""

    def __init__(self) -> None:
        self.unsent_bytes = 0
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.unsent_bytes

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


@pytest.fixture
def listener() -> ConsoleListener:
    return ConsoleListener(cast("socket.socket", None), asyncio.Protocol, connections_max=4)


def enter(
    listener: ConsoleListener, port: int, address: str = "a", now_s: float = 0.0
) -> FakeTransport:
    transport = FakeTransport()
    connection = ConsoleConnection(
        ConnectionUse(address, now_s), now_s, cast("asyncio.Transport", transport)
    )
    listener.connections[address, port] = connection
    return transport


def test_a_request_has_its_time_to_arrive(listener: ConsoleListener) -> None:
    slow = enter(listener, 1)
    listener.sweep(WAIT_S)
    assert len(listener.connections) == 1
    listener.sweep(WAIT_S + 0.1)
    assert slow.aborted
    assert (listener.turned_away["too_slow"], listener.connections) == (1, {})


def test_an_answer_that_is_being_read_takes_its_time(listener: ConsoleListener) -> None:
    reader = enter(listener, 1)
    for second in range(100):
        reader.unsent_bytes = 1_000_000 - second
        listener.sweep(float(second))
    assert not reader.aborted


def test_an_answer_takes_its_time_to_make(listener: ConsoleListener) -> None:
    waiting = enter(listener, 1)
    with listener.answering(("a", 1)):
        listener.sweep(1e9)
        assert not waiting.aborted
    listener.sweep(1e9)
    assert waiting.aborted


def test_a_reader_that_reads_nothing_is_ended(listener: ConsoleListener) -> None:
    stuck = enter(listener, 1)
    with listener.answering(("a", 1)):
        assert listener.connections["a", 1].use.stage is Stage.ANSWERED
        stuck.unsent_bytes = 1000
        listener.sweep(0.0)
        listener.sweep(STUCK_S)
        assert len(listener.connections) == 1
        listener.sweep(STUCK_S + 1)
        assert stuck.aborted


def test_what_waits_for_one_reader_is_bounded(listener: ConsoleListener) -> None:
    page = enter(listener, 1)
    assert listener.open_page(("a", 1))
    page.unsent_bytes = UNSENT_BYTES_MAX + 1
    listener.sweep(0.1)
    assert page.aborted


def test_a_page_may_stay(listener: ConsoleListener) -> None:
    page = enter(listener, 1)
    assert listener.open_page(("a", 1))
    with listener.answering(("a", 1)):
        pass
    listener.sweep(1e9)
    assert not page.aborted
    assert listener.connections["a", 1].use.stage is Stage.PAGE


def test_pages_leave_room_for_requests_and_for_others(listener: ConsoleListener) -> None:
    first, _ = enter(listener, 1), enter(listener, 2, now_s=1.0)
    enter(listener, 3)
    assert listener.open_page(("a", 1))
    assert listener.open_page(("a", 2))
    assert not listener.open_page(("a", 3))
    assert not listener.open_page(("gone", 9))
    enter(listener, 4, "b")
    assert listener.open_page(("b", 4))
    assert first.aborted
    turned_away = listener.turned_away
    assert (listener.pages, turned_away["no_page"], turned_away["displaced"]) == (2, 1, 1)


def test_a_page_that_has_ended_keeps_nobody_out(listener: ConsoleListener) -> None:
    gone, _ = enter(listener, 1), enter(listener, 2)
    assert listener.open_page(("a", 1))
    assert listener.open_page(("a", 2))
    gone.aborted = True
    enter(listener, 3)
    assert listener.open_page(("a", 3))
    assert (listener.pages, listener.turned_away.total()) == (2, 0)


def test_the_log_has_one_line_in_a_minute(
    listener: ConsoleListener, caplog: pytest.LogCaptureFixture
) -> None:
    for second in range(int(TELL_S) + 1):
        listener.turned_away["no_place"] += 100
        listener.sweep(1000.0 + second)
    assert len(caplog.records) == 2
    assert "100 connections" in caplog.records[0].getMessage()
    assert f"{100 * int(TELL_S)} connections" in caplog.records[1].getMessage()
