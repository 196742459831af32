"""What a visitor who may watch only some topics is shown: nothing of the others, of clients, or of
the broker's figures.
"""

from collections.abc import Mapping
from typing import Any, cast

from slipring.console.catalog import Catalog, Json
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
        self._names: tuple[tuple[int, int], list[str]] | None = None

    @property
    def names(self) -> list[str]:
        """The names of the parameters that the visitor may watch, sorted."""
        if self._visitor.watched == "all":
            return self._catalog.names
        if self._names is None or self._names[0] != self.revision:
            every = self._catalog.names
            seen = self._visitor.may_watch_each(every)
            own = [name for name, is_seen in zip(every, seen, strict=True) if is_seen]
            self._names = (self.revision, own)
        return self._names[1]

    @property
    def revision(self) -> tuple[int, int]:
        """Changes with the names, and with the plan."""
        return self._catalog.revision, self._visitor.plan

    async def refresh(self) -> None:
        """Read the names if the table has changed."""
        await self._catalog.refresh()

    async def found(self, search: str) -> list[str]:
        """The names that a search finds among them."""
        return await self._catalog.found(search, self.names)

    def ask(self, name: str, body: Json) -> Json:
        """Ask the engine about the table, by names that were found here."""
        return self._catalog.ask(name, body)
