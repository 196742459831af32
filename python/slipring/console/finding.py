"""What a search finds, in order. Pages that ask the same share one answer.

Never searches on the event loop.
"""

import asyncio
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from slipring.console.catalog import Catalog, Columns
from slipring.console.census import Census, Censuses
from slipring.console.narrowing import CatalogView
from slipring.console.search_words import STATES, Search, filter_pattern, read_search
from slipring.status.requests import PublisherStatus

SORTS = ("name", "state", "age", "rate")
"""What rows are sorted by; with `-` before it the other way round."""
FOUND_MAX = 32
"""Answers that are kept; one has 4 bytes for each parameter at most."""
RANGES_MAX = 100_000
"""Ranges of indices of all publishers that a search looks at."""

Positions: TypeAlias = Sequence[int]
"""Of parameters, in the order in which they are shown."""
Publishers: TypeAlias = Callable[[int], list[PublisherStatus]]
"""`Engine.publishers`."""


@dataclass(frozen=True)
class ParameterQuestion:
    """What a page asks for, without the rows that are in view."""

    search: str = ""
    sort: str = "name"
    names: tuple[str, ...] = ()
    """Those that the page marks."""
    only_names: bool = False
    """Whether nothing else is found; if not, they come first."""


@dataclass(frozen=True)
class Found:
    """The answer to a question."""

    positions: Positions
    columns: Columns
    total: int = 0
    """How many parameters the visitor may see."""
    key: object = None
    """The same as long as the answer is."""
    problem: str | None = None
    """Why nothing can be found, for a person."""


class Finder:
    """Answers questions about one table."""

    def __init__(self, catalog: Catalog, publishers: Publishers) -> None:
        """Nothing is looked at until a page asks."""
        self.catalog = catalog
        self._publishers = publishers
        self._censuses = Censuses(catalog)
        self._finding = asyncio.Lock()
        """One search at a time, on a thread."""
        self._kept: OrderedDict[object, Found] = OrderedDict()

    async def found(
        self, view: CatalogView, question: ParameterQuestion, before: Found | None = None
    ) -> Found:
        """The parameters that a visitor may see and that the question is about.

        `before` is what this page was answered before: the same again if nothing has changed.
        """
        columns, search = self.catalog.columns, read_search(question.search)
        if problem := search.problem or _refusal(search, view):
            search = Search(problem=problem)
        census = await self._census(search, question.sort)
        second = int(time.monotonic()) if search.publishers else None
        key = (view.key, question, self.catalog.revision, census and census.number, second)
        if before is not None and before.key == key:
            return before
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        async with self._finding:
            if key in self._kept:
                return self._kept[key]
            found = await asyncio.to_thread(self._find, columns, view, question, search, census)
            if view.key != key[0]:  # other rules came meanwhile: it is nobody else's answer
                return found
            return self._keep(key, replace(found, key=key))

    async def _census(self, search: Search, sort: str) -> Census | None:
        is_needed = search.states or sort.lstrip("-") in ("state", "age")
        return await self._censuses.newest() if is_needed else None

    def _keep(self, key: object, found: Found) -> Found:
        self._kept[key] = found
        if len(self._kept) > FOUND_MAX:
            self._kept.popitem(last=False)
        return found

    def _find(
        self,
        columns: Columns,
        view: CatalogView,
        question: ParameterQuestion,
        search: Search,
        census: Census | None,
    ) -> Found:
        positions = view.positions(columns)
        total = len(positions)
        if search.problem:
            return Found((), columns, total, problem=search.problem)
        if search != Search():
            positions = _narrowed(positions, columns, search, census)
        if search.publishers:
            declared = self._declared(columns, search.publishers)
            positions = [one for one in positions if one in declared]
        positions = _sorted(positions, columns, question.sort, census)
        if question.names:
            positions = _marked(positions, columns, question)
        if isinstance(positions, list):
            positions = array("I", positions)
        return Found(positions, columns, total)

    def _declared(self, columns: Columns, wanted: Sequence[str]) -> set[int]:
        """The positions that publishers declared whose identifier has one of these parts."""
        declared = set[int]()
        for publisher in self._publishers(RANGES_MAX):
            client = publisher["client_id"].casefold()
            if any(part in client for part in wanted):
                for first, count in publisher["ranges"]:
                    indices = range(first, first + count)
                    declared.update(columns.positions.get(index, -1) for index in indices)
        return declared


def _refusal(search: Search, view: CatalogView) -> str | None:
    if search.publishers and not view.is_whole:
        return "To search by publisher takes the right to watch everything."
    return None


def _narrowed(
    positions: Positions, columns: Columns, search: Search, census: Census | None
) -> list[int]:
    """Those that have what the search asks for; the quickest test first."""
    found = list(positions)
    if search.units:
        units = {unit for unit in set(columns.units) if (unit or "").casefold() in search.units}
        found = [one for one in found if columns.units[one] in units]
    if search.types:
        found = [one for one in found if columns.types[one] in search.types]
    if search.states and census:
        wanted = bytes(STATES.index(state) for state in search.states)
        found = [one for one in found if census.states[one] in wanted]
    for text in search.texts:
        found = [one for one in found if text in columns.folded[one]]
    if search.filters:
        matches = [filter_pattern(one).fullmatch for one in search.filters]
        found = [one for one in found if any(match(columns.names[one]) for match in matches)]
    return found


def _sorted(positions: Positions, columns: Columns, sort: str, census: Census | None) -> Positions:
    """By what a person chose, and then by name. What has no value of that kind comes last."""
    is_reversed, by = sort.startswith("-"), sort.lstrip("-")
    if by == "name":
        return positions[::-1] if is_reversed else positions
    if by == "rate":
        rates = columns.rates_hz
        known = [one for one in positions if rates[one] is not None]
        known.sort(key=lambda one: rates[one] or 0.0, reverse=not is_reversed)
        return known + [one for one in positions if rates[one] is None]
    if census is None:
        return positions
    if by == "state":
        return sorted(positions, key=census.states.__getitem__, reverse=is_reversed)
    received = census.received_ms
    known = [one for one in positions if received[one] > 0]
    known.sort(key=received.__getitem__, reverse=not is_reversed)
    return known + [one for one in positions if received[one] <= 0]


def _marked(positions: Positions, columns: Columns, question: ParameterQuestion) -> list[int]:
    """The marked ones alone, or before the others."""
    marked = set(question.names)
    first = [one for one in positions if columns.names[one] in marked]
    if question.only_names:
        return first
    return first + [one for one in positions if columns.names[one] not in marked]
