"""Which parameters and which time are asked for, as conditions of SQL that skip files and pages."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from slipring.errors import LakeError
from slipring.lake.sql import quoted
from slipring.native import check_filter, match_topics

if TYPE_CHECKING:
    from slipring.lake.lake import Lake

RANGES_MAX = 100
"""Of indices in a condition; with more, only their bounds are asked for, and the names decide."""


@dataclass(frozen=True)
class TimeSpan:
    """[start, end); None has no bound."""

    start: datetime | None
    end: datetime | None

    def condition(self, column: str) -> str:
        """The condition on a column of times; empty if there is none."""
        bounds = ((">=", self.start), ("<", self.end))
        return both(f"{column} {sign} {time_literal(one)}" for sign, one in bounds if one)


def to_time(given: datetime | str | None) -> datetime | None:
    """A time from a program; one without a zone is UTC."""
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given)
        except ValueError:
            raise LakeError(f"{given!r} is not a time; write it as 2026-01-02T03:04:05Z") from None
    if given is None or given.tzinfo is not None:
        return given
    return given.replace(tzinfo=UTC)


def time_literal(time: datetime) -> str:
    """A time as SQL writes it, compared with a column of times in UTC."""
    return quoted(f"{time.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}")


def both(conditions: Iterable[str]) -> str:
    """All of the conditions that are not empty."""
    return " AND ".join(one for one in conditions if one)


@dataclass(frozen=True)
class ParameterChoice:
    """MQTT filters over the names of parameters."""

    filters: tuple[str, ...]

    @classmethod
    def of(cls, filters: str | Sequence[str]) -> "ParameterChoice":
        """Raises InvalidTopic if one is not a filter."""
        given = (filters,) if isinstance(filters, str) else tuple(filters)
        if not given:
            raise LakeError("no filter was given; # chooses all parameters")
        for one in given:
            check_filter(one)
        return cls(given)

    def condition(self, lake: "Lake") -> str:
        """The condition on `samples` and the rollups; empty if everything is chosen.

        Rows lie in the order of index in their files, so indices skip more than names do. The table
        `parameters` tells them; without it, or if it does not know the parameters yet, names do.
        """
        if "#" in self.filters:
            return ""
        names = self.name_condition()
        found, is_reused = self._indices(lake)
        indices = _index_ranges(found)
        if not indices:
            return names
        if is_reused:
            return both((_index_condition(indices), names))
        if sum(map(len, indices.values())) > RANGES_MAX:
            indices = {one: [(some[0][0], some[-1][1])] for one, some in indices.items()}
            return both((_index_condition(indices), names))
        return _index_condition(indices)

    def names_in(self, lake: "Lake") -> list[str]:
        """The names that match, in order."""
        known = lake.names()
        if "parameters" in known:
            rows = lake.query("SELECT DISTINCT name FROM parameters ORDER BY name")
            names = rows.column("name").to_pylist()
        elif "samples" in known:
            where = self.name_condition()
            sql = "SELECT DISTINCT parameter AS name FROM samples"
            rows = lake.query(
                f"{sql} WHERE {where} ORDER BY name" if where else f"{sql} ORDER BY 1"
            )
            names = rows.column("name").to_pylist()
        else:
            names = []
        return _matching(self.filters, names)

    def _indices(self, lake: "Lake") -> tuple[dict[str, set[int]], bool]:
        """The indices of the parameters by journal: an index means nothing without its journal.

        And whether one of them is also another parameter's, in another table of the journal.
        """
        if "parameters" not in lake.names():
            return {}, False
        rows = lake.table("parameters").to_arrow(("journal", "index", "name"))
        names = rows.column("name").to_pylist()
        found: dict[str, set[int]] = {}
        chosen = match_topics(self.filters, names)
        table = zip(
            chosen,
            rows.column("journal").to_pylist(),
            rows.column("index").to_pylist(),
            strict=True,
        )
        others: dict[str, set[int]] = {}
        for is_chosen, journal, index in table:
            (found if is_chosen else others).setdefault(journal, set()).add(index)
        return found, any(some & others.get(journal, set()) for journal, some in found.items())

    def name_condition(self) -> str:
        """The condition on the column `parameter`; empty if everything is chosen."""
        if "#" in self.filters:
            return ""
        either = [_filter_condition(one) for one in self.filters]
        return f"({' OR '.join(either)})"


def _matching(filters: Sequence[str], names: Sequence[str]) -> list[str]:
    return [
        name
        for name, is_chosen in zip(names, match_topics(filters, names), strict=True)
        if is_chosen
    ]


def _filter_condition(text: str) -> str:
    """The condition on the name: a range that statistics can use, and the exact pattern."""
    levels = text.split("/")
    fixed = next((place for place, one in enumerate(levels) if one in ("+", "#")), len(levels))
    if fixed == len(levels):
        return f"parameter = {quoted(text)}"
    pattern = "/".join("[^/]*" if one == "+" else re.escape(one) for one in levels)
    if levels[-1] == "#":
        pattern = pattern.removesuffix(re.escape("#")).removesuffix("/") + "(/.*)?"
    if not fixed:
        return f"parameter ~ {quoted(f'^{pattern}$')}"
    above = "/".join(levels[:fixed])
    # 0 follows / in Unicode: a name below `above` is less than that.
    range_ = f"parameter >= {quoted(above)} AND parameter < {quoted(above + '0')}"
    return f"({range_} AND parameter ~ {quoted(f'^{pattern}$')})"


def _index_ranges(indices: dict[str, set[int]]) -> dict[str, list[tuple[int, int]]]:
    """Indices that follow each other as one range, by journal."""
    found: dict[str, list[tuple[int, int]]] = {}
    for journal, some in indices.items():
        ranges = found.setdefault(journal, [])
        for index in sorted(some):
            if ranges and ranges[-1][1] == index - 1:
                ranges[-1] = (ranges[-1][0], index)
            else:
                ranges.append((index, index))
    return found


def _index_condition(ranges: dict[str, list[tuple[int, int]]]) -> str:
    def of_journal(journal: str, some: list[tuple[int, int]]) -> str:
        either = " OR ".join(
            f"index = {first}" if first == last else f"index BETWEEN {first} AND {last}"
            for first, last in some
        )
        return f"(journal = {quoted(journal)} AND ({either}))"

    return f"({' OR '.join(of_journal(*one) for one in ranges.items())})"
