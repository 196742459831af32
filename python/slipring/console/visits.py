"""Who has a connection to the console, and who has to go when there are too many. Pure.

Two rules keep a newcomer's place free. A connection that waits (for the rest of a request, or for
another one) goes before one that is being answered. And an address that has most gives way to one
that has fewer. Example: of 256 connections one address has 250 half requests; a newcomer from
anywhere takes the place of the oldest of these.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Stage(Enum):
    """What a connection is doing."""

    WAITING = "no request is being answered"
    ANSWERED = "a request is being answered"
    PAGE = "a WebSocket is open"


@dataclass(eq=False, slots=True)
class Visit:
    """One connection."""

    address: str
    since_s: float
    """When it came to its stage."""
    stage: Stage = Stage.WAITING


def who_leaves(visits: Iterable[Visit], newcomer: str) -> Visit | None:
    """Whose place a newcomer from this address takes where all are taken; None: it is refused."""
    known = list(visits)
    waiting = [visit for visit in known if visit.stage is Stage.WAITING]
    if waiting:
        return _oldest_of_greediest(waiting)
    return _leaves_to_fewer(known, newcomer)


def which_page_leaves(visits: Iterable[Visit], newcomer: str) -> Visit | None:
    """Which page closes so that a newcomer from this address may open one; None: it may not."""
    pages = [visit for visit in visits if visit.stage is Stage.PAGE]
    return _leaves_to_fewer(pages, newcomer)


def _leaves_to_fewer(visits: list[Visit], newcomer: str) -> Visit | None:
    """One of an address that has at least two more: so two do not take turns at one place."""
    counts = Counter(visit.address for visit in visits)
    greediest, most = counts.most_common(1)[0] if counts else ("", 0)
    if most < counts[newcomer] + 2:
        return None
    return _oldest([visit for visit in visits if visit.address == greediest])


def _oldest_of_greediest(visits: list[Visit]) -> Visit:
    greediest = Counter(visit.address for visit in visits).most_common(1)[0][0]
    return _oldest([visit for visit in visits if visit.address == greediest])


def _oldest(visits: list[Visit]) -> Visit:
    return min(visits, key=lambda visit: visit.since_s)
