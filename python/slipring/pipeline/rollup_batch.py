"""Rollups through Spark: the partials of a batch are merged by its workers, not by the driver."""

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import DataFrame

from slipring.pipeline.slice_job import RowsOf
from slipring.pipeline.steps.rollup import merged


def merged_rows(partials_of: Callable[[int, int], DataFrame]) -> RowsOf:
    """Takes what gives the partials of a range of offsets; merges them and fetches the rows."""

    def rows(start: int, end: int) -> pa.Table:
        return merged(partials_of(start, end), "1s").toArrow()

    return rows
