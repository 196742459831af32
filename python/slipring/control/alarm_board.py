"""All alarms, and what people do with them: acknowledge, shelve, comment. Reads no clock.

Example: an exhaust is too hot at 12:00, and the alarm is active. Anna acknowledges it at 12:01. At
12:05 the value comes back: the alarm ends, and goes into the history because somebody has seen it.
Had nobody acknowledged it, it would stay in the list, as ended.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from slipring.control.alarm import (
    COMMENTS_MAX,
    MS_NS,
    Alarm,
    AlarmComment,
    AlarmKey,
    LimitEvent,
    begun,
)
from slipring.errors import AlarmError
from slipring.status.alarms import AlarmSummary

ALARMS_MAX = 5_000
"""Alarms in the list. Beyond it, those that ended leave first; others are not listed until there is
room."""
HISTORY_MAX = 1_000
"""Alarms of the history."""
COMMENTS_ALL_MAX = 5_000
"""Comments of all alarms, in list and history: every page that shows the list is sent them."""


@dataclass(frozen=True, slots=True)
class AlarmNews:
    """An alarm began or ended."""

    alarm: Alarm
    began: bool


class AlarmBoard:
    """The alarms by parameter and limit."""

    def __init__(
        self, alarms: Iterable[Alarm] = (), history: Iterable[Alarm] = (), next_id: int = 1
    ) -> None:
        """Begin with the alarms of an earlier run."""
        self._alarms: dict[AlarmKey, Alarm] = {alarm.key: alarm for alarm in alarms}
        ended = (alarm for alarm in self._alarms.values() if alarm.ended_ms is not None)
        self._ended = OrderedDict.fromkeys(one.key for one in sorted(ended, key=_ended_ms))
        """Those of the list that ended, the first to end first. A plain dictionary whose first key
        is removed again and again looks for the next first one ever longer."""
        self.history: deque[Alarm] = deque(history, maxlen=HISTORY_MAX)
        """Those that ended and were acknowledged, the newest last."""
        self.next_id: int = next_id
        self.revision: int = 0
        """Changes with every change."""
        self.lacks_some: bool = False
        """Whether an alarm that is active is not in the list."""
        self._summary: tuple[int, AlarmSummary] | None = None

    @property
    def alarms(self) -> list[Alarm]:
        """Those in the list: active first, then unacknowledged, the newest first."""
        return sorted(self._alarms.values(), key=_order)

    @property
    def has_room(self) -> bool:
        """Whether another alarm can be listed."""
        return len(self._alarms) < ALARMS_MAX or bool(self._ended)

    @property
    def active_keys(self) -> set[AlarmKey]:
        """The parameters and limits with an active alarm."""
        return {key for key, alarm in self._alarms.items() if alarm.ended_ms is None}

    def take(self, event: LimitEvent) -> AlarmNews | None:
        """Take an event; returns what is new, None if nothing is."""
        known = self._alarms.get((event.parameter, event.limit))
        if not event.began:
            return self._end(known, event.time_ns / MS_NS) if known else None
        if known is None:
            return self._begin(event)
        if known.ended_ms is None and known.began_ns == event.time_ns:
            return None  # not since when: that changes with each value that comes back for a moment
        known.begin_again(event)
        self._ended.pop(known.key, None)
        self.revision += 1
        return AlarmNews(known, began=True)

    def take_standing(self, standing: Sequence[LimitEvent], now_ms: float) -> list[AlarmNews]:
        """Take all that is beyond a limit now: what else is active has ended meanwhile."""
        self.lacks_some = False
        still = {(event.parameter, event.limit) for event in standing}
        gone = [self._alarms[key] for key in self.active_keys - still]
        ended = [news for alarm in gone if (news := self._end(alarm, now_ms))]
        return ended + [news for event in standing if (news := self.take(event))]

    def end_of(self, parameters: Iterable[str], now_ms: float) -> list[AlarmNews]:
        """End the alarms of parameters that do not exist any more."""
        names = set(parameters)
        gone = [alarm for alarm in self._alarms.values() if alarm.parameter in names]
        return [news for alarm in gone if (news := self._end(alarm, now_ms))]

    def pass_time(self, now_ms: float) -> None:
        """End what was shelved long enough."""
        for alarm in [*self._alarms.values()]:
            if alarm.shelved_until_ms is not None and alarm.shelved_until_ms <= now_ms:
                self._unshelve(alarm)

    def find(self, ids: Iterable[str]) -> list[Alarm]:
        """The alarms of the list with these identifiers."""
        wanted = set(ids)
        return [alarm for alarm in self._alarms.values() if alarm.id in wanted]

    def acknowledge(self, alarms: Sequence[Alarm], by: str, now_ms: float, comment: str) -> None:
        """Somebody has seen them. AlarmError if a comment has no room; then nothing is changed."""
        if comment:
            self.comment(alarms, by, now_ms, comment)
        for alarm in alarms:
            if not alarm.is_acknowledged:
                alarm.acknowledged_by, alarm.acknowledged_ms = by, now_ms
            self._leave_if_over(alarm)
        self.revision += 1

    def shelve(self, alarms: Sequence[Alarm], by: str, until_ms: float) -> None:
        """Let them disturb nobody for a while."""
        for alarm in alarms:
            alarm.shelved_by, alarm.shelved_until_ms = by, until_ms
        self.revision += 1

    def unshelve(self, alarms: Sequence[Alarm]) -> None:
        """Let them disturb again."""
        for alarm in alarms:
            self._unshelve(alarm)

    def comment(self, alarms: Sequence[Alarm], by: str, now_ms: float, text: str) -> None:
        """Add a comment to each. AlarmError if one has no room; then nothing is changed."""
        for alarm in alarms:
            if len(alarm.comments) >= COMMENTS_MAX:
                name = f"{alarm.parameter} {alarm.limit}"
                raise AlarmError(f"an alarm has at most {COMMENTS_MAX} comments, and {name} has")
        every = sum(len(one.comments) for one in chain(self._alarms.values(), self.history))
        if every + len(alarms) > COMMENTS_ALL_MAX:
            raise AlarmError(
                f"all alarms together have at most {COMMENTS_ALL_MAX:,} comments, and have "
                f"{every:,}: they go when their alarms leave the history"
            )
        for alarm in alarms:
            alarm.comments.append(AlarmComment(now_ms, by, text))
        self.revision += 1

    def summary(self) -> AlarmSummary:
        """How many there are."""
        if self._summary is None or self._summary[0] != self.revision:
            self._summary = (self.revision, summed(self._alarms.values(), self.revision))
        return self._summary[1]

    def _begin(self, event: LimitEvent) -> AlarmNews | None:
        if len(self._alarms) >= ALARMS_MAX and not self._make_room():
            self.lacks_some = True
            return None
        alarm = begun(self.next_id, event)
        self.next_id += 1
        self._alarms[alarm.key] = alarm
        self.revision += 1
        return AlarmNews(alarm, began=True)

    def _make_room(self) -> bool:
        """Move the alarm that ended first into the history, though nobody acknowledged it."""
        first = next(iter(self._ended), None)
        if first is not None:
            self._leave(self._alarms[first])
        return first is not None

    def _end(self, alarm: Alarm, at_ms: float) -> AlarmNews | None:
        if alarm.ended_ms is not None:
            return None
        alarm.ended_ms = at_ms
        self._ended[alarm.key] = None
        self.revision += 1
        self._leave_if_over(alarm)
        return AlarmNews(alarm, began=False)

    def _unshelve(self, alarm: Alarm) -> None:
        alarm.shelved_by = alarm.shelved_until_ms = None
        self.revision += 1
        self._leave_if_over(alarm)

    def _leave_if_over(self, alarm: Alarm) -> None:
        if alarm.is_over:
            self._leave(alarm)

    def _leave(self, alarm: Alarm) -> None:
        del self._alarms[alarm.key]
        self._ended.pop(alarm.key, None)
        self.history.append(alarm)


def summed(alarms: Iterable[Alarm], revision: int) -> AlarmSummary:
    """How many of some alarms are what; those that are shelved count only as that."""
    every = [*alarms]
    seen = [alarm for alarm in every if not alarm.is_shelved]
    active = [alarm for alarm in seen if alarm.ended_ms is None]
    return {
        "revision": revision,
        "active": len(active),
        "unacknowledged": sum(not alarm.is_acknowledged for alarm in seen),
        "critical": sum(alarm.level == "critical" for alarm in active),
        "shelved": len(every) - len(seen),
    }


STATES: dict[str, Callable[[Alarm], bool]] = {
    "active": lambda alarm: alarm.ended_ms is None,
    "ended": lambda alarm: alarm.ended_ms is not None,
    "unacknowledged": lambda alarm: not alarm.is_acknowledged,
    "shelved": lambda alarm: alarm.is_shelved,
}
"""What can be asked for, beside `history`."""


def _ended_ms(alarm: Alarm) -> float:
    return alarm.ended_ms or 0.0


def _order(alarm: Alarm) -> tuple[bool, bool, bool, bool, int]:
    return (
        alarm.is_shelved,
        alarm.is_acknowledged,
        alarm.ended_ms is not None,
        alarm.level != "critical",
        -alarm.began_ns,
    )
