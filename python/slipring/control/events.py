"""Events as a person reads them: a level, a sentence, and one line for a flood."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slipring.native import Event

LINES_MAX = 50
"""Events of one kind in one poll that get a line each; the rest share one line."""


@dataclass(frozen=True, slots=True)
class _EventKind:
    """How events of one kind are written."""

    level: str
    verb: str
    """Comes between the client's name and the detail."""
    more: str
    """Comes after a number: what else of this kind happened."""


KINDS = {
    "connected": _EventKind("info", "connected ", "more clients connected"),
    "disconnected": _EventKind("info", "disconnected: ", "more clients disconnected"),
    "refused": _EventKind("warning", "refused: ", "more connections were refused"),
    "subscribed": _EventKind("debug", "subscribed ", "more subscriptions were made"),
    "unsubscribed": _EventKind("debug", "unsubscribed ", "more subscriptions were ended"),
    "subscription refused": _EventKind(
        "warning", "subscription refused: ", "more subscriptions were refused"
    ),
    "publish refused": _EventKind(
        "warning", "publish refused: ", "more clients were refused samples"
    ),
    "dropped": _EventKind("warning", "lost ", "more clients lost messages"),
    "notice": _EventKind("info", "says: ", "more notices to the broker"),
    "expired": _EventKind("info", "expired: ", "more sessions expired"),
    "ended": _EventKind("info", "ended: ", "more sessions were ended"),
    "failed": _EventKind("error", "failed: ", "more failures"),
    "trouble": _EventKind("error", "is in trouble: ", "more troubles of the journal"),
    "restarted": _EventKind("error", "was started again: ", "more tasks were started again"),
    "panicked": _EventKind(
        "error", "was disconnected after a panic: ", "more clients were disconnected after a panic"
    ),
    "silent": _EventKind("error", "", "times the engine did not answer"),
    "answers": _EventKind("info", "", "times the engine answered again"),
    "full": _EventKind("error", "", "times the journal was full"),
    "healed": _EventKind("info", "", "times the journal had room again"),
    "unarchived": _EventKind("error", "", "times the archive failed"),
    "archiving": _EventKind("info", "", "times the archive went on"),
    "lost": _EventKind("warning", "", "events were lost: too many at once"),
}
"""Every kind of event. `lost` counts events that were not fetched in time. The control plane itself
notices `full`, `healed`, `silent`, `answers`, `unarchived` and `archiving`; the others come from
the engine."""


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


def entries_of(
    events: Iterable[Event], numbers: Iterator[int]
) -> tuple[list[EventEntry], Counter[str]]:
    """Write the events of one poll, and count them by kind.

    10,000 clients that connect at once are 50 lines and a sum, so the cost is bounded.
    """
    entries: list[EventEntry] = []
    counts: Counter[str] = Counter()
    last: dict[str, int] = {}
    for event in events:
        counts[event.kind] += 1
        if counts[event.kind] <= LINES_MAX:
            entries.append(_one(event, next(numbers)))
        else:
            last[event.kind] = event.at_ns
    for kind, at_ns in last.items():
        entries.append(sum_entry(kind, counts[kind] - LINES_MAX, at_ns, next(numbers)))
    return entries, counts


def sum_entry(kind: str, count: int, at_ns: int, number: int) -> EventEntry:
    """Sum up many events in one line."""
    known = KINDS[kind]
    return EventEntry(number, at_ns, known.level, kind, f"{count:,} {known.more}")


def _one(event: Event, number: int) -> EventEntry:
    known = KINDS[event.kind]
    verb = known.verb if event.detail else known.verb.rstrip(" :")
    text = f"{event.client} {verb}{event.detail}"
    return EventEntry(
        number, event.at_ns, known.level, event.kind, text, event.client, event.detail
    )
