"""Writes reports of a file into the lake and kills itself at a step of the way.

Usage: killed_arrivals.py STEP REPORTS LAKE; REPORTS is an Arrow file with rows of `reported`. The
step is `aside` or `committed`: after the commit of what is set aside, or of the rows.
"""

import os
import signal
import sys
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.pipeline.latency_section import LatencySection
from slipring.pipeline.subscriptions import ReportedArrivals

JOURNAL = "0123456789abcdef"
TABLES = {"aside": "set_aside", "committed": "subscriptions"}


def rows_between(rows: pa.Table, start: int, end: int) -> pa.Table:
    offsets = rows.column("offset")
    return rows.filter(pc.and_(pc.greater_equal(offsets, start), pc.less(offsets, end)))


def carry(rows: pa.Table, lake: str, cut: int, end: int) -> None:
    """Write all rows before the offset `end`, from where the table ends, in batches of `cut`."""
    job = ReportedArrivals(LakeLocation.of(lake), JOURNAL, LatencySection(every=0))
    for start in range(job.position() or 0, end, cut):
        job.write(lambda a, b: rows_between(rows, a, b), start, min(start + cut, end))
    job.finish()


def die_after(name: str) -> None:
    """End this process when a table has been committed for the second time."""
    commit, left = LakeTable.commit, [2]

    def commit_and_die(self: LakeTable, *given: Any, **options: Any) -> None:
        commit(self, *given, **options)
        left[0] -= self.spec.name == name
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    LakeTable.commit = commit_and_die  # type: ignore[method-assign]


if __name__ == "__main__":
    step, file, lake = sys.argv[1:]
    with pa.OSFile(file) as source:
        found = pa.ipc.open_file(source).read_all()
    die_after(TABLES[step])
    carry(found, lake, cut=7, end=40)
