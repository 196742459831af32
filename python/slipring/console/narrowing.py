"""What a visitor who may watch only some topics is shown: nothing of the others, of clients, or of
the broker's figures.
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, cast

from slipring.console.catalog import Catalog, Columns, Json
from slipring.console.visitor import Visitor
from slipring.status.engine import BrokerFigures
from slipring.status.message import LiveMessage

HIDDEN = (
    "rates",
    "table",
    "requests",
    "clients",
    "away",
    "holders",
    "owners",
    "limits",
    "log",
    "alarms",
)
"""Parts of the live message that tell of others; figures are 0, lists are empty."""


def narrowed(told: LiveMessage, visitor: Visitor) -> LiveMessage:
    """A live message without what the visitor may not watch; the other one stays as it is."""
    message: dict[str, Any] = dict(told)
    for part in (*BrokerFigures.__annotations__, *HIDDEN, "streams"):
        message[part] = _blank(message[part])
    topics = visitor.may_watch_each([one["topic"] for one in told["values"]])
    message["values"] = [
        one for one, is_seen in zip(told["values"], topics, strict=True) if is_seen
    ]
    streams = told["streams"]["shown"]
    named = visitor.may_watch_each([one["name"] for one in streams])
    message["streams"]["shown"] = [one for one, seen in zip(streams, named, strict=True) if seen]
    message["prefixes"] = [
        one for one in told["prefixes"] if visitor.may_watch_all_of(below(one["prefix"]))
    ]
    message["events"] = []
    summary = dict(told["broker"])
    journal = cast("Mapping[str, Any]", summary["journal"])
    blank = _blank(journal) | {"durability": journal["durability"], "state": "off"}
    blank["durability"] = blank["durability"] | {"journaled": [], "rules": []}
    summary["journal"] = blank | {"archive": None, "receipt": None, "reason": None, "advice": None}
    message["broker"] = summary
    return cast("LiveMessage", message)


def below(prefix: str) -> str:
    """The filter of everything that a prefix counts."""
    return f"{prefix}/#"


def _blank(value: Any) -> Any:
    """The same shape, without what it says."""
    if isinstance(value, Mapping):
        return {key: _blank(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, bool):
        return False
    return 0 if isinstance(value, int | float) else value


class CatalogView:
    """The catalog as one visitor sees it: only the parameters that it may watch."""

    def __init__(self, catalog: Catalog, visitor: Visitor) -> None:
        """Nothing is kept for a visitor who may watch everything."""
        self._catalog = catalog
        self._visitor = visitor
        self._positions: tuple[Columns, int, Sequence[int]] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the visitor may watch everything."""
        return self._visitor.watched == "all"

    @property
    def key(self) -> tuple[object, ...]:
        """The same for all who may watch the same by the plan in force."""
        return self._visitor.key

    def positions(self, columns: Columns) -> Sequence[int]:
        """The positions of the parameters that the visitor may watch, in the order of names."""
        if self.is_whole:
            return range(len(columns.names))
        plan, kept = self._visitor.plan, self._positions
        if kept is None or kept[0] is not columns or kept[1] != plan:
            seen = self._visitor.may_watch_each(columns.names)
            own = array("I", (at for at, is_seen in enumerate(seen) if is_seen))
            kept = self._positions = (columns, plan, own)
        return kept[2]

    @property
    def names(self) -> list[str]:
        """Their names, sorted."""
        columns = self._catalog.columns
        return [columns.names[at] for at in self.positions(columns)]

    async def refresh(self) -> None:
        """Read the table if it has changed."""
        await self._catalog.refresh()

    def ask(self, name: str, body: Json) -> Json:
        """Ask the engine about the table, by names that were found here."""
        return self._catalog.ask(name, body)
