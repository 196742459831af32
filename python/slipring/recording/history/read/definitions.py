"""What a journal's messages are about: all its parameters, removed ones too, and its streams."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from slipring.client import Bus
from slipring.errors import RecordingError
from slipring.frames import Table
from slipring.model import Entry
from slipring.native import journal_table, match_topics
from slipring.recording.history.shape.export_columns import ExportColumns


class Definitions:
    """The table of a journal, with the parameters whose names others have taken over."""

    def __init__(
        self,
        identity: int,
        entries: Iterable[Entry],
        flaws: Sequence[str] = (),
        streams: Mapping[str, dict[str, Any]] | None = None,
    ) -> None:
        self.entries: list[Entry] = sorted(entries, key=lambda entry: entry.index)
        """By index. Several may have one name; the last of them is the current one."""
        self.flaws: list[str] = list(flaws)
        """What could not be read in the journal's records."""
        self.streams: dict[str, dict[str, Any]] = dict(streams or {})
        """The definition of each stream, by topic."""
        self.table: Table = Table(identity)
        for entry in self.entries:
            self.table.put(entry)

    def matching(self, filters: Sequence[str]) -> list[Entry]:
        """The parameters whose topics one of the filters matches, sorted by name."""
        chosen = match_topics(filters, [entry.name for entry in self.entries])
        found = [entry for entry, is_chosen in zip(self.entries, chosen, strict=True) if is_chosen]
        return sorted(found, key=lambda entry: (entry.name, entry.index))

    def columns_matching(self, filters: Sequence[str], where: str) -> ExportColumns:
        """The columns of all parameters that the filters match; RecordingError if there is none."""
        entries = self.matching(filters)
        if not entries:
            raise RecordingError(
                f"no parameter of {where} matches {' or '.join(map(repr, filters))}; "
                f"its table has {len(self.table):,} parameters"
            )
        return ExportColumns(self.table, entries)

    def columns_named(self, names: Iterable[str]) -> ExportColumns:
        """The columns of these parameters, in the order of the names; each is in the table."""
        by_name: dict[str, list[Entry]] = {name: [] for name in names}
        if not by_name:
            raise RecordingError("no names are given: write a parameter's name in each line")
        for entry in self.entries:
            if entry.name in by_name:
                by_name[entry.name].append(entry)
        return ExportColumns(self.table, [entry for some in by_name.values() for entry in some])


async def of_broker(bus: Bus) -> Definitions:
    """The definitions of the broker that has the journal open."""
    identity, entries = await bus.remembered()
    return Definitions(identity, entries)


def of_journal(folder: Path) -> Definitions:
    """The definitions in a journal; empty if nothing was declared."""
    table_json, streams, flaws = journal_table(folder)
    listed: dict[str, Any] = {"table": 0, "parameters": []}
    if table_json:
        listed = json.loads(table_json)
    entries = map(Entry.of_json, listed["parameters"])
    definitions = {name: json.loads(text) for name, text in streams}
    return Definitions(listed["table"], entries, flaws, definitions)
