"""The table `subscriptions`: arrivals that clients report, exactly once. Must never import pyspark.

What cannot be read, or finds no room, is set aside with the reason, before the rest is committed. A
run that was killed meets some reports again, and leaves out those that were set aside already.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.lake.files import constant, write_file
from slipring.lake.specs import SET_ASIDE, SUBSCRIPTIONS
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.model.arrival_report import ARRIVALS_TOPIC
from slipring.pipeline.latency_section import LatencySection
from slipring.pipeline.slice_job import SliceJob
from slipring.pipeline.slice_layout import SliceLayout
from slipring.pipeline.slice_table import SliceTable
from slipring.pipeline.steps.numbers import ints
from slipring.pipeline.steps.subscription_rows import (
    ARRIVAL_SCHEMA,
    PER_SUBSCRIBER_MAX,
    TIME,
    bounded,
    combined_arrivals,
    windowed,
    with_judgement,
)

WINDOW_NS = 60_000_000_000
SLICE_NS = 10 * WINDOW_NS

ReportsOf = Callable[[int, int], pa.Table]
"""Gives the rows of `steps.subscriptions.reports` of a range of offsets."""


def aside_app(journal: str) -> str:
    """The name under which `set_aside` records how far reports of a journal were set aside."""
    return f"slipring/arrivals/{journal}"


class ReportedArrivals:
    """The reports of one journal, as rows of the lake."""

    def __init__(
        self, lake: LakeLocation, journal: str, section: LatencySection | None = None
    ) -> None:
        section = section or LatencySection()
        layout = SliceLayout(
            spec=SUBSCRIPTIONS,
            slice_ns=SLICE_NS,
            state=ARRIVAL_SCHEMA,
            combine=combined_arrivals,
            finish=with_judgement,
            rows_open_max=section.rows_open_max,
        )
        self._lake = lake
        self._journal = journal
        self._window_max = section.subscriptions_max
        self._table = SliceTable(lake, layout, journal)
        self._job = SliceJob(self._table, section.every)
        self.position: Callable[[], int | None] = self._job.position
        self.finish: Callable[[], None] = self._job.finish
        self.rows_written: Callable[[], dict[str, int]] = self._job.rows_written

    def write(self, reports_of: ReportsOf, start: int, end: int) -> None:
        """Add the reports of the offsets [start, end), without those that the table has."""
        self._job.write(
            lambda begin, until: self._kept(reports_of(begin, until), until), start, end
        )

    def _kept(self, rows: pa.Table, end: int) -> pa.Table:
        """The rows for the table; the others are set aside."""
        is_good = pc.is_null(rows.column("reason"))
        good, bad = rows.filter(is_good), rows.filter(pc.invert(is_good))
        found = bounded(good, self._known(good), WINDOW_NS, self._window_max)
        self._set_aside(pa.concat_tables([bad, self._without_room(found.refused, good)]), end)
        return windowed(found.kept, WINDOW_NS)

    def _known(self, rows: pa.Table) -> pa.Table:
        """What the table has of the windows of these rows."""
        windows = np.unique(ints(rows, "receive_ns") // WINDOW_NS * WINDOW_NS).tolist()
        found = [self._table.rows(begin, begin + WINDOW_NS) for begin in windows]
        return pa.concat_tables([ARRIVAL_SCHEMA.empty_table(), *found])

    def _without_room(self, refused: pa.Table, rows: pa.Table) -> pa.Table:
        """A row for each report that has a refused subscription, with the reason."""
        payloads = rows.filter(pc.is_valid(rows.column("payload")))
        mine = payloads.filter(pc.is_in(payloads.column("offset"), refused.column("offset")))
        reason = (
            f"not all of its subscriptions are counted: a minute has room for {PER_SUBSCRIBER_MAX} "
            f"of one subscriber, and for {self._window_max} of all together"
        )
        place = mine.schema.get_field_index("reason")
        return mine.set_column(place, "reason", pa.array([reason] * mine.num_rows, pa.string()))

    def _set_aside(self, rows: pa.Table, end: int) -> None:
        if not rows.num_rows:
            return
        table, app = LakeTable.open(self._lake, SET_ASIDE), aside_app(self._journal)
        before = table.committed(app)
        new = rows.filter(pc.greater_equal(rows.column("offset"), before or 0)).sort_by("offset")
        if not new.num_rows:
            return
        count = new.num_rows
        made = pa.table(
            {
                "journal": constant(self._journal, count),
                "offset": new.column("offset"),
                "receive_time": pa.array(ints(new, "receive_ns") // 1_000).cast(TIME),
                "topic": constant(ARRIVALS_TOPIC, count),
                "publisher": new.column("subscriber"),
                "bytes": new.column("payload"),
                "reason": new.column("reason"),
            }
        )
        files = write_file(self._lake, SET_ASIDE, made.combine_chunks().to_batches())
        table.commit(files, {app: end}, after={app: before})
