"""The statistics of a file in the table's log, by which readers count rows and skip files.

They must cover every column but those of bytes: for a missing column delta-rs gives Arrow
"topic >= null", and a query by that column then finds nothing. They come from the Parquet footer;
its writer has compared all values already. As in Parquet itself, NaN does not count for bounds.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

# A topic may have 65,535 bytes; the log needs only enough to tell files apart.
TEXT_MAX = 256
_LAST_CHARACTER = "\U0010ffff"


class Bounds(NamedTuple):
    """The least and the greatest value of a column (None if it is null everywhere), and nulls."""

    least: Any
    most: Any
    nulls: int


def log_statistics(
    footer: pq.FileMetaData,
    schema: pa.Schema,
    columns: Sequence[str],
    others: Mapping[str, Bounds],
) -> str:
    """The statistics of a file as JSON: of some columns from its footer, of others as given."""
    positions = {name: place for place, name in enumerate(schema.names)}
    bounds = {
        **{
            name: _from_footer(footer, positions[name], schema.field(name).type) for name in columns
        },
        **others,
    }
    known = {name: one for name, one in bounds.items() if one.least is not None}
    return json.dumps(
        {
            "numRecords": footer.num_rows,
            "minValues": {name: lower(one.least) for name, one in known.items()},
            "maxValues": {name: upper(one.most) for name, one in known.items()},
            "nullCount": {name: one.nulls for name, one in bounds.items()},
        }
    )


def _from_footer(footer: pq.FileMetaData, position: int, kind: pa.DataType) -> Bounds:
    found = [
        footer.row_group(group).column(position).statistics
        for group in range(footer.num_row_groups)
    ]
    nulls = sum(one.null_count for one in found)
    known = [one for one in found if one.has_min_max]
    if pa.types.is_floating(kind) and any(one.num_values and not one.has_min_max for one in found):
        # Parquet has no bounds for values that are all NaN. Let no query skip the file.
        return Bounds(-math.inf, math.inf, nulls)
    if not known:
        return Bounds(None, None, nulls)
    return Bounds(min(one.min for one in known), max(one.max for one in known), nulls)


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
