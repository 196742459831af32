"""Limits judged on Arrow tables: which samples begin and end an event. Pure; numpy only.

Samples are judged in the order in which they arrived, so that the result does not depend on how
they are cut into batches. A limit is a Schmitt trigger with two delays:

1. A value beyond the limit is *out*. It is *in* again when it has come back by the hysteresis.
2. An event begins at the first sample that is out at least `on_delay` after the first of an
   unbroken series of samples that are out, and ends likewise after `off_delay`.

Example: high = 900, hysteresis 10, on delay 2 s. Values of 905, 895, 901 at 0, 1 and 2 s begin an
event at 2 s: 895 is not below 890, so the series is unbroken. Times are source times. Samples that
are bad, stale or not a number are left out.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from slipring.alarms import LEVELS, LIMITS
from slipring.pipeline.steps.numbers import Floats, Ints, floats, group_starts, ints
from slipring.pipeline.steps.partial_rows import STATUS_BAD

Bools = NDArray[np.bool_]

FOREVER = np.iinfo(np.int64).max

RULE_SCHEMA = pa.schema(
    [
        pa.field("index", pa.int32(), nullable=False),
        pa.field("limit", pa.string(), nullable=False),
        pa.field("threshold", pa.float64(), nullable=False),
        pa.field("hysteresis", pa.float64(), nullable=False),
        pa.field("on_delay_ns", pa.int64(), nullable=False),
        pa.field("off_delay_ns", pa.int64(), nullable=False),
        pa.field("since_offset", pa.int64(), nullable=False),
        pa.field("until_offset", pa.int64(), nullable=False),
    ]
)
"""A limit of a parameter, and the offsets from which to which it is true."""

STATE_SCHEMA = pa.schema(
    [
        pa.field("index", pa.int32(), nullable=False),
        pa.field("limit", pa.string(), nullable=False),
        pa.field("is_out", pa.bool_(), nullable=False),
        pa.field("since_ns", pa.int64(), nullable=False),
        pa.field("is_event", pa.bool_(), nullable=False),
    ]
)
"""What is kept of a parameter's limit between batches: a row for each that has had samples."""

SAMPLE_COLUMNS = (
    "parameter", "index", "source_time", "source_ns", "receive_time", "receive_ns", "value",
    "quality", "unit", "offset",
)  # fmt: skip

_TIME = pa.timestamp("us", "UTC")
EVENT_SCHEMA = pa.schema(
    [
        pa.field("parameter", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("limit", pa.string(), nullable=False),
        pa.field("level", pa.string(), nullable=False),
        pa.field("state", pa.string(), nullable=False),
        pa.field("source_time", _TIME, nullable=False),
        pa.field("source_ns", pa.int64(), nullable=False),
        pa.field("since_ns", pa.int64(), nullable=False),
        pa.field("receive_time", _TIME, nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("threshold", pa.float64()),
        pa.field("unit", pa.string()),
    ]
)
"""An event began or ended at a sample; `since_ns` is the first one of the unbroken series."""


class Judged(NamedTuple):
    """The events of some samples, and the state after them."""

    events: pa.Table
    state: pa.Table


class _Coded(NamedTuple):
    """How samples stand to one limit: 1 out, -1 in, 0 within the hysteresis; and its delays."""

    code: Ints
    threshold: Floats
    on_delay_ns: Ints
    off_delay_ns: Ints


def judged(samples: pa.Table, rules: pa.Table, state: pa.Table) -> Judged:
    """Judge samples, which are in the order of arrival, and continue from the state."""
    samples = _judgeable(samples, rules)
    samples = samples.take(pa.array(np.argsort(ints(samples, "index"), kind="stable")))
    found = [
        _judge_limit(samples, limit, _with_limit(rules, limit), _with_limit(state, limit))
        for limit in LIMITS
    ]
    events = pa.concat_tables([one.events for one in found])
    # Those of one limit stay in the order of arrival: a frame may go back in time.
    events = events.take(pa.array(np.argsort(ints(events, "offset"), kind="stable")))
    return Judged(events, pa.concat_tables([one.state for one in found]))


def thinned(samples: pa.Table, rules: pa.Table) -> pa.Table:
    """Leave out samples that cannot change anything: those that stand as the one before them did.

    A limit with delays needs all of its samples, because time matters.
    """
    samples = _judgeable(samples, rules)
    order = np.argsort(ints(samples, "index"), kind="stable")
    samples = samples.take(pa.array(order))
    index = ints(samples, "index")
    keep = np.zeros(len(index), bool)
    keep[group_starts(index)] = True
    for limit in LIMITS:
        place, coded = _coded(samples, limit, _with_limit(rules, limit))
        changes = np.append(True, coded.code[1:] != coded.code[:-1])[: len(place)]
        keep[place] |= changes | (coded.on_delay_ns > 0) | (coded.off_delay_ns > 0)
    places = np.flatnonzero(keep)
    return samples.take(pa.array(places[np.argsort(order[places])]))


def _judgeable(samples: pa.Table, rules: pa.Table) -> pa.Table:
    """The samples that have a limit and a number that counts."""
    samples = samples.select(SAMPLE_COLUMNS)
    limited = np.unique(ints(rules, "index"))
    value = floats(samples, "value")
    chosen = np.isin(ints(samples, "index"), limited, kind="table" if len(limited) else None)
    chosen &= (ints(samples, "quality") < STATUS_BAD) & ~np.isnan(value)
    return samples.filter(pa.array(chosen & samples.column("value").is_valid().to_numpy()))


def _with_limit(rows: pa.Table, limit: str) -> pa.Table:
    chosen = rows.filter(pc.equal(rows.column("limit"), limit))
    order = ("index", "since_offset") if "since_offset" in rows.schema.names else ("index",)
    return chosen.sort_by([(name, "ascending") for name in order])


def _coded(samples: pa.Table, limit: str, rules: pa.Table) -> tuple[Ints, _Coded]:
    """The places of the samples with such a limit, and how they stand to it.

    A sample at an offset where no limit is true is in, without delay: so an event ends.
    """
    place, rule = _rule_of(samples, rules)
    true = rule >= 0
    value = floats(samples, "value")[place]
    threshold = np.where(true, floats(rules, "threshold")[rule], np.nan)
    beyond = value - threshold if limit.startswith("high") else threshold - value
    code = (beyond > 0).astype(np.int64) - ~(beyond > -floats(rules, "hysteresis")[rule])
    delays = (
        np.where(true, ints(rules, name)[rule], 0) for name in ("on_delay_ns", "off_delay_ns")
    )
    return place, _Coded(code, threshold, *delays)


def _rule_of(samples: pa.Table, rules: pa.Table) -> tuple[Ints, Ints]:
    """The places of the samples with a rule, and which one; -1 if none is true at its offset."""
    index = ints(samples, "index")
    counts = np.bincount(ints(rules, "index"), minlength=int(index.max(initial=0)) + 1)
    firsts = np.cumsum(counts) - counts
    place = np.flatnonzero(counts[index])
    offset, first = ints(samples, "offset")[place], firsts[index[place]]
    since, until = ints(rules, "since_offset"), ints(rules, "until_offset")
    rule = np.full(len(place), -1)
    for step in range(int(counts.max(initial=0))):
        at = np.minimum(first + step, len(since) - 1)
        is_own = step < counts[index[place]]
        rule = np.where(is_own & (since[at] <= offset) & (offset < until[at]), at, rule)
    return place, rule


def _judge_limit(samples: pa.Table, limit: str, rules: pa.Table, state: pa.Table) -> Judged:
    place, coded = _coded(samples, limit, rules)
    if not len(place):
        return Judged(EVENT_SCHEMA.empty_table(), state)
    index, time_ns = ints(samples, "index")[place], ints(samples, "source_ns")[place]
    starts = group_starts(index)
    before = _State.of(state, index[starts], time_ns[starts])
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(index)))
    is_first = np.zeros(len(index), bool)
    is_first[starts] = True

    # Within the hysteresis a sample stands as the one before it did.
    known = np.maximum.accumulate(np.where((coded.code != 0) | is_first, np.arange(len(index)), 0))
    is_out = np.where(coded.code[known] == 0, before.is_out[group], coded.code[known] > 0)

    changes = np.append(True, is_out[1:] != is_out[:-1]) | is_first
    runs = np.flatnonzero(changes)
    continues = is_first[runs] & (is_out[runs] == before.is_out[group[runs]])
    since = np.where(continues, before.since_ns[group[runs]], time_ns[runs])
    run = np.cumsum(changes) - 1
    delay = np.where(is_out, coded.on_delay_ns, coded.off_delay_ns)
    waited = np.where(time_ns - since[run] >= delay, np.arange(len(index)), len(index))
    reached = np.minimum.reduceat(waited, runs)
    reached = reached[reached < len(index)]
    was_event = _value_before(is_out[reached], group[reached], before.is_event)
    turns = reached[is_out[reached] != was_event]

    after = _State(
        index[starts],
        is_out[np.append(starts[1:], len(index)) - 1],
        since[run[np.append(starts[1:], len(index)) - 1]],
        _last_value(is_out[reached], group[reached], before.is_event),
    )
    events = samples.take(pa.array(place[turns]))
    made = _events(events, limit, is_out[turns], since[run[turns]], coded.threshold[turns])
    return Judged(made, after.merged_into(state, limit))


@dataclass(frozen=True)
class _State:
    """The state of one limit, by index, ascending."""

    index: Ints
    is_out: Bools
    since_ns: Ints
    is_event: Bools

    @classmethod
    def of(cls, rows: pa.Table, index: Ints, time_ns: Ints) -> "_State":
        """The state of these parameters; one that is new is in, since its first sample."""
        held = ints(rows, "index")
        place = np.minimum(np.searchsorted(held, index), max(len(held) - 1, 0))
        known = held[place] == index if len(held) else np.zeros(len(index), bool)

        def column(name: str, otherwise: Any) -> Any:
            if not len(held):
                return otherwise
            return np.where(known, rows.column(name).to_numpy()[place], otherwise)

        no = np.zeros(len(index), bool)
        return cls(index, column("is_out", no), column("since_ns", time_ns), column("is_event", no))

    def merged_into(self, rows: pa.Table, limit: str) -> pa.Table:
        others = rows.filter(pa.array(~np.isin(ints(rows, "index"), self.index)))
        columns = [
            pa.array(self.index, pa.int32()),
            pa.array([limit] * len(self.index), pa.string()),
            pa.array(self.is_out),
            pa.array(self.since_ns),
            pa.array(self.is_event),
        ]
        return pa.concat_tables([others, pa.table(columns, schema=STATE_SCHEMA)])


def _value_before(values: Bools, group: Ints, initial: Bools) -> Bools:
    """For each value the one before it in its group, or the group's initial one."""
    before = np.append(False, values[:-1])[: len(values)]
    starts = group_starts(group)
    before[starts] = initial[group[starts]]
    return before


def _last_value(values: Bools, group: Ints, initial: Bools) -> Bools:
    last = initial.copy()
    last[group] = values  # of several assignments the last one stays
    return last


def _events(
    samples: pa.Table, limit: str, is_out: Bools, since_ns: Ints, threshold: Floats
) -> pa.Table:
    rows = samples.num_rows
    made: dict[str, Any] = {name: samples.column(name) for name in SAMPLE_COLUMNS}
    made |= {
        "limit": pa.array([limit] * rows, pa.string()),
        "level": pa.array([LEVELS[limit]] * rows, pa.string()),
        "state": pa.array(["began" if one else "ended" for one in is_out], pa.string()),
        "since_ns": since_ns,
        "threshold": pa.array(threshold, mask=np.isnan(threshold)),
    }
    return pa.table({one.name: made[one.name] for one in EVENT_SCHEMA}).cast(EVENT_SCHEMA)
