"""The door against connections that are only counted: who waits too long, who reads nothing."""

import asyncio
import socket
from typing import cast

import pytest

from slipring.console.door import STUCK_S, TELL_S, UNSENT_BYTES_MAX, WAIT_S, Door, Guest
from slipring.console.visits import Stage, Visit


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
def door() -> Door:
    return Door(cast("socket.socket", None), asyncio.Protocol, guests_max=4)


def enter(door: Door, port: int, address: str = "a", now_s: float = 0.0) -> FakeTransport:
    transport = FakeTransport()
    guest = Guest(Visit(address, now_s), now_s, cast("asyncio.Transport", transport))
    door.guests[address, port] = guest
    return transport


def test_a_request_has_its_time_to_arrive(door: Door) -> None:
    slow = enter(door, 1)
    door.sweep(WAIT_S)
    assert len(door.guests) == 1
    door.sweep(WAIT_S + 0.1)
    assert slow.aborted
    assert (door.counts.late, door.guests) == (1, {})


def test_an_answer_that_is_being_read_takes_its_time(door: Door) -> None:
    reader = enter(door, 1)
    for second in range(100):
        reader.unsent_bytes = 1_000_000 - second
        door.sweep(float(second))
    assert not reader.aborted


def test_an_answer_takes_its_time_to_make(door: Door) -> None:
    waiting = enter(door, 1)
    with door.answering(("a", 1)):
        door.sweep(1e9)
        assert not waiting.aborted
    door.sweep(1e9)
    assert waiting.aborted


def test_a_reader_that_reads_nothing_is_ended(door: Door) -> None:
    stuck = enter(door, 1)
    with door.answering(("a", 1)):
        assert door.guests["a", 1].visit.stage is Stage.ANSWERED
        stuck.unsent_bytes = 1000
        door.sweep(0.0)
        door.sweep(STUCK_S)
        assert len(door.guests) == 1
        door.sweep(STUCK_S + 1)
        assert stuck.aborted


def test_what_waits_for_one_reader_is_bounded(door: Door) -> None:
    page = enter(door, 1)
    assert door.open_page(("a", 1))
    page.unsent_bytes = UNSENT_BYTES_MAX + 1
    door.sweep(0.1)
    assert page.aborted


def test_a_page_may_stay(door: Door) -> None:
    page = enter(door, 1)
    assert door.open_page(("a", 1))
    with door.answering(("a", 1)):
        pass
    door.sweep(1e9)
    assert not page.aborted
    assert door.guests["a", 1].visit.stage is Stage.PAGE


def test_pages_leave_room_for_requests_and_for_others(door: Door) -> None:
    first, _ = enter(door, 1), enter(door, 2, now_s=1.0)
    enter(door, 3)
    assert door.open_page(("a", 1))
    assert door.open_page(("a", 2))
    assert not door.open_page(("a", 3))
    assert not door.open_page(("gone", 9))
    enter(door, 4, "b")
    assert door.open_page(("b", 4))
    assert first.aborted
    assert (door.pages, door.counts.pages_refused, door.counts.displaced) == (2, 1, 1)


def test_a_page_that_has_ended_keeps_nobody_out(door: Door) -> None:
    gone, _ = enter(door, 1), enter(door, 2)
    assert door.open_page(("a", 1))
    assert door.open_page(("a", 2))
    gone.aborted = True
    enter(door, 3)
    assert door.open_page(("a", 3))
    assert (door.pages, door.counts.pages_refused, door.counts.displaced) == (2, 0, 0)


def test_the_log_has_one_line_in_a_minute(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    for second in range(int(TELL_S) + 1):
        door.counts.refused += 100
        door.sweep(1000.0 + second)
    assert len(caplog.records) == 2
    assert "100 connections" in caplog.records[0].getMessage()
    assert f"{100 * int(TELL_S)} connections" in caplog.records[1].getMessage()
