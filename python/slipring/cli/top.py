"""`slipring top`: a live table of parameters in the terminal."""

import asyncio
import contextlib
import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access, with_access
from slipring.errors import SlipringError

if TYPE_CHECKING:
    from rich.live import Live

    from slipring.cli.top_board import Board, Ranking
    from slipring.cli.top_readings import Readings, RowWatcher
    from slipring.client import Bus
    from slipring.client.connecting import Connecting
    from slipring.frames import Table

SORT_KEYS = ("name", "value", "age", "quality")
DRAW_S = 0.5
"""The screen is drawn so often, and when a key is pressed or samples come."""
DRAW_S_MIN = 0.05
ORDER_S = 1.0
"""Rows get a new order at most so often."""
ONCE_S = 1.2
"""How long --once listens: two beats, for the rates."""
ONCE_ROWS = 40


@with_access
def top(
    filters: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILTER", help="Such as 'gripen/+/engine/#'; all without one."),
    ] = None,
    *,
    sort: Annotated[
        str, typer.Option(metavar="KEY", help=f"{', '.join(SORT_KEYS)}: the column to sort by.")
    ] = "name",
    once: Annotated[
        bool, typer.Option("--once", help="Print one screen, and end; for scripts.")
    ] = False,
    rows: Annotated[
        int | None,
        typer.Option(min=1, max=1_000, help="Rows of --once.", show_default=str(ONCE_ROWS)),
    ] = None,
    access: Access,
) -> None:
    """Watch parameters live, as top watches processes: value, rate, age, quality.

    q ends; / searches (a part of the name, or a filter such as +/+/engine/#); left and right
    choose the column to sort by, r reverses; arrows and pages scroll; space pauses. Only the rows
    on the screen are selected at the broker, twice a second. To sort by value, age or quality, all
    parameters are looked at every two seconds.

    For example:

        slipring top

        slipring top 'gripen/39-7/engine/#' --sort quality

        slipring top --once --rows 10 --sort value | head
    """
    from slipring.cli.top_board import Board, SortKey

    if sort not in SORT_KEYS:
        raise typer.BadParameter(f"{sort!r} is none of {', '.join(SORT_KEYS)}", param_hint="--sort")
    if not once and not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise typer.BadParameter("this is no terminal; --once prints one screen")
    board = Board(filters or ["#"], SortKey(sort), height=rows or ONCE_ROWS)
    connecting = access.connect()
    interrupt.run(_print_once(connecting, board) if once else _watch(connecting, board))


async def _print_once(connecting: "Connecting", board: "Board") -> None:
    from slipring.cli.terminal_table import WIDTH_MAX, show
    from slipring.cli.top_board import Ranking
    from slipring.cli.top_readings import Readings
    from slipring.cli.top_screen import rows_table

    readings, ranking = Readings(), Ranking()
    async with connecting as bus:
        table = await bus.table()
        await _rank_once(bus, board, ranking)
        board.choose(table, ranking)
        names = [entry.name for entry in board.visible]
        if names:
            await _listen(bus, names, readings)
    show(rows_table(board, readings, time.time_ns(), WIDTH_MAX))
    if more := len(board.entries) - len(names):
        print(f"{more:,} more; --rows N shows more of them", file=sys.stderr)


async def _rank_once(bus: "Bus", board: "Board", ranking: "Ranking") -> None:
    if board.sort == "name":
        return
    async with bus.select(*board.filters, rate_hz=1) as frames:
        ranking.update(await frames.collect(ONCE_S))


async def _listen(bus: "Bus", names: list[str], readings: "Readings") -> None:
    from slipring.cli.top_readings import BEAT_MS

    async with bus.select(names=names, beat_ms=BEAT_MS) as frames:
        limit = asyncio.timeout(ONCE_S)
        try:
            async with limit:
                async for frame in frames:
                    readings.take(frame)
        except TimeoutError:
            if not limit.expired():
                raise


async def _watch(connecting: "Connecting", board: "Board") -> None:
    from rich.live import Live

    from slipring.cli.keyboard import pressed_keys
    from slipring.cli.top_readings import RowWatcher

    changed = asyncio.Event()

    def press(key: str) -> None:
        board.press(key)
        changed.set()

    async with connecting as bus:
        table = await bus.table()
        # Lines about the connection would be written over the screen, which shows it anyway.
        logging.getLogger("slipring.client").setLevel(logging.CRITICAL)
        try:
            async with asyncio.TaskGroup() as tasks:
                watcher = RowWatcher(bus, tasks, changed.set)
                with pressed_keys(sys.stdin.fileno(), press), Live(**_LIVE) as live:
                    await _Show(bus, board, watcher, table, live).run(changed)
                watcher.rank(None)
                watcher.stop_reading()
        except* SlipringError as failed:
            raise failed.exceptions[0] from None


_LIVE: dict[str, Any] = {"auto_refresh": False, "screen": True}


class _Show:
    """Draws the board until it is over."""

    def __init__(
        self, bus: "Bus", board: "Board", watcher: "RowWatcher", table: "Table", live: "Live"
    ) -> None:
        self._bus = bus
        self._board = board
        self._watcher = watcher
        self._table = table
        self._live = live
        self._ordered_s = 0.0
        self._choice: tuple[Any, ...] = ()
        self._paused: tuple[Readings, int] | None = None

    async def run(self, changed: asyncio.Event) -> None:
        """Draw whenever something has changed, and twice a second, because ages grow."""
        while not self._board.is_over:
            changed.clear()
            await self._follow_table()
            self._draw()
            try:
                async with asyncio.timeout(DRAW_S):
                    await changed.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(DRAW_S_MIN)  # what comes together is drawn together

    async def _follow_table(self) -> None:
        """Take the table of now: a broker that has started again may have another one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAW_S):
                self._table = await self._bus.table()

    def _draw(self) -> None:
        from slipring.cli.top_screen import LINES_BESIDE, screen

        board, size = self._board, os.get_terminal_size(sys.stdout.fileno())
        board.height = max(1, size.lines - LINES_BESIDE)
        if not board.is_paused:
            self._order()
            self._watcher.watch([entry.name for entry in board.visible])
        readings, now_ns = self._readings()
        shown = screen(
            board,
            readings,
            now_ns,
            url=self._bus.url,
            columns=size.columns,
            is_connected=self._bus.is_connected,
        )
        self._live.update(shown, refresh=True)

    def _order(self) -> None:
        """Choose and sort again if the choice is another, or the order is old."""
        board, now_s = self._board, time.monotonic()
        self._watcher.rank(None if board.sort == "name" else board.filters)
        choice = (
            board.sort,
            board.search,
            board.is_reversed,
            self._table.identity,
            self._table.revision,
        )
        is_old = board.sort != "name" and now_s - self._ordered_s > ORDER_S
        if choice != self._choice or is_old:
            board.choose(self._table, self._watcher.ranking)
            self._choice, self._ordered_s = choice, now_s

    def _readings(self) -> "tuple[Readings, int]":
        """What is shown, and when it was: while it is paused, the same."""
        if not self._board.is_paused:
            self._paused = None
            return self._watcher.readings, time.time_ns()
        if self._paused is None:
            self._paused = self._watcher.readings.frozen(), time.time_ns()
        return self._paused
