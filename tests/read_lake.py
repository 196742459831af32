"""All rows of a lake, for tests to look at."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from slipring.lake.status import open_table


def read_lake(lake: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """All rows, or some columns of them, sorted by journal and offset."""
    rows = open_table(lake).to_pyarrow_table()
    ordered = rows.sort_by([(name, "ascending") for name in ("journal", "offset")])
    return ordered if columns is None else ordered.select(columns)
