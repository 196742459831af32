"""What a journal's messages are about: every parameter, removed ones too, and its streams."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slipring.client import Bus
from slipring.frames import Table
from slipring.model import Entry, Parameter
from slipring.native import journal_table, match_topics


class Definitions:
    """A table, and the parameters whose names others have now."""

    def __init__(
        self,
        identity: int,
        entries: Iterable[Entry],
        flaws: Sequence[str] = (),
        streams: Mapping[str, dict[str, Any]] | None = None,
    ) -> None:
        self.entries = sorted(entries, key=lambda entry: entry.index)
        """By index; a name may come several times, the last one is the current one."""
        self.flaws = list(flaws)
        """What could not be read on the way to them."""
        self.streams = dict(streams or {})
        """The streams that are there, by topic: `media`, and what else is said of each."""
        self.table = Table(identity)
        for entry in self.entries:
            self.table.put(entry)

    def matching(self, filters: Sequence[str]) -> list[Entry]:
        """Those whose topics one of the filters matches, by name: a group stands together."""
        chosen = match_topics(filters, [entry.name for entry in self.entries])
        found = [entry for entry, is_chosen in zip(self.entries, chosen, strict=True) if is_chosen]
        return sorted(found, key=lambda entry: (entry.name, entry.index))

    def named(self, names: Iterable[str]) -> list[Entry]:
        """Those with these names, in the order of the names."""
        by_name: dict[str, list[Entry]] = {}
        for entry in self.entries:
            by_name.setdefault(entry.name, []).append(entry)
        return [entry for name in names for entry in by_name[name]]


async def of_broker(bus: Bus) -> Definitions:
    """The same definitions, asked of the broker that has the journal open."""
    identity, entries = await bus.remembered()
    return Definitions(identity, entries)


def of_journal(folder: Path) -> Definitions:
    """The definitions in a journal; none where nothing was declared."""
    found, streams, flaws = journal_table(folder)
    listed: dict[str, Any] = json.loads(found) if found else {"table": 0, "parameters": []}
    entries = [
        Entry(one["index"], one["name"], Parameter.of_json(one)) for one in listed["parameters"]
    ]
    told = {name: json.loads(text) for name, text in streams}
    return Definitions(listed["table"], entries, flaws, told)
