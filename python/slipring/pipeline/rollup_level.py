"""One of the rollup tables: windows of 1 s, 1 min or 1 h, combined with what the lake has."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.lake.job_specs import ROLLUPS
from slipring.lake.storage import LakeLocation
from slipring.pipeline.slice_layout import SliceLayout
from slipring.pipeline.slice_table import SliceTable
from slipring.pipeline.steps.numbers import ints
from slipring.pipeline.steps.partial_rows import (
    PARTIAL_SCHEMA,
    TIME,
    coarsened,
    combined,
    in_windows,
    is_exact,
)
from slipring.pipeline.steps.partial_spans import GAPS_MAX

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS
COARSE_GAPS_MAX = 4
"""Gaps that a row of 1 min or 1 h keeps; if others are filled, it is made from shorter windows."""


@dataclass(frozen=True)
class WindowSize:
    """A length of windows, and how much time one file of them covers."""

    word: str
    window_ns: int
    slice_ns: int

    @property
    def gaps_max(self) -> int:
        return GAPS_MAX if self.window_ns == SECOND_NS else COARSE_GAPS_MAX


SIZES = (
    WindowSize("1s", SECOND_NS, 2 * SECOND_NS),
    WindowSize("1m", MINUTE_NS, 5 * MINUTE_NS),
    WindowSize("1h", HOUR_NS, 6 * HOUR_NS),
)
"""From short to long. A slice never crosses midnight, so it is in one partition."""


def with_results(rows: pa.Table) -> pa.Table:
    """Add the columns for people: means, and the times of the first and the last sample."""
    count = rows.column("count")
    mean = pc.divide(rows.column("sum"), pc.if_else(pc.equal(count, 0), None, count))
    span = rows.column("weighted_ns")
    weighted = pc.divide(rows.column("weighted"), pc.if_else(pc.equal(span, 0), None, span))
    made = {
        "mean": mean,
        "time_weighted_mean": pc.coalesce(weighted, rows.column("last")),
        "first_time": _micros(rows.column("first_ns")),
        "last_time": _micros(rows.column("last_ns")),
    }
    for name, column in made.items():
        rows = rows.append_column(name, column)
    return rows


def _micros(times_ns: pa.ChunkedArray) -> pa.ChunkedArray:
    """Rounded down, as the window's own time is."""
    known = times_ns.is_valid().to_numpy()
    micros = times_ns.fill_null(0).to_numpy() // 1_000
    return pa.chunked_array([pa.array(micros, mask=~known).cast(TIME)])


class RollupLevel:
    """The table of one length of windows."""

    def __init__(
        self,
        lake: LakeLocation,
        journal: str,
        size: WindowSize,
        finer: "RollupLevel | None",
        rows_open_max: int,
    ) -> None:
        self.size = size
        self.finer = finer
        layout = SliceLayout(
            spec=ROLLUPS[size.word],
            slice_ns=size.slice_ns,
            state=PARTIAL_SCHEMA,
            combine=partial(combined, window_ns=size.window_ns, gaps_max=size.gaps_max),
            finish=with_results,
            rows_open_max=rows_open_max,
        )
        self.table: SliceTable = SliceTable(lake, layout, journal)

    def merge(self, partials: pa.Table, end: int) -> None:
        """Combine partials of 1 s with the table; they are complete up to the offset `end`."""
        pieces = in_windows(partials, self.size.window_ns)
        before = self._overlaps(pieces) if self.finer else None
        changed = self.table.merge(pieces, end)
        if before is not None:
            self._make_again(changed, before)

    def _overlaps(self, pieces: pa.Table) -> set[tuple[int, int]]:
        """The windows, by index and begin, that are not exact before they are combined."""
        found = {*_inexact(pieces)}
        for window in np.unique(ints(pieces, "window_ns")).tolist():
            found |= {*_inexact(self.table.rows(window, window + 1))}
        return found

    def _make_again(self, changed: pa.Table, before: set[tuple[int, int]]) -> None:
        """Make windows from shorter ones if late samples are between those that were combined."""
        assert self.finer is not None
        lost = {*_inexact(changed)} - before
        for window in sorted({window for _, window in lost}):
            wanted = pa.array([index for index, begin in lost if begin == window], pa.int32())
            finer = self.finer.table.rows(window, window + self.size.window_ns)
            finer = finer.filter(pc.is_in(finer.column("index"), wanted))
            made = coarsened(finer, self.size.window_ns, self.size.gaps_max)
            self.table.replace(_confirmed(made, changed))


def _inexact(rows: pa.Table) -> list[tuple[int, int]]:
    found = rows.filter(pa.array(~is_exact(rows)))
    return [*zip(ints(found, "index").tolist(), ints(found, "window_ns").tolist(), strict=True)]


def _confirmed(made: pa.Table, known: pa.Table) -> pa.Table:
    """The rows with as many samples as are known; retention may have removed shorter windows."""
    keys = ("index", "window_ns", "count", "bad")
    counts = {*zip(*(ints(known, name).tolist() for name in keys), strict=True)}
    rows = zip(*(ints(made, name).tolist() for name in keys), strict=True)
    return made.filter(pa.array([row in counts for row in rows], pa.bool_()))
