"""The records of an audit, read from its journal: newest first, in pages, or as they come.

Only reads: nothing changes or removes a record.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from slipring.errors import JournalDamaged
from slipring.journal.native_columns import arrow_array
from slipring.journal.undamaged import undamaged
from slipring.native import JournalReader

Record = dict[str, Any]

STEP = 1_000
"""Records that are read at once."""
LOOKED_MAX = 100_000
"""Records that one page looks at: a filter that matches nothing ends there."""
PAGE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which records are wanted; an empty text means all."""

    user: str = ""
    client: str = ""
    kind: str = ""
    since_ns: int = 0

    def takes(self, record: Record) -> bool:
        """Whether a record is wanted."""
        wanted = {"user": self.user, "client": self.client, "kind": self.kind}
        is_meant = all(record[key] == text for key, text in wanted.items() if text)
        return is_meant and record["at_ns"] >= self.since_ns


class AuditReader:
    """Reads the audit of a folder; JournalError if there is none."""

    def __init__(self, folder: Path) -> None:
        """Open the journal of the audit."""
        self._reader = JournalReader(folder)

    def page(
        self, wanted: AuditFilter, most: int, before: int | None = None
    ) -> tuple[list[Record], int | None]:
        """The newest records before an offset, newest first; and where the next page begins."""
        newest = self._reader.end_offset()
        end = newest if before is None else min(before, newest)
        first = max(self._reader.first_offset, end - LOOKED_MAX)
        found: list[Record] = []
        while end > first and len(found) < most:
            start = max(first, end - STEP)
            read = [one for one in self.between(start, end) if wanted.takes(one)]
            for record in reversed(read):
                if len(found) == most:
                    break
                found.append(record)
                end = record["offset"]
            else:
                end = start
        return found, (end if end > self._reader.first_offset else None)

    def after(self, offset: int) -> list[Record]:
        """The records from an offset on, oldest first."""
        end = self._reader.end_offset()
        return self.between(offset, min(end, offset + LOOKED_MAX)) if end > offset else []

    def end_offset(self) -> int:
        """The offset of the next record."""
        return self._reader.end_offset()

    def between(self, start: int, end: int) -> list[Record]:
        """The records of a range, oldest first. A damaged part of it is one record that says so."""
        records: list[Record] = []

        def damaged(offset: int, damage: JournalDamaged) -> None:
            at_ns = records[-1]["at_ns"] if records else 0
            records.append(_unreadable(offset, min(damage.end, end), at_ns, str(damage)))

        start = max(start, self._reader.first_offset)
        for _, columns in undamaged(self._reader, start, end, PAGE_BYTES, on_damage=damaged):
            count = len(columns)
            offsets = arrow_array(pa.int64(), count, (None, columns.offset))
            payloads = arrow_array(pa.binary(), count, (None, *columns.payload))
            for offset, payload in zip(offsets.to_pylist(), payloads.to_pylist(), strict=True):
                records.append({"offset": offset, **json.loads(payload)})
        return records


def _unreadable(offset: int, end: int, at_ns: int, why: str) -> Record:
    """In place of records that cannot be read: the journal has them, but not as they were."""
    nothing = dict.fromkeys(("user", "client", "address", "listener", "proof", "right", "topic"))
    told = {"outcome": "lost", "detail": why, "count": end - offset, "rule": None}
    return {"offset": offset, "at_ns": at_ns, "kind": "lost", **nothing, **told}
