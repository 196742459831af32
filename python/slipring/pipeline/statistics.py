"""The statistics of a file in the table's log, by which readers count rows and skip files.

They must cover every column but those of bytes: for a missing column delta-rs gives Arrow
"topic >= null", and a query by that column then finds nothing.
"""

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# A topic may have 65,535 bytes; the log needs only enough to tell files apart.
TEXT_MAX = 256
_LAST_CHARACTER = "\U0010ffff"


class Statistics:
    """The number of rows of one file, and the bounds of each column."""

    def __init__(self) -> None:
        self.rows = 0
        self.least: dict[str, Any] = {}
        self.most: dict[str, Any] = {}

    def add(self, rows: pa.RecordBatch) -> None:
        self.rows += rows.num_rows
        for name in rows.schema.names:
            if name not in ("payload", "properties"):
                bounds = pc.min_max(rows.column(name)).as_py()
                self.least[name] = min(self.least.get(name, bounds["min"]), bounds["min"])
                self.most[name] = max(self.most.get(name, bounds["max"]), bounds["max"])

    def to_json(self) -> str:
        return json.dumps(
            {
                "numRecords": self.rows,
                "minValues": {name: lower(value) for name, value in self.least.items()},
                "maxValues": {name: upper(value) for name, value in self.most.items()},
                "nullCount": dict.fromkeys(self.least, 0),
            }
        )


def lower(value: Any) -> Any:
    """A short value that is not above this one."""
    return value[:TEXT_MAX] if isinstance(value, str) else _plain(value)


def upper(value: Any) -> Any:
    """A short value that is not below this one: text is cut, and the highest character follows."""
    if not isinstance(value, str):
        return _plain(value)
    if len(value) <= TEXT_MAX or value[TEXT_MAX] == _LAST_CHARACTER:
        return value
    return value[:TEXT_MAX] + _LAST_CHARACTER


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return value
