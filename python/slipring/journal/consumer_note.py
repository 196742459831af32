"""What a consumer says of its work beside its position: rows written, by table. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TABLES_MAX = 8
"""A note with more tables is cut: each is a label of a metric."""
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,31}")
ROWS_END = 1 << 63


@dataclass(frozen=True)
class ConsumerNote:
    """Rows by table. A row that is corrected counts each time it is written."""

    rows: Mapping[str, int] = field(default_factory=dict)
    """Since the run of the consumer began."""
    last: Mapping[str, int] = field(default_factory=dict)
    """Of its last commit."""

    def then(self, rows: Mapping[str, int]) -> "ConsumerNote":
        """The note after a commit of some more rows."""
        added = {name: self.rows.get(name, 0) + count for name, count in rows.items()}
        return ConsumerNote({**self.rows, **added}, dict(rows))

    def up_to(self, rows: Mapping[str, int]) -> "ConsumerNote":
        """The note when there are so many rows in all; the same if there are no more."""
        more = {name: count - self.rows.get(name, 0) for name, count in rows.items()}
        return self.then(_some(more)) if any(more.values()) else self

    def encode(self) -> str:
        """As the journal keeps it."""
        told = {"rows": self.rows, "last": self.last}
        return json.dumps({name: _some(rows) for name, rows in told.items()}, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> "ConsumerNote":
        """Take what is understood: others may write notes too, and need not mean rows."""
        try:
            told = json.loads(text or "{}")
        except (ValueError, RecursionError):
            told = {}
        parts = told if isinstance(told, dict) else {}
        return cls(_understood(parts.get("rows")), _understood(parts.get("last")))


def _some(rows: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in rows.items() if count}


def _understood(told: Any) -> dict[str, int]:
    rows = told.items() if isinstance(told, dict) else ()
    found = {name: count for name, count in rows if _TABLE.fullmatch(name) and _is_count(count)}
    return dict(sorted(found.items())[:TABLES_MAX])


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < ROWS_END
