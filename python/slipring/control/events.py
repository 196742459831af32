"""What the engine tells, as a person reads it: a level, a sentence, and one line for a flood."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slipring.native import Event

LINES_MAX = 50
"""Events of one kind that are told one by one at a beat; the rest of them is one line."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How events of one kind are told."""

    level: str
    verb: str
    """Follows the client's name; the detail follows it."""
    more: str
    """Follows a number: what else of this kind happened."""


KINDS = {
    "connected": Kind("info", "connected ", "more clients connected"),
    "disconnected": Kind("info", "disconnected: ", "more clients disconnected"),
    "refused": Kind("warning", "refused: ", "more connections were refused"),
    "subscribed": Kind("debug", "subscribed ", "more subscriptions were made"),
    "unsubscribed": Kind("debug", "unsubscribed ", "more subscriptions were given up"),
    "subscription refused": Kind(
        "warning", "subscription refused: ", "more subscriptions were refused"
    ),
    "publish refused": Kind("warning", "publish refused: ", "more clients were refused samples"),
    "dropped": Kind("warning", "lost ", "more clients lost messages"),
    "notice": Kind("info", "says: ", "more notices to the broker"),
    "expired": Kind("info", "expired: ", "more sessions expired"),
    "ended": Kind("info", "ended: ", "more sessions were ended"),
    "failed": Kind("error", "failed: ", "more failures"),
    "trouble": Kind("error", "is in trouble: ", "more troubles of the journal"),
    "restarted": Kind("error", "was started again: ", "more tasks were started again"),
    "panicked": Kind(
        "error", "was let go after a panic: ", "more clients were let go after a panic"
    ),
    "silent": Kind("error", "", "times the engine did not answer"),
    "answers": Kind("info", "", "times the engine answered again"),
    "full": Kind("error", "", "times the journal was full"),
    "healed": Kind("info", "", "times the journal was well again"),
    "lost": Kind("warning", "", "events were lost: too many at once"),
}
"""Every kind of event. `lost` is what nobody fetched in time; `full`, `healed`, `silent` and
`answers` are seen here."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event as a person reads it. Numbers grow, so that a reader can ask for what is new."""

    number: int
    at_ns: int
    level: str
    kind: str
    text: str
    client: str | None = None
    """None where one line tells of many."""
    detail: str | None = None


def tell(events: Iterable[Event], numbers: Iterator[int]) -> tuple[list[Told], Counter[str]]:
    """Tell the events of one beat, and how many of each kind there were.

    10,000 clients that come at once are 50 lines and a sum: what is told costs the same however
    much happens.
    """
    told: list[Told] = []
    counts: Counter[str] = Counter()
    last: dict[str, int] = {}
    for event in events:
        counts[event.kind] += 1
        if counts[event.kind] <= LINES_MAX:
            told.append(_one(event, next(numbers)))
        else:
            last[event.kind] = event.at_ns
    for kind, at_ns in last.items():
        told.append(tell_sum(kind, counts[kind] - LINES_MAX, at_ns, next(numbers)))
    return told, counts


def tell_sum(kind: str, count: int, at_ns: int, number: int) -> Told:
    """Tell of many events in one line."""
    known = KINDS[kind]
    return Told(number, at_ns, known.level, kind, f"{count:,} {known.more}")


def _one(event: Event, number: int) -> Told:
    known = KINDS[event.kind]
    verb = known.verb if event.detail else known.verb.rstrip(" :")
    text = f"{event.client} {verb}{event.detail}"
    return Told(number, event.at_ns, known.level, event.kind, text, event.client, event.detail)
