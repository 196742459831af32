"""The statistics of a file in the table's log, by which readers count rows and skip files.

They must cover every column but those of bytes: for a missing column delta-rs gives Arrow
"topic >= null", and a query by that column then finds nothing. They come from the Parquet footer;
its writer has compared all values already.
"""

import json
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# A topic may have 65,535 bytes; the log needs only enough to tell files apart.
TEXT_MAX = 256
_LAST_CHARACTER = "\U0010ffff"


def log_statistics(footer: pq.FileMetaData, schema: pa.Schema, columns: Sequence[str]) -> str:
    """The statistics of a whole file as JSON, for the named columns of it."""
    positions = {schema.names[place]: place for place in range(len(schema.names))}
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for name in columns:
        found = [
            footer.row_group(group).column(positions[name]).statistics
            for group in range(footer.num_row_groups)
        ]
        nulls[name] = sum(one.null_count for one in found)
        bounds = [(one.min, one.max) for one in found if one.has_min_max]
        is_float = pa.types.is_floating(schema.field(name).type)
        if is_float and len(bounds) < sum(one.num_values > 0 for one in found):
            # Parquet has no bounds for values that are all NaN. Let no query skip the file.
            bounds.append((-math.inf, math.inf))
        if bounds:
            least[name] = lower(min(low for low, _ in bounds))
            most[name] = upper(max(high for _, high in bounds))
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": least,
            "maxValues": most,
            "nullCount": nulls,
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
    if isinstance(value, date):
        return str(value)
    if isinstance(value, Decimal):
        return int(value)
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"  # JSON has no number for them
    return value
