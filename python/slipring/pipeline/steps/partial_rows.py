"""Partial rollups as Arrow tables: made from samples, combined, and cut into coarser windows.

A partial describes some samples of one parameter in one window. Combined partials describe all of
them, in whatever order they come. Their sums are added in the order of source time within a call,
so `sum` and `weighted` may differ in the last digits if the same samples are cut into other
partials; everything else is equal.

The time-weighted mean holds each value until the next sample of the window. Between two partials
there is a gap, in which the value before it is held; a partial that comes later may fill it. So the
row keeps its longest gaps (`gaps`, at most `gaps_max`). Example: samples at 0, 1, 4 and 5 s are
combined with the gap (1 s, 4 s, value at 1 s). Then a partial with samples at 2 and 3 s arrives:
the gap is divided into 1 to 2 s and 3 to 4 s, and the result is that of all six samples at once.

Partials that overlap in time cannot be divided. Both count, each with its own span, so that the
time-weighted mean is an average of the two; `overlaps` counts how often that was so.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from slipring.pipeline.steps.numbers import Ints, floats, group_starts, ints
from slipring.pipeline.steps.partial_spans import GAPS_MAX, NO_GAPS, joined

TIME = pa.timestamp("us", "UTC")
PARTIAL_SCHEMA = pa.schema(
    [
        pa.field("parameter", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("window_start", TIME, nullable=False),
        pa.field("window_ns", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("bad", pa.int64(), nullable=False),
        pa.field("min", pa.float64()),
        pa.field("max", pa.float64()),
        pa.field("sum", pa.float64()),
        pa.field("first", pa.float64()),
        pa.field("first_ns", pa.int64()),
        pa.field("last", pa.float64()),
        pa.field("last_ns", pa.int64()),
        pa.field("weighted", pa.float64()),
        pa.field("weighted_ns", pa.int64()),
        pa.field("unit", pa.string()),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("receive_ns", pa.int64()),
        pa.field("gaps", pa.binary()),
        pa.field("overlaps", pa.int64()),
    ]
)
"""The columns of a partial. A source need not deliver the last three."""

STATUS_BAD = 2 << 6
"""Quality bytes from here on are bad or stale: their samples are counted in `bad` only."""

_NS_PER_US = 1_000
_LAST_NS = np.iinfo(np.int64).max


def completed(rows: pa.Table) -> pa.Table:
    """The columns of PARTIAL_SCHEMA, in its order; a missing one is null."""
    columns = [
        rows.column(one.name).cast(one.type)
        if one.name in rows.schema.names
        else pa.nulls(rows.num_rows, one.type)
        for one in PARTIAL_SCHEMA
    ]
    return pa.table(columns, schema=PARTIAL_SCHEMA)


def combined(rows: pa.Table, window_ns: int, gaps_max: int = GAPS_MAX) -> pa.Table:
    """One row for each parameter and window, sorted by window and index."""
    rows = completed(rows).combine_chunks()
    keys = (ints(rows, "first_ns"), ints(rows, "index"), ints(rows, "window_ns"))
    order = np.lexsort(keys)
    rows = rows.take(pa.array(order))
    starts = group_starts(keys[2][order], keys[1][order])
    if not len(starts) or (len(starts) == rows.num_rows and gaps_max == GAPS_MAX):
        return rows
    return _reduced(rows, starts, window_ns, gaps_max)


def coarsened(rows: pa.Table, window_ns: int, gaps_max: int = GAPS_MAX) -> pa.Table:
    """The partials of longer windows."""
    return combined(in_windows(rows, window_ns), window_ns, gaps_max)


def in_windows(rows: pa.Table, window_ns: int) -> pa.Table:
    """The same partials, not combined, as those of longer windows."""
    rows = completed(rows)
    begin = ints(rows, "window_ns") // window_ns * window_ns
    times = pa.array(begin // _NS_PER_US).cast(TIME)
    place = rows.schema.get_field_index
    rows = rows.set_column(place("window_ns"), PARTIAL_SCHEMA.field("window_ns"), pa.array(begin))
    return rows.set_column(place("window_start"), PARTIAL_SCHEMA.field("window_start"), times)


def is_exact(rows: pa.Table) -> NDArray[np.bool_]:
    """Whether no partials of a row overlapped, so that its time-weighted mean is that of all."""
    exact: NDArray[np.bool_] = ints(rows, "overlaps") == 0
    return exact


def partials_of(samples: pa.Table, window_ns: int) -> pa.Table:
    """The partials of samples, one for each parameter and window.

    Samples without a number are not counted; those that are bad, stale or NaN count as `bad`.
    """
    samples = samples.filter(samples.column("value").is_valid()).combine_chunks()
    source_ns, index = ints(samples, "source_ns"), ints(samples, "index")
    order = np.lexsort((ints(samples, "offset"), source_ns, index, source_ns // window_ns))
    samples = samples.take(pa.array(order))
    source_ns, index = source_ns[order], index[order]
    begin = source_ns // window_ns * window_ns
    starts = group_starts(begin, index)
    singles = _single_samples(samples, begin, source_ns)
    if not len(starts):
        return singles
    return _reduced(singles, starts, window_ns, gaps_max=0)


def _single_samples(samples: pa.Table, begin: Ints, source_ns: Ints) -> pa.Table:
    """A partial for each sample."""
    value = floats(samples, "value")
    good = (ints(samples, "quality") < STATUS_BAD) & ~np.isnan(value)
    numbers, times = pa.array(value, mask=~good), pa.array(source_ns, mask=~good)
    zeros = np.zeros(len(value), np.int64)
    columns: dict[str, Any] = {
        "parameter": samples.column("parameter").cast(pa.string()),
        "index": samples.column("index"),
        "window_start": pa.array(begin // _NS_PER_US).cast(TIME),
        "window_ns": begin,
        "count": good.astype(np.int64),
        "bad": (~good).astype(np.int64),
        **dict.fromkeys(("min", "max", "sum", "first", "last"), numbers),
        **dict.fromkeys(("first_ns", "last_ns"), times),
        "weighted": zeros.astype(np.float64),
        "weighted_ns": zeros,
        "unit": samples.column("unit").cast(pa.string()),
        "offset": samples.column("offset"),
        "receive_ns": samples.column("receive_ns"),
        "gaps": pa.array([NO_GAPS]).take(pa.array(zeros)),
        "overlaps": zeros,
    }
    return completed(pa.table(columns))


def _reduced(rows: pa.Table, starts: Ints, window_ns: int, gaps_max: int) -> pa.Table:
    """Reduce groups; few enough at a time that a group's number and a time fit into 63 bits."""
    groups_max = (1 << 62) // (window_ns + 1)
    if len(starts) <= groups_max:
        return _of_sorted(rows, starts, gaps_max)
    middle = int(starts[groups_max])
    halves = (
        _of_sorted(rows.slice(0, middle), starts[:groups_max], gaps_max),
        _reduced(rows.slice(middle), starts[groups_max:] - middle, window_ns, gaps_max),
    )
    return pa.concat_tables(halves)


def _of_sorted(rows: pa.Table, starts: Ints, gaps_max: int) -> pa.Table:
    """One row for each group of sorted rows."""
    count = ints(rows, "count")
    has = count > 0
    total = np.add.reduceat(count, starts)
    empty = total == 0
    first, last = _ends(rows, has, starts)
    weights = joined(rows, starts, has, gaps_max)
    heads = rows.take(pa.array(starts))
    lows = np.minimum.reduceat(np.where(has, floats(rows, "min"), np.inf), starts)
    highs = np.maximum.reduceat(np.where(has, floats(rows, "max"), -np.inf), starts)
    columns: dict[str, Any] = {
        **{name: heads.column(name) for name in ("parameter", "index", "window_start")},
        "window_ns": heads.column("window_ns"),
        "count": total,
        "bad": np.add.reduceat(ints(rows, "bad"), starts),
        "min": pa.array(lows, mask=empty),
        "max": pa.array(highs, mask=empty),
        "sum": pa.array(np.add.reduceat(np.where(has, floats(rows, "sum"), 0), starts), mask=empty),
        **{name: rows.column(name).take(pa.array(first)) for name in ("first", "first_ns")},
        **{name: rows.column(name).take(pa.array(last)) for name in ("last", "last_ns")},
        "weighted": weights.weighted,
        "weighted_ns": weights.weighted_ns,
        "unit": heads.column("unit"),
        "offset": np.maximum.reduceat(ints(rows, "offset"), starts),
        "receive_ns": _greatest(rows, "receive_ns", starts),
        "gaps": weights.gaps,
        "overlaps": weights.overlaps,
    }
    return completed(pa.table(columns))


def _ends(rows: pa.Table, has: NDArray[np.bool_], starts: Ints) -> tuple[Ints, Ints]:
    """In each group the row with the earliest first sample, and that with the latest last one.

    Of samples with equal times, the one that arrived first is the first, and the one that arrived
    last is the last.
    """
    offset = ints(rows, "offset")
    earliest = np.where(has, ints(rows, "first_ns"), _LAST_NS)
    latest = np.where(has, -ints(rows, "last_ns"), _LAST_NS)
    return _least(starts, earliest, offset), _least(starts, latest, -offset)


def _least(starts: Ints, key: Ints, then: Ints) -> Ints:
    """The row with the least key in each group; of equal ones that with the least `then`."""
    sizes = np.diff(starts, append=len(key))
    is_least = key == np.repeat(np.minimum.reduceat(key, starts), sizes)
    second = np.where(is_least, then, _LAST_NS)
    is_least &= second == np.repeat(np.minimum.reduceat(second, starts), sizes)
    places = np.where(is_least, np.arange(len(key)), len(key))
    least: Ints = np.minimum.reduceat(places, starts)
    return least


def _greatest(rows: pa.Table, name: str, starts: Ints) -> pa.Array:
    """The greatest value of each group that is not null."""
    known = rows.column(name).is_valid().to_numpy()
    least = np.iinfo(np.int64).min
    found = np.maximum.reduceat(np.where(known, ints(rows, name), least), starts)
    return pa.array(found, mask=found == least)
