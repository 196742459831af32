"""The job `latency`: ages of samples in the lake, exactly once. Must never import pyspark."""

from collections import defaultdict

import pyarrow as pa

from slipring.lake.specs import LATENCY
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.pipeline.latency_section import LatencySection
from slipring.pipeline.slice_job import SliceJob
from slipring.pipeline.slice_layout import SliceLayout
from slipring.pipeline.slice_table import SliceTable
from slipring.pipeline.steps.latency_rows import LATENCY_SCHEMA, combined_ages, with_percentiles

SLICE_NS = 3_600_000_000_000
"""An hour of minutes is in one file: there are few rows."""

COMMIT_SCHEMA = pa.schema([(name, pa.int64()) for name in ("start", "end", "committed_ns")])
"""A commit to the lake: the offsets [start, end), and when they became visible."""


def latency_job(
    lake: LakeLocation, journal: str, section: LatencySection | None = None
) -> SliceJob:
    """The job whose rows are those of `steps.latency.histogram`."""
    section = section or LatencySection()
    layout = SliceLayout(
        spec=LATENCY,
        slice_ns=SLICE_NS,
        state=LATENCY_SCHEMA,
        combine=combined_ages,
        finish=with_percentiles,
        rows_open_max=section.rows_open_max,
    )
    return SliceJob(SliceTable(lake, layout, journal), section.every)


def lake_commits(table: LakeTable, journal: str, start: int, end: int) -> pa.Table:
    """The commits that brought these offsets into a table, by its log, to the millisecond.

    Ask soon after a commit: a compacted file has the time of the newest one it was made of.
    """
    ranges: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for file in table.files():
        first, last = int(str(file.least["offset"])), int(str(file.most["offset"]))
        is_mine = str(file.least["journal"]) <= journal <= str(file.most["journal"])
        if is_mine and first < end and last >= start:
            ranges[file.time_ms].append((first, last + 1))
    rows = [
        (min(first for first, _ in some), max(last for _, last in some), time_ms * 1_000_000)
        for time_ms, some in sorted(ranges.items())
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    return pa.table(columns, schema=COMMIT_SCHEMA)
