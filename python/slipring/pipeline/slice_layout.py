"""How a table is laid out whose rows are corrected in place. Knows neither the lake nor Spark."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from slipring.lake.table_spec import TableSpec


@dataclass(frozen=True)
class SliceLayout:
    """A table in slices: a file holds the rows of a few windows, and is replaced when one changes.

    `state` has the columns that are kept in memory, with `window_ns` among them. `combine` makes
    one row of all that belong together, sorted by `window_ns`. `finish` adds the columns that
    follow from them.
    """

    spec: TableSpec
    slice_ns: int
    state: pa.Schema
    combine: Callable[[pa.Table], pa.Table]
    finish: Callable[[pa.Table], pa.Table]
    rows_open_max: int
    """Rows that are kept in memory; but the slice that was used last is always kept."""
