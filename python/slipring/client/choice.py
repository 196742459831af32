"""What a selection chooses: filters, or names that the broker keeps as a list."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from slipring.client.connection import SELECTION
from slipring.client.desk import Desk, in_requests
from slipring.errors import InvalidTopic
from slipring.frames.table import Table
from slipring.model import Entry
from slipring.native import check_filter

TOLD = 5
"""Names that a log message lists; the others are counted."""
LABEL_MAX = 10_000
"""Characters of the names or filters in a label."""
NOT_TEXT = "filters are texts, one after the other; names are a list: select(names=[...])"


class ResolvedChoice(NamedTuple):
    """What to subscribe to, and names that are not there, each with the reason."""

    filters: tuple[str, ...]
    missing: dict[str, str]


class ParameterChoice:
    """Filters as they are, or names as lists: several lists if one request cannot hold them."""

    def __init__(self, filters: Sequence[str], names: Iterable[str] | str | None) -> None:
        if bool(filters) == (names is not None):
            raise ValueError("select by filters, or by names=[...]")
        for one in filters:
            _check(one)
        self.filters: tuple[str, ...] = tuple(filters)
        given = [names] if isinstance(names, str) else names
        self.names: tuple[str, ...] | None = None if given is None else tuple(dict.fromkeys(given))
        if self.names == ():
            raise ValueError("no names are given")

    @property
    def label(self) -> str:
        """The choice in a few words, for a person."""
        chosen = self.names or self.filters
        more = f" and {len(chosen) - TOLD} more" if len(chosen) > TOLD else ""
        return ", ".join(chosen[:TOLD])[:LABEL_MAX] + more

    def entries(self, table: Table) -> list[Entry]:
        """The parameters of this table that are chosen."""
        if self.names is None:
            return table.matching(*self.filters)
        return [entry for name in self.names if (entry := table.get(name)) is not None]

    def absent(self, table: Table, missing: Iterable[str]) -> str:
        """The names or filters that choose nothing in this table, for a person; empty if none."""
        chosen = missing if self.names is not None else self.filters
        absent = [one for one in chosen if self.names is not None or not table.matching(one)]
        more = f" and {len(absent) - TOLD} more" if len(absent) > TOLD else ""
        return ", ".join(map(repr, absent[:TOLD])) + more

    async def resolve(self, desk: Desk[Any]) -> ResolvedChoice:
        """Asks the broker for lists of the names."""
        if self.names is None:
            return ResolvedChoice(self.filters, {})
        lists, missing = list[str](), dict[str, str]()
        for some in in_requests(self.names):
            answer = await desk.ask("select", {"names": some})
            lists.append(SELECTION + answer["selection"])
            absent = (
                name for name, index in zip(some, answer["indices"], strict=True) if index is None
            )
            words = {error["name"]: error["message"] for error in answer["errors"]}
            missing |= {name: words.get(name, "no parameter has this name") for name in absent}
        return ResolvedChoice(tuple(dict.fromkeys(lists)), missing)


def _check(one: str) -> None:
    if not isinstance(one, str):
        raise TypeError(NOT_TEXT)
    check_filter(one)
    if one.startswith("$share/"):
        raise InvalidTopic(f"a selection cannot be shared, as {one!r} would be; leave $share/ out")
