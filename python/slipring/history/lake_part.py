"""What a lake knows of some parameters: its rollups where buckets are long, else its samples.

Never writes. A table says by its own log up to which offset it has a journal, so that what comes
behind it is read elsewhere: no sample is counted twice, and none is left out.
"""
# ruff: noqa: S608 (values are quoted, and a query cannot write)

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from slipring.history.buckets import Buckets
from slipring.history.budget import ReadBudget
from slipring.history.question import KnownParameter
from slipring.history.series import TEXT_CHARACTERS_MAX
from slipring.history.steps import HOUR_NS, MINUTE_NS, SECOND_NS
from slipring.history.values_at import LOOK_BACK_NS, ValueAt, lake_sql, values_of_rows
from slipring.lake.choice import ParameterChoice, both
from slipring.lake.lake import Lake
from slipring.lake.snapshot import TableSnapshot
from slipring.lake.sql import quoted, run_sql
from slipring.lake.storage import LakeLocation
from slipring.lake.table import app_id

FRESH_S = 2.0
"""A table is opened again after so long."""
ROLLUPS_NS = {"rollup_1h": HOUR_NS, "rollup_1m": MINUTE_NS, "rollup_1s": SECOND_NS}
SAMPLES = "samples"
TIME_COLUMNS = {SAMPLES: "source_time", **dict.fromkeys(ROLLUPS_NS, "window_start")}
SLICE_NS = 10 * MINUTE_NS
"""So much time of samples is read between two looks at the budget."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TRUSTED = "quality < 128 AND value IS NOT NULL AND NOT isnan(value)"
_PARAMETERS = "parameters"
_LARGEST = np.finfo(np.float64).max
Conditions = dict[tuple[int, tuple[str, ...]], str]


@dataclass(frozen=True)
class LakeSource:
    """A table that has what is asked for, up to an offset of the journal."""

    table: str
    window_ns: int
    """How long its windows are; 1 for samples."""
    end: int
    """The offset up to which it has the journal."""


class LakeHistory:
    """The tables of a lake; each is opened again when it is not fresh any more."""

    def __init__(self, location: LakeLocation, journal: str | None) -> None:
        """`journal` is the identity of the journal that is read beside the lake."""
        self._lake = _FreshLake(location)
        self._journal = journal
        self._conditions: Conditions = {}

    def bounds(self) -> tuple[int, int] | None:
        """The oldest and the newest source time, by the logs; None if nothing is there."""
        found = [self._bounds(name) for name in self._tables()]
        known = [one for one in found if one]
        return (min(a for a, _ in known), max(b for _, b in known)) if known else None

    def oldest(self, source: LakeSource) -> int | None:
        """The oldest time of a table: it has no sample that is older."""
        bounds = self._bounds(source.table)
        return bounds[0] if bounds else None

    def source(self, from_ns: int, step_ns: int) -> LakeSource | None:
        """The table with the longest windows that fit a bucket, if it goes back far enough.

        If samples of that time were removed, it is the finest table that still has the time.
        """
        oldest = {name: bounds[0] for name in self._tables() if (bounds := self._bounds(name))}
        if not oldest:
            return None
        windows = {**ROLLUPS_NS, SAMPLES: 1}
        fitting = [one for one in oldest if windows[one] <= step_ns]
        others = sorted((one for one in oldest if windows[one] > step_ns), key=windows.__getitem__)
        by_length = sorted(fitting, key=windows.__getitem__, reverse=True)
        # The first sample is somewhere in the first window: before its end nobody lacks anything.
        reach = max(from_ns, min(at_ns + windows[name] for name, at_ns in oldest.items()))
        for name in (*by_length, *others):
            if oldest[name] - windows[name] <= reach + self._slack(name):
                return self._source(name)
        return self._source((by_length or others)[0])

    def text_source(self) -> LakeSource | None:
        """The table with texts: rollups have none."""
        return self._source(SAMPLES) if SAMPLES in self._tables() else None

    def read(
        self,
        source: LakeSource,
        names: Sequence[str],
        time_ns: tuple[int, int],
        step_ns: int,
        budget: ReadBudget,
        *,
        is_text: bool = False,
    ) -> tuple[dict[str, list[Buckets]], bool]:
        """Buckets by parameter, newest part first; and whether the budget did not suffice."""
        found: dict[str, list[Buckets]] = {}
        condition = self._condition(tuple(names))
        for first, end in self._slices(source, time_ns):
            if budget.is_spent:
                return found, True
            where = both((condition, self._beyond(source), _span(source, first, end)))
            sql = _text_sql(where) if is_text else _sql(source, where, step_ns)
            rows = run_sql(sql, [self._lake.table(source.table)], [source.table]).read_all()
            for name, buckets in _by_name(rows, step_ns):
                found.setdefault(name, []).append(buckets)
        return found, False

    def definitions(self, names: Sequence[str]) -> dict[str, KnownParameter]:
        """What the lake's table `parameters` says of names; of several definitions the newest."""
        if _PARAMETERS not in self._lake.names():
            return {}
        listed = ", ".join(map(quoted, names))
        columns = ("name", "type", "unit", "labels", "since_ns")
        rows = self._lake.table(_PARAMETERS).to_arrow(columns, where=f"name IN ({listed})")
        newest_last = sorted(rows.to_pylist(), key=lambda row: row["since_ns"] or 0)
        return {row["name"]: _definition(row) for row in newest_last}

    def newest(
        self, names: Sequence[str], at_ns: int, known: Mapping[str, KnownParameter]
    ) -> dict[str, ValueAt]:
        """The newest sample of each at or before a time, looked for in longer and longer times."""
        found: dict[str, ValueAt] = {}
        if SAMPLES not in self._tables():
            return found
        source, end = self._source(SAMPLES), at_ns + 1
        for look_back in LOOK_BACK_NS:
            missing = tuple(one for one in names if one not in found)
            if not missing:
                break
            begin = max(0, at_ns - look_back)
            where = both((self._condition(missing), _span(source, begin, end)))
            rows = run_sql(lake_sql(where), [self._lake.table(SAMPLES)], [SAMPLES]).read_all()
            found |= values_of_rows(rows.to_pylist(), known, found)
            end = begin
        return found

    def _tables(self) -> list[str]:
        return [one for one in self._lake.names() if one in TIME_COLUMNS]

    def _bounds(self, name: str) -> tuple[int, int] | None:
        bounds = self._lake.table(name).time_bounds(TIME_COLUMNS[name])
        if bounds is None:
            return None
        first, last = (round((one - _EPOCH) / timedelta(microseconds=1)) * 1_000 for one in bounds)
        return first, last + max(1_000, ROLLUPS_NS.get(name, 0))

    def _slack(self, name: str) -> int:
        return ROLLUPS_NS.get(name, SECOND_NS)

    def _source(self, name: str) -> LakeSource:
        delta = self._lake.table(name).delta
        end = None if self._journal is None else delta.transaction_version(app_id(self._journal))
        return LakeSource(name, ROLLUPS_NS.get(name, 1), end or 0)

    def _beyond(self, source: LakeSource) -> str:
        """The table may have grown since it was chosen."""
        if self._journal is None:
            return ""
        return f'(journal <> {quoted(self._journal)} OR "offset" < {source.end})'

    def _slices(self, source: LakeSource, time_ns: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """Rollups at once; samples in parts, newest first, of what the table has."""
        bounds = self._bounds(source.table)
        first, end = time_ns
        if bounds is None or bounds[1] <= first or end <= bounds[0] - source.window_ns:
            return
        if source.table != SAMPLES:
            yield first, end
            return
        first, end = max(first, bounds[0]), min(end, bounds[1] + 1)
        count = -(-(end - first) // SLICE_NS)
        edges = [min(end, first + SLICE_NS * one) for one in range(count + 1)]
        yield from reversed([*pairwise(edges)])

    def _condition(self, names: tuple[str, ...]) -> str:
        """Indices skip more files than names do; which they are is read once for each version."""
        has_parameters = _PARAMETERS in self._lake.names()
        version = self._lake.table(_PARAMETERS).version if has_parameters else -1
        key = (version, names)
        if key not in self._conditions:
            if len(self._conditions) >= 64:
                self._conditions.clear()
            by_index = ParameterChoice(names).condition(self._lake)
            listed = ", ".join(map(quoted, names))
            self._conditions[key] = both((by_index, f"parameter IN ({listed})"))
        return self._conditions[key]


class _FreshLake(Lake):
    """A lake whose tables are opened at most once in FRESH_S."""

    def __init__(self, location: LakeLocation) -> None:
        super().__init__(location)
        self._names: tuple[float, list[str]] = (0.0, [])
        self._opened: dict[str, tuple[float, TableSnapshot]] = {}
        # Readers of several threads share what is opened. A table that cannot be opened asks for
        # the names of the others, for its error: on the same thread.
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        with self._lock:
            now_s = time.monotonic()
            if now_s >= self._names[0]:
                self._names = (now_s + FRESH_S, super().names())
            return self._names[1]

    def table(
        self, name: str, version: int | None = None, as_of: datetime | None = None
    ) -> TableSnapshot:
        with self._lock:
            until_s, opened = self._opened.get(name, (0.0, None))
            now_s = time.monotonic()
            if opened is None or now_s >= until_s:
                opened = super().table(name)
                self._opened[name] = (now_s + FRESH_S, opened)
            return opened


def _definition(row: Mapping[str, Any]) -> KnownParameter:
    labels = json.loads(row["labels"] or "{}")
    numbered = {int(number): text for number, text in labels.items()}
    return KnownParameter(row["type"], row["unit"], numbered or None)


def _span(source: LakeSource, first: int, end: int) -> str:
    """Microseconds choose the files, nanoseconds the rows."""
    time = TIME_COLUMNS[source.table]
    exact = "source_ns" if source.table == SAMPLES else "window_ns"
    literals = [quoted(f"{_time(one):%Y-%m-%dT%H:%M:%S.%fZ}") for one in (first, end + 999)]
    return (
        f"{time} >= {literals[0]} AND {time} <= {literals[1]} "
        f"AND {exact} >= {first} AND {exact} < {end}"
    )


def _time(ns: int) -> datetime:
    return _EPOCH + timedelta(microseconds=ns // 1_000)


def _sql(source: LakeSource, where: str, step_ns: int) -> str:
    """Sums of windows or of samples by parameter and bucket."""
    if source.table != SAMPLES:
        return (
            f'SELECT parameter, window_ns / {step_ns} * {step_ns} AS start_ns, sum("count") AS n, '
            'min("min") AS low, max("max") AS high, '
            'first_value("first" ORDER BY first_ns) AS first, min(first_ns) AS first_ns, '
            'last_value("last" ORDER BY last_ns) AS last, max(last_ns) AS last_ns '
            f'FROM {source.table} WHERE {where} AND "count" > 0 GROUP BY parameter, 2'
        )
    return (
        f"SELECT parameter, source_ns / {step_ns} * {step_ns} AS start_ns, count(*) AS n, "
        "min(value) AS low, max(value) AS high, "
        'first_value(value ORDER BY source_ns, "offset") AS first, min(source_ns) AS first_ns, '
        'last_value(value ORDER BY source_ns, "offset") AS last, max(source_ns) AS last_ns '
        f"FROM samples WHERE {where} AND {_TRUSTED} GROUP BY parameter, 2"
    )


TEXT_ROWS_MAX = 100_000


def _text_sql(where: str) -> str:
    return (
        f"SELECT parameter, source_ns, coalesce(substr(text, 1, {TEXT_CHARACTERS_MAX}), "
        "substr(encode(bytes, 'hex'), 1, 512)) AS text "
        f"FROM samples WHERE {where} AND quality < 128 AND (text IS NOT NULL OR bytes IS NOT NULL) "
        f'ORDER BY source_ns DESC, "offset" DESC LIMIT {TEXT_ROWS_MAX}'
    )


def _by_name(rows: pa.Table, step_ns: int) -> Iterator[tuple[str, Buckets]]:
    """The rows by parameter; those of texts are single samples."""
    names = rows.column("parameter").combine_chunks().dictionary_encode()
    codes = np.asarray(names.indices)
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(len(names.dictionary) + 1))
    columns = {
        name: rows.column(name).to_numpy(zero_copy_only=False) if name != "text" else None
        for name in rows.column_names[1:]
    }
    for code, name in enumerate(names.dictionary.to_pylist()):
        at = order[edges[code] : edges[code + 1]]
        if "text" in columns:
            yield name, _texts(rows, columns, at[::-1], step_ns)
            continue
        found = {one: column[at] for one, column in columns.items() if column is not None}
        # DataFusion begins with the largest number, which is less than infinity.
        found["low"] = np.where(found["low"] == _LARGEST, np.inf, found["low"])
        found["high"] = np.where(found["high"] == -_LARGEST, -np.inf, found["high"])
        yield name, Buckets(
            found["start_ns"], found["n"], found["low"], found["high"], found["first"],
            found["first_ns"], found["last"], found["last_ns"],
        ).coarser(step_ns)  # fmt: skip


def _texts(
    rows: pa.Table, columns: Mapping[str, np.ndarray | None], at: np.ndarray, step_ns: int
) -> Buckets:
    values = np.empty(len(at), object)
    values[:] = rows.column("text").take(pa.array(at)).to_pylist()
    times = columns["source_ns"]
    assert times is not None
    return Buckets.of_samples(times[at], values, step_ns)
