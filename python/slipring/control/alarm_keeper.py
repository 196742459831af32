"""The alarms of a broker: takes the engine's events, tells of them, and keeps what people did.

Judges nothing: the engine does. A file that cannot be written stops nobody from acknowledging.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from slipring.control.alarm import MS_NS, Alarm, LimitEvent
from slipring.control.alarm_board import AlarmBoard, AlarmNews
from slipring.control.alarm_store import AlarmStore, encoded, rows_of
from slipring.errors import AlarmError
from slipring.native import AlarmFeed, Engine

SAVE_EVERY_S = 10.0
"""Alarms that begin and end are written so often; what people do at once."""
RESTORED_S = 600.0
"""So long alarms of an earlier run wait for their parameters to be declared; then they end."""
LINES_MAX = 20
"""Alarms with a line of their own among the broker's events; one more has one each `LINE_S`."""
LINE_S = 1.0
STANDING_REST_SHARE = 9
"""After a comparison with all that stands, so many times its duration until the next one."""

EventNote = Callable[[str, str, int], object]
"""Adds to the broker's events: kind, text, time."""

log: logging.Logger = logging.getLogger("slipring.alarms")


class AlarmKeeper:
    """The board, fed by an engine."""

    def __init__(self, engine: Engine, data: Path, note: EventNote) -> None:
        """Go on with the alarms of an earlier run. A damaged file is set aside."""
        self._feed = AlarmFeed(engine)
        self._store = AlarmStore(data)
        self._note = note
        self._is_damaged = False
        self.board: AlarmBoard = self._read()
        # A page that saw an earlier run must not take this list for that one.
        self.board.revision = self._saved = int(time.time())
        self._started_s = time.monotonic()
        self._writing = asyncio.Lock()
        self._waits_for_restored = bool(self.board.active_keys)
        self._lines = _LineBudget(self._started_s)
        self._has_lost = False
        self._compare_at_s = self._started_s
        active = [alarm for alarm in self.board.alarms if alarm.ended_ms is None]
        self._feed.restore(
            [
                (one.parameter, one.limit, one.since_ns, one.began_ns, one.value or 0.0)
                for one in active
            ]
        )

    def poll(self, now_ns: int, now_s: float) -> None:
        """Take what the engine has noticed, and let time pass."""
        now_ms = now_ns / MS_NS
        events, lost = self._feed.take()
        news = [one for event in events if (one := self.board.take(LimitEvent(*event)))]
        self._has_lost |= lost > 0
        is_behind = self._has_lost or (self.board.lacks_some and self.board.has_room)
        if is_behind and now_s >= self._compare_at_s:
            news += self._compared(now_ms, now_s)
        if self._waits_for_restored and now_s - self._started_s >= RESTORED_S:
            self._waits_for_restored = False
            news += self.board.end_of(self._feed.forget_restored(), now_ms)
        self.board.pass_time(now_ms)
        self._tell(news, now_ns, now_s)

    def _compared(self, now_ms: float, now_s: float) -> list[AlarmNews]:
        """Compare with all that stands: costly where there is much of it, so not at each poll."""
        began_s = time.monotonic()
        standing = [LimitEvent(*event) for event in self._feed.standing()]
        self._has_lost = False
        news = self.board.take_standing(standing, now_ms)
        self._compare_at_s = now_s + STANDING_REST_SHARE * (time.monotonic() - began_s)
        return news

    async def run(self, stop: asyncio.Event) -> None:
        """Write what has changed, from time to time and at the end."""
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SAVE_EVERY_S):
                    await stop.wait()
            await self.save()

    async def save(self) -> None:
        """Write the alarms, if they have changed."""
        async with self._writing:
            revision = self.board.revision
            if revision == self._saved:
                return
            try:
                rows = rows_of(self.board)
                await asyncio.to_thread(lambda: self._store.write(encoded(rows)))
                self._saved, self._is_damaged = revision, False
            except AlarmError as error:
                if not self._is_damaged:
                    log.error("%s; what people do with alarms ends with this run", error)  # noqa: TRY400
                self._is_damaged = True

    def _read(self) -> AlarmBoard:
        try:
            return self._store.read()
        except AlarmError as error:
            aside = self._store.set_aside()
            log.error("%s; it is %s now, and the list begins empty", error, aside)  # noqa: TRY400
            return AlarmBoard()

    def _tell(self, news: Sequence[AlarmNews], now_ns: int, now_s: float) -> None:
        self._lines.refill(now_s)
        told = [one for one in news if self._lines.take()]
        for one in told:
            kind = "alarm began" if one.began else "alarm ended"
            self._note(kind, alarm_text(one), now_ns)
        for began, kind in ((True, "alarm began"), (False, "alarm ended")):
            more = sum(one.began == began for one in news[len(told) :])
            if more:
                self._note(kind, f"{more:,} more alarms {kind.removeprefix('alarm ')}", now_ns)


class _LineBudget:
    """How many lines may be written now."""

    def __init__(self, now_s: float) -> None:
        self._left = float(LINES_MAX)
        self._at_s = now_s

    def refill(self, now_s: float) -> None:
        self._left = min(LINES_MAX, self._left + (now_s - self._at_s) / LINE_S)
        self._at_s = now_s

    def take(self) -> bool:
        if self._left < 1:
            return False
        self._left -= 1
        return True


def alarm_text(news: AlarmNews) -> str:
    """A line for people: `jet/egt is above high_critical 900 degC: 905 degC`."""
    alarm = news.alarm
    return "".join(_words(alarm, began=news.began))


def _words(alarm: Alarm, *, began: bool) -> Iterator[str]:
    unit = f" {alarm.unit}" if alarm.unit else ""
    side = "above" if alarm.limit.startswith("high") else "below"
    verb = "is" if began else "is no longer"
    yield f"{alarm.parameter} {verb} {side} {alarm.limit}"
    if alarm.threshold is not None:
        yield f" {alarm.threshold:g}{unit}"
    if began and alarm.value is not None:
        yield f": {alarm.value:g}{unit}"
