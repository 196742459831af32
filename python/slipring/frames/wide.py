"""Samples as a pandas DataFrame: a row for each time, a column for each parameter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from slipring.errors import SlipringError
from slipring.frames.arrays import Times, Values, distinct, ranks
from slipring.frames.run import Run
from slipring.frames.table import Table

if TYPE_CHECKING:
    import pandas as pd

CELLS_MAX = 50_000_000
"""Rows times columns; above it, samples at many different times would fill memory with gaps."""


def to_pandas(table: Table, runs: Sequence[Run]) -> "pd.DataFrame":
    """Later samples of a parameter with the same time replace earlier ones."""
    try:
        import pandas as pd
    except ImportError:
        raise SlipringError(
            "Frame.to_pandas needs pandas: install it, or use Frame.to_arrow"
        ) from None
    runs = [run for run in runs if len(run)]
    times = [run.sample_times() for run in runs]
    rows, row_of = np.unique(np.concatenate([*times, np.empty(0, np.int64)]), return_inverse=True)
    columns = [
        _part(table, _Columns(runs, row_of, is_text=is_text), len(rows))
        for is_text in (False, True)
    ]
    index = pd.DatetimeIndex(rows.astype("datetime64[ns]"), name="time").tz_localize("UTC")
    made = pd.concat(columns, axis=1)
    return made.set_axis(index, axis="index")


class _Columns:
    """The samples of all runs of texts, or of all other runs, with their rows."""

    def __init__(self, runs: Sequence[Run], row_of: Times, *, is_text: bool) -> None:
        ends = np.cumsum([len(run) for run in runs])
        chosen = [
            (run, row_of[end - len(run) : end])
            for run, end in zip(runs, ends, strict=True)
            if run.kind.is_fixed is not is_text
        ]
        self.is_text = is_text
        self.rows = [rows for _, rows in chosen]
        self.indices = [run.sample_indices() for run, _ in chosen]
        self.values: list[Values] = [
            run.values if is_text else run.sample_numbers() for run, _ in chosen
        ]


def _part(table: Table, chosen: _Columns, rows: int) -> "pd.DataFrame":
    import pandas as pd

    columns = distinct(chosen.indices)
    if rows * len(columns) > CELLS_MAX:
        raise SlipringError(
            f"{rows} times of {len(columns)} parameters are too many cells, most of them empty;"
            " use Frame.to_arrow, which has a row for each sample"
        )
    gap, kind = (None, object) if chosen.is_text else (np.nan, np.float64)
    cells = np.full((rows, len(columns)), gap, kind)
    for row_of, indices, values in zip(chosen.rows, chosen.indices, chosen.values, strict=True):
        cells[row_of, ranks(columns, indices)] = values
    return pd.DataFrame(cells, columns=table.names(columns))
