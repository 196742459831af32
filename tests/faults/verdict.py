"""The checker: what was lost, twice or out of order, from what all clients noted. Pure.

Acknowledged is PUBACK or PUBREC. Lost is acknowledged and not delivered to a durable subscriber,
or not in the journal. At QoS 2 a message that reaches a subscriber twice is duplicated. At QoS 1
it may come again after a connection was lost or when its publisher sent it again: that is repeated,
and counted; otherwise it is duplicated too.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.faults.publisher import Publisher
from tests.faults.subscriber import Arrival, Subscriber

Key = tuple[str, int]
SHOWN = 5


@dataclass(frozen=True, repr=False)
class Report:
    """What every run reports."""

    seed: int
    kills: int = 0
    acknowledged: int = 0
    delivered: int = 0
    lost: tuple[str, ...] = ()
    duplicated: tuple[str, ...] = ()
    repeated: int = 0
    reordered: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    sessions_lost: int = 0
    recovery_s: float = 0
    peak_bytes: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        faults = (self.lost, self.duplicated, self.reordered, self.broken, self.sessions_lost)
        return not any(faults)

    def __repr__(self) -> str:
        return (
            f"seed {self.seed}: {self.kills} kills, {self.acknowledged} acknowledged, "
            f"{self.delivered} delivered, lost {_shown(self.lost)}, "
            f"duplicated {_shown(self.duplicated)}, {self.repeated} repeated at QoS 1, "
            f"reordered {_shown(self.reordered)}, broken {_shown(self.broken)}, "
            f"{self.sessions_lost} sessions lost, recovery {self.recovery_s:.2f} s at most, "
            f"peak memory {self.peak_bytes / 1e6:.0f} MB"
        )


def _shown(found: Sequence[str]) -> str:
    return f"{len(found)} ({', '.join(found[:SHOWN])})" if found else "0"


@dataclass(frozen=True)
class Course:
    """How the run went, beside what the clients noted."""

    seed: int
    kills: int = 0
    recovery_s: float = 0
    peak_bytes: int = 0


@dataclass
class Audience:
    """A subscriber, or the members of one shared group: each message is for one of them."""

    name: str
    sources: set[str]
    members: list[Subscriber] = field(default_factory=list)

    def arrivals(self) -> dict[Key, list[tuple[str, Arrival]]]:
        """Who got which message of the publishers; a will is nobody's."""
        found: dict[Key, list[tuple[str, Arrival]]] = defaultdict(list)
        for member in self.members:
            for arrival in member.arrivals:
                if arrival.source in self.sources:
                    found[arrival.source, arrival.number].append((member.name, arrival))
        return found


def audiences(publishers: Iterable[Publisher], subscribers: Iterable[Subscriber]) -> list[Audience]:
    """Members of a group together, everybody else alone."""
    sources = {one.name for one in publishers}
    found: dict[str, Audience] = {}
    for one in subscribers:
        name = one.group or one.name
        found.setdefault(name, Audience(name, sources)).members.append(one)
    return list(found.values())


def judge(
    publishers: Sequence[Publisher],
    subscribers: Sequence[Subscriber],
    course: Course,
    journal: Mapping[Key, int] | None = None,
) -> Report:
    """The verdict; `journal` has how often each message is in it, if it was read."""
    everyone = audiences(publishers, subscribers)
    acknowledged = {(one.name, number) for one in publishers for number in one.acknowledged}
    resent = {(one.name, number) for one in publishers for number in one.resent}
    extra = [_extra(audience, resent) for audience in everyone]
    lost = [
        text
        for audience in everyone
        for text in _missing(audience.name, acknowledged, audience.arrivals())
    ]
    twice = [text for duplicated, _ in extra for text in duplicated]
    if journal is not None:
        lost += _missing("the journal", acknowledged, journal)
        twice += _twice_in_journal(publishers, journal)
    return Report(
        seed=course.seed,
        kills=course.kills,
        acknowledged=len(acknowledged),
        delivered=sum(len(audience.arrivals()) for audience in everyone),
        lost=tuple(lost),
        duplicated=tuple(twice),
        repeated=sum(repeated for _, repeated in extra),
        reordered=tuple(_reordered(subscribers, publishers)),
        broken=tuple(text for one in subscribers for text in one.broken),
        sessions_lost=sum(one.sessions_lost for one in publishers)
        + sum(one.sessions_lost for one in subscribers),
        recovery_s=course.recovery_s,
        peak_bytes=course.peak_bytes,
    )


def _missing(where: str, acknowledged: set[Key], there: Mapping[Key, object]) -> list[str]:
    gone = sorted(acknowledged - set(there))
    return [f"{source} {number} at {where}" for source, number in gone]


def _extra(audience: Audience, resent: set[Key]) -> tuple[list[str], int]:
    """Messages that came twice and may not, and how many times others came again."""
    duplicated, repeated = [], 0
    for key, found in audience.arrivals().items():
        if len(found) == 1:
            continue
        connections = {(name, arrival.connection) for name, arrival in found}
        may_repeat = key in resent or len(connections) == len(found)
        if any(arrival.qos == 2 for _, arrival in found) or not may_repeat:
            duplicated.append(f"{key[0]} {key[1]} at {audience.name}, {len(found)} times")
        else:
            repeated += len(found) - 1
    return duplicated, repeated


def _twice_in_journal(publishers: Sequence[Publisher], journal: Mapping[Key, int]) -> list[str]:
    exactly_once = {one.name for one in publishers if one.qos == 2}
    return [
        f"{source} {number} in the journal, {times} times"
        for (source, number), times in journal.items()
        if times > 1 and source in exactly_once
    ]


def _reordered(subscribers: Sequence[Subscriber], publishers: Sequence[Publisher]) -> list[str]:
    """First arrivals out of order; what was refused and tried again has no place in it.

    A member of a group is not judged: its messages are a choice among those of the group.
    """
    refused = {(one.name, number) for one in publishers for number in one.refused}
    found = []
    for one in subscribers:
        highest: dict[str, int] = defaultdict(int)
        seen: set[Key] = set(refused)
        for source, number, *_ in one.arrivals if one.group is None else ():
            if (source, number) not in seen and number < highest[source]:
                found.append(f"{source} {number} after {highest[source]} at {one.name}")
            seen.add((source, number))
            highest[source] = max(highest[source], number)
    return found
