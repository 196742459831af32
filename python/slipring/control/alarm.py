"""An alarm as people see it: a limit that a value is or was beyond, and what people did about it.

Plain values; knows neither clocks nor files.
"""

from dataclasses import asdict, dataclass, field
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

    def shown(self) -> dict[str, Any]:
        """For the API."""
        told = asdict(self)
        del told["since_ns"], told["began_ns"]
        since_ms, began_ms = self.since_ns / MS_NS, self.began_ns / MS_NS
        return told | {
            "level": self.level,
            "state": self.state,
            "since_ms": since_ms,
            "began_ms": began_ms,
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


def alarm_of(kept: dict[str, Any]) -> Alarm:
    """The alarm that was kept as `asdict`; ValueError or TypeError if it is none."""
    comments = [AlarmComment(**one) for one in kept.pop("comments")]
    if kept["limit"] not in LEVELS or not all(
        isinstance(kept[name], kind) for name, kind in _KINDS.items()
    ):
        raise ValueError("it has what is no alarm")
    return Alarm(**kept, comments=comments)


_KINDS = {"id": str, "parameter": str, "since_ns": int, "began_ns": int}
