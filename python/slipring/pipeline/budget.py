"""The job `budget` (V4): bytes of vehicles and days against the cap. Must never import pyspark."""

import numpy as np
import pyarrow as pa

from slipring.lake.specs import BUDGET
from slipring.lake.storage import LakeLocation
from slipring.pipeline.budget_section import BudgetSection
from slipring.pipeline.slice_job import SliceJob
from slipring.pipeline.slice_layout import SliceLayout
from slipring.pipeline.slice_table import SliceTable
from slipring.pipeline.steps.budget_rows import (
    BUDGET_SCHEMA,
    DAY_NS,
    combined_bytes,
    with_forecast,
)
from slipring.pipeline.steps.numbers import ints


def budget_job(lake: LakeLocation, journal: str, section: BudgetSection | None = None) -> SliceJob:
    """The job whose rows are those of `steps.budget.by_day`."""
    section = section or BudgetSection()

    def finish(days: pa.Table) -> pa.Table:
        before = [
            table.rows(day - 7 * DAY_NS, day - 6 * DAY_NS)
            for day in np.unique(ints(days, "window_ns")).tolist()
        ]
        return with_forecast(days, pa.concat_tables(before), section.cap_bytes)

    layout = SliceLayout(
        spec=BUDGET,
        slice_ns=DAY_NS,
        state=BUDGET_SCHEMA,
        combine=combined_bytes,
        finish=finish,
        rows_open_max=section.rows_open_max,
    )
    table = SliceTable(lake, layout, journal)
    return SliceJob(table, section.every)
