"""Events as a person reads them: a room, a level, a sentence, and one line for a flood."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from slipring.control.event_kinds import KINDS
from slipring.native import Event

LINES_MAX = 50
"""Events of one kind in one poll that get a line each, unless `log.burst` says otherwise; the rest
share one line."""


@dataclass(frozen=True, slots=True)
class EventEntry:
    """An event as a person reads it. Numbers ascend, so that a reader can ask for what is new."""

    number: int
    at_ns: int
    level: str
    kind: str
    text: str
    client: str | None = None
    """None in a line that sums up many events."""
    detail: str | None = None
    topic: str | None = None
    """The topic or filter; None if it is about none."""
    request: str | None = None

    @property
    def room(self) -> str:
        """What it is about: the log has a level for each room."""
        return KINDS[self.kind].room

    @property
    def is_for_page(self) -> bool:
        """Whether the console shows it. Events of every message would push out all others."""
        return not (KINDS[self.kind].is_frequent and self.level == "debug")


def entries_of(
    events: Iterable[Event],
    numbers: Iterator[int],
    lines_max: int = LINES_MAX,
    more: Mapping[str, int] | None = None,
) -> tuple[list[EventEntry], Counter[str]]:
    """Write the events of one poll, and count them by kind; `more` are those without a line.

    10,000 clients that connect at once are 50 lines and a sum, so the cost is bounded.
    """
    entries: list[EventEntry] = []
    counts: Counter[str] = Counter()
    unwritten: Counter[str] = Counter(more)
    last: dict[str, int] = {}
    for event in events:
        counts[event.kind] += 1
        last[event.kind] = event.at_ns
        if counts[event.kind] <= lines_max:
            entries.append(_one(event, next(numbers)))
        else:
            unwritten[event.kind] += 1
    for kind, count in unwritten.items():
        entries.append(sum_entry(kind, count, last.get(kind, 0), next(numbers)))
    counts.update(more or {})
    return entries, counts


def sum_entry(kind: str, count: int, at_ns: int, number: int) -> EventEntry:
    """Sum up many events in one line."""
    known = KINDS[kind]
    return EventEntry(number, at_ns, known.level, kind, f"{count:,} {known.more}")


def _one(event: Event, number: int) -> EventEntry:
    known = KINDS[event.kind]
    about = f"{event.topic} (request {event.request})" if event.request else event.topic
    rest = ": ".join(part for part in (about.strip(), event.detail) if part)
    verb = known.verb if rest else known.verb.rstrip(" :")
    return EventEntry(
        number,
        event.at_ns,
        known.level,
        event.kind,
        f"{event.client} {verb}{rest}",
        client=event.client,
        detail=event.detail,
        topic=event.topic or None,
        request=event.request or None,
    )
