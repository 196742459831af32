"""`slipring top` in a real terminal, with a real broker."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

import slipring
from slipring import Parameter, sync
from slipring.cli.keyboard import keys_of
from slipring.cli.top_board import Board, Ranking, SortKey
from slipring.cli.top_readings import Readings
from slipring.cli.top_screen import shortened
from slipring.frames import Table
from slipring.model import Entry
from tests.cli.commands import SLIPRING, run
from tests.cli.terminal import Terminal, terminal
from tests.running_broker import RunningBroker, broker_in

MANY = 20_000
BACK, CURSOR = b"\x1b[?1049l", b"\x1b[?25h"


@pytest.fixture(scope="module")
def jet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with 20,000 parameters, some of them with a value."""
    with broker_in(tmp_path_factory.mktemp("jet")) as running:
        with sync.connect(running.url) as bus:
            names = {f"p{number:05}": Parameter("f64", unit="m") for number in range(MANY)}
            many = bus.declare("jet/bus", names)
            many.write({f"p{number:05}": float(number) for number in range(100)})
            many.flush()
        yield running


@asynccontextmanager
async def flying(url: str) -> AsyncIterator[None]:
    """`jet/engine/rpm` with 50 samples a second."""

    async def fly() -> None:
        async with slipring.connect(url) as bus:
            engine = await bus.declare("jet/engine", {"rpm": Parameter("f64", unit="1/min")})
            while True:
                engine.write({"rpm": 12034.5})
                await asyncio.sleep(0.02)

    task = asyncio.create_task(fly())
    try:
        yield
    finally:
        task.cancel()


@contextmanager
def shown(jet: RunningBroker, *more: str, rows: int = 24) -> Iterator[Terminal]:
    with terminal([SLIPRING, "top", "jet/bus/#", "--url", jet.url, *more], rows=rows) as screen:
        yield screen


def test_rows_are_shown_sorted_scrolled_searched_and_paused(jet: RunningBroker) -> None:
    with shown(jet) as top:
        first = top.wait_for(rb"p00000\s+0.0 +m.*q quit")
        assert b"20,000 parameters" in first
        assert b"p00019" in first
        assert b"p00020" not in first, "only what the screen has room for"
        top.type(b"\x1b[6~")
        top.wait_for(rb"rows 21 to 40.*p00039\s+39.0 +m")
        top.type(b"/p01\r")
        top.wait_for(rb"1,000 parameters.*rows 1 to 20.*/p01.*jet/bus/p01000")
        top.type(b"/jet/+/p0001x\x7f7\r")
        top.wait_for(rb"1 parameter .*jet/bus/p00017\s+17.0 +m")
        top.type(b" ")
        top.wait_for(rb"PAUSED")
        top.type(b" /\x1b")
        top.wait_for(rb"20,000 parameters")
        top.type(b"q")
        code, last = top.end()
        assert (code, BACK in last, CURSOR in last) == (0, True, True)


def test_the_largest_value_comes_first_when_it_is_asked_for(jet: RunningBroker) -> None:
    with shown(jet, "--sort", "value") as top:
        top.wait_for(rb"by value.*p00099\s+99.0 +m.*p00098")
        top.type(b"r")
        top.wait_for(rb"reversed")
        top.type(b"r\x1b[C")
        top.wait_for(rb"by age")
        top.resize(10, 80)
        top.wait_for(rb"rows 1 to 6")


async def test_one_screen_is_printed_for_scripts(jet: RunningBroker) -> None:
    async with flying(jet.url), slipring.connect(jet.url) as bus:
        async with bus.select("jet/engine/rpm") as frames:
            await anext(frames)  # it flies
        asked = ("top", "jet/engine/#", "--once", "--url", jet.url)
        code, out, err = await run(*asked)
    assert (code, err) == (0, b"")
    name, value, unit, rate, _, *rest = out.splitlines()[1].split()
    assert (name, value, unit) == (b"jet/engine/rpm", b"12034.5", b"1/min")
    assert 0 < float(rate) < 500
    assert rest[-1] == b"good"
    code, out, err = await run("top", "--once", "--rows", "3", "--sort", "value", "--url", jet.url)
    assert (code, len(out.splitlines())) == (0, 4)
    assert b"more; --rows N" in err


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, "crash"])
def test_the_terminal_is_given_back(
    end: signal.Signals | str, jet: RunningBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if end == "crash":
        (tmp_path / "sitecustomize.py").write_text(
            "import slipring.cli.top as top\ntop._Show._order = lambda show: 1 / 0\n"
        )
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with shown(jet) as top:
        before = top.mode
        if end == "crash":
            top.wait_for(rb"ZeroDivisionError")
            assert top.end()[0] == 1
        else:
            top.wait_for(rb"p00000\s+0.0 +m")
            assert top.mode != before
            os.kill(top.process.pid, int(end))
            code, last = top.end()
            assert code == 130
            assert BACK in last
            assert CURSOR in last
        assert top.mode == before


async def test_without_a_terminal_it_says_what_to_do() -> None:
    code, _, err = await run("top")
    assert code == 2
    assert b"--once" in err


def test_keys_have_names() -> None:
    assert keys_of("q/ä \x1b[A\x1bOB\x1b[6~\r\x7f") == [
        *("q", "/", "ä", " ", "up", "down", "page down", "enter", "backspace")
    ]
    assert keys_of("\x1b") == ["escape"]
    assert keys_of("\x00\x1b[99Z") == []


def _board(count: int, height: int) -> Board:
    table = Table(1)
    for index in range(count):
        table.put(Entry(index, f"a/p{index:03}", Parameter("f64")))
    board = Board(["#"], height=height)
    board.choose(table, Ranking())
    return board


def test_scrolling_stays_inside() -> None:
    board = _board(10, 4)
    for key, offset in (("up", 0), ("down", 1), ("page down", 5), ("page down", 6), ("home", 0)):
        board.press(key)
        assert board.offset == offset, key
    board.press("end")
    assert [entry.index for entry in board.visible] == [6, 7, 8, 9]


def test_what_was_never_measured_comes_last() -> None:
    entries = _board(3, 3).entries
    for key in (SortKey.VALUE, SortKey.AGE, SortKey.QUALITY):
        assert Ranking().order(entries, key) == entries
    assert Ranking().order([], SortKey.VALUE) == []
    assert Readings().rate_hz("a") is None


def test_a_long_name_loses_its_middle() -> None:
    assert shortened("gripen/39-7/engine/rpm", 11) == "gripe…e/rpm"
    assert shortened("short", 11) == "short"
