"""An alarm as people see it: a limit that a value is or was beyond, and what people did about it.

Plain values; knows neither clocks nor files.
"""

import math
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import Any, Literal, NamedTuple

from slipring.alarms import LEVELS

MS_NS = 1_000_000
COMMENTS_MAX = 50
"""Comments of one alarm."""
COMMENT_CHARACTERS_MAX = 500

AlarmKey = tuple[str, str]
"""Parameter and limit: there is one alarm for each."""


class LimitEvent(NamedTuple):
    """An event of the engine: a value went beyond a limit, or came back."""

    parameter: str
    limit: str
    began: bool
    value: float | None
    threshold: float | None
    unit: str | None
    time_ns: int
    since_ns: int


@dataclass(frozen=True, slots=True)
class AlarmComment:
    """What somebody wrote."""

    at_ms: float
    by: str
    text: str

    def row(self) -> dict[str, Any]:
        """Its fields."""
        return {"at_ms": self.at_ms, "by": self.by, "text": self.text}


@dataclass(slots=True)
class Alarm:
    """One alarm. Its own times are source times, those of people the broker's."""

    id: str
    parameter: str
    limit: str
    unit: str | None
    value: float | None
    threshold: float | None
    since_ns: int
    began_ns: int
    ended_ms: float | None = None
    times: int = 1
    """How often it began while it was listed."""
    acknowledged_by: str | None = None
    acknowledged_ms: float | None = None
    shelved_by: str | None = None
    shelved_until_ms: float | None = None
    comments: list[AlarmComment] = field(default_factory=list)

    @property
    def key(self) -> AlarmKey:
        """Parameter and limit."""
        return self.parameter, self.limit

    @property
    def level(self) -> str:
        """`warning` or `critical`."""
        return LEVELS[self.limit]

    @property
    def state(self) -> Literal["active", "ended"]:
        """Whether the value is beyond the limit."""
        return "active" if self.ended_ms is None else "ended"

    @property
    def is_acknowledged(self) -> bool:
        """Whether somebody has seen it."""
        return self.acknowledged_ms is not None

    @property
    def is_shelved(self) -> bool:
        """Whether it disturbs nobody for a while."""
        return self.shelved_until_ms is not None

    @property
    def is_over(self) -> bool:
        """Whether it leaves the list: it ended, somebody has seen it, and it is not shelved."""
        return self.ended_ms is not None and self.is_acknowledged and not self.is_shelved

    def begin_again(self, event: LimitEvent) -> None:
        """It ended, and begins again: somebody has to look at it again."""
        self.value, self.threshold, self.unit = event.value, event.threshold, event.unit
        self.since_ns, self.began_ns = event.since_ns, event.time_ns
        self.ended_ms = self.acknowledged_by = self.acknowledged_ms = None
        self.times += 1

    def row(self) -> dict[str, Any]:
        """Its fields as they are now; comments are not copied one by one: they never change."""
        told = {name: getattr(self, name) for name in FIELDS}
        return told | {"comments": [*self.comments]}

    def shown(self) -> dict[str, Any]:
        """For the API, where JSON has no infinity."""
        told = {
            name: getattr(self, name) for name in FIELDS if name not in ("since_ns", "began_ns")
        }
        is_finite = self.value is None or math.isfinite(self.value)
        return told | {
            "value": self.value if is_finite else None,
            "level": self.level,
            "state": self.state,
            "since_ms": self.since_ns / MS_NS,
            "began_ms": self.began_ns / MS_NS,
            "comments": [one.row() for one in self.comments],
        }


def begun(number: int, event: LimitEvent) -> Alarm:
    """The alarm of an event that began."""
    return Alarm(
        str(number),
        event.parameter,
        event.limit,
        event.unit,
        event.value,
        event.threshold,
        event.since_ns,
        event.time_ns,
    )


FIELDS = tuple(one.name for one in fields(Alarm))


def alarm_of(kept: dict[str, Any]) -> Alarm:
    """The alarm that was kept as `row`; ValueError or TypeError if it is none.

    A file can be changed by hand: what is kept here is compared with times, sent to the engine and
    shown as JSON.
    """
    comments = [AlarmComment(**one) for one in kept.pop("comments")]
    alarm = Alarm(**kept, comments=comments)
    wrong = [name for name, kinds in _KINDS.items() if type(getattr(alarm, name)) not in kinds]
    for one in comments:
        wrong += [
            name for name, kinds in _COMMENT_KINDS.items() if type(getattr(one, name)) not in kinds
        ]
    if wrong or alarm.limit not in LEVELS or not _is_in_range(alarm):
        raise ValueError(f"an alarm has what none can have, in {wrong or alarm.id}")
    return alarm


def _is_in_range(alarm: Alarm) -> bool:
    """Whether it has text that can be sent, and times and numbers that there are."""
    texts = (alarm.id, alarm.parameter, alarm.unit, alarm.acknowledged_by, alarm.shelved_by)
    said = (text for one in alarm.comments for text in (one.by, one.text))
    "".join(one or "" for one in (*texts, *said)).encode()  # half of a surrogate pair is not text
    moments = (alarm.ended_ms, alarm.acknowledged_ms, alarm.shelved_until_ms, alarm.threshold)
    finite = (*moments, *(one.at_ms for one in alarm.comments))
    return (
        all(one is None or math.isfinite(one) for one in finite)
        and not (alarm.value is not None and math.isnan(alarm.value))
        and all(abs(one) < 1 << 63 for one in (alarm.since_ns, alarm.began_ns))
        and len(alarm.comments) <= COMMENTS_MAX
    )


_NUMBER, _TEXT = (float, int, NoneType), (str, NoneType)
_KINDS: dict[str, tuple[type, ...]] = {
    "id": (str,), "parameter": (str,), "limit": (str,), "unit": _TEXT, "value": _NUMBER,
    "threshold": _NUMBER, "since_ns": (int,), "began_ns": (int,), "ended_ms": _NUMBER,
    "times": (int,), "acknowledged_by": _TEXT, "acknowledged_ms": _NUMBER, "shelved_by": _TEXT,
    "shelved_until_ms": _NUMBER,
}  # fmt: skip
_COMMENT_KINDS: dict[str, tuple[type, ...]] = {"at_ms": (float, int), "by": (str,), "text": (str,)}
