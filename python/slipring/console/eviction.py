"""Which of the console's connections closes when there are too many. Pure.

Two rules leave room for newcomers. A connection that is idle (it waits for the rest of a request,
or for the next one) closes before one that is being answered. And an address with many connections
gives way to one with fewer. Example: of 256 connections one address has 250 half requests; a
newcomer from anywhere takes the place of the oldest of these.
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
class ConnectionUse:
    """What the rules know of one connection."""

    address: str
    since_s: float
    """When its stage began."""
    stage: Stage = Stage.WAITING


def connection_to_close(uses: Iterable[ConnectionUse], newcomer: str) -> ConnectionUse | None:
    """Choose what closes for a newcomer from this address; None refuses the newcomer."""
    known = list(uses)
    waiting = [use for use in known if use.stage is Stage.WAITING]
    if waiting:
        return _oldest_of_greediest(waiting)
    return _of_greedier_address(known, newcomer)


def page_to_close(uses: Iterable[ConnectionUse], newcomer: str) -> ConnectionUse | None:
    """Choose the page that closes so that this address may open one; None refuses that."""
    pages = [use for use in uses if use.stage is Stage.PAGE]
    return _of_greedier_address(pages, newcomer)


def _of_greedier_address(uses: list[ConnectionUse], newcomer: str) -> ConnectionUse | None:
    """Choose from an address with two more, so that two do not evict each other in turn."""
    counts = Counter(use.address for use in uses)
    greediest, most = counts.most_common(1)[0] if counts else ("", 0)
    if most < counts[newcomer] + 2:
        return None
    return _oldest([use for use in uses if use.address == greediest])


def _oldest_of_greediest(uses: list[ConnectionUse]) -> ConnectionUse:
    greediest = Counter(use.address for use in uses).most_common(1)[0][0]
    return _oldest([use for use in uses if use.address == greediest])


def _oldest(uses: list[ConnectionUse]) -> ConnectionUse:
    return min(uses, key=lambda use: use.since_s)
