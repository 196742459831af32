"""A lake of a jet as the pipeline leaves it: samples, their rollups, definitions and events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from slipring.lake.files import write_file
from slipring.lake.specs import EVENTS, PARAMETERS, ROLLUPS, SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, TableSpec

JOURNAL = "5d2f0d6e4a1b4c0f9a3e7c1d2b4f6a80"
START = datetime(2026, 1, 2, 3, 0, tzinfo=UTC)
START_NS = 1_767_322_800_000_000_000
SECOND_NS = 1_000_000_000
PREFIX = "gripen/39-7"
NAMES = tuple(
    f"{PREFIX}/{name}"
    for name in (
        "engine/rpm", "engine/egt", "engine/1/egt", "engine/2/egt", "fuel/total", "fuel/flow",
        "air/altitude", "air/speed", "gear/weight", "hydraulics/1/pressure", "flight/phase_name",
        "engine",
    )
)  # fmt: skip
UNITS = ("1/min", "Cel", "Cel", "Cel", "kg", "kg/s", "m", "m/s", "t", "bar", None, None)
TEXT_INDEX = 10
"""The parameter `flight/phase_name`; its values are texts."""
WINDOWS_NS = {"1s": SECOND_NS, "1m": 60 * SECOND_NS, "1h": 3600 * SECOND_NS}


@dataclass(frozen=True)
class SampleLake:
    """What is in a lake that `make_lake` made."""

    folder: Path
    rate_hz: int
    seconds: int
    names: tuple[str, ...] = NAMES

    @property
    def samples_each(self) -> int:
        return self.rate_hz * self.seconds


def value_at(index: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of a sample: a slow wave around a level of its own, with two digits."""
    values: NDArray[np.float64] = 500.0 + 10 * index + 100 * np.sin(index + number * 0.01)
    return values.round(2)


def sample_batch(
    names: Sequence[str], units: Sequence[str | None], first: int, numbers: range, rate_hz: int
) -> pa.RecordBatch:
    """Samples of the parameters with the indices from `first` on, sorted by index and time."""
    count = len(names)
    index = np.repeat(np.arange(first, first + count), len(numbers))
    number = np.tile(np.arange(numbers.start, numbers.stop), count)
    source_ns = START_NS + number * (SECOND_NS // rate_hz)
    receive_ns = source_ns + 3_000_000 + number % 7 * 1_000
    is_text = index == TEXT_INDEX
    texts = pa.array(np.where(number % 200 < 100, "climb", "cruise"), mask=~is_text)
    columns = {
        "journal": _coded(np.zeros(len(index), np.int64), [JOURNAL]),
        "parameter": _coded(index - first, names),
        "index": pa.array(index, pa.int32()),
        "source_time": _times(source_ns),
        "source_ns": pa.array(source_ns),
        "receive_time": _times(receive_ns),
        "receive_ns": pa.array(receive_ns),
        "value": pa.array(value_at(index, number), mask=is_text),
        "text": texts,
        "quality": pa.array(np.where(number % 1000 == 999, 128, 0), pa.int16()),
        "kind": _coded(is_text.astype(np.int64), ["f64", "text"]),
        "unit": _coded(index - first, units),
        "offset": pa.array(number),
    }
    return pa.record_batch(columns)


def make_lake(
    folder: Path, *, rate_hz: int = 50, seconds: int = 60, commits: int = 2, rollups: bool = True
) -> SampleLake:
    """A lake with all of NAMES; the samples come in some commits, one after the other."""
    where = LakeLocation.of(folder)
    made = SampleLake(folder, rate_hz, seconds)
    edges = np.linspace(0, made.samples_each, commits + 1).astype(int).tolist()
    for part, (begin, end) in enumerate(pairwise(edges)):
        rows = sample_batch(NAMES, UNITS, 0, range(begin, end), rate_hz)
        commit(where, SAMPLES, rows, part + 1)
    commit(where, PARAMETERS, _definitions(), 1)
    commit(where, EVENTS, _events(), 1)
    if rollups:
        for every, window_ns in WINDOWS_NS.items():
            commit(where, ROLLUPS[every], _rolled_up(made, window_ns), 1)
    return made


def commit(where: LakeLocation, spec: TableSpec, rows: pa.RecordBatch, version: int) -> None:
    """One file for each day, and one commit."""
    table = LakeTable.open(where, spec)
    table.commit(write_file(where, spec, [rows]), {f"slipring/{JOURNAL}": version})


def _definitions() -> pa.RecordBatch:
    return pa.record_batch(
        {
            "journal": pa.array([JOURNAL] * len(NAMES)),
            "table": pa.array([1] * len(NAMES), pa.int64()),
            "index": pa.array(range(len(NAMES)), pa.int32()),
            "name": pa.array(NAMES),
            "type": pa.array(["text" if one == TEXT_INDEX else "f64" for one in range(len(NAMES))]),
            "since_offset": pa.array([0] * len(NAMES), pa.int64()),
            "unit": pa.array(UNITS),
        }
    )


def _events() -> pa.RecordBatch:
    return pa.record_batch(
        {
            "journal": pa.array([JOURNAL]),
            "event_time": _times(np.array([START_NS])),
            "event_ns": pa.array([START_NS]),
            "parameter": pa.array([NAMES[1]]),
            "event": pa.array(["high"]),
        }
    )


def _rolled_up(made: SampleLake, window_ns: int) -> pa.RecordBatch:
    """One row for each parameter of numbers and each window, by plain loops."""
    rows = []
    for index, name in enumerate(NAMES):
        if index == TEXT_INDEX:
            continue
        numbers = np.arange(made.samples_each)
        times = START_NS + numbers * (SECOND_NS // made.rate_hz)
        values = value_at(np.full(len(numbers), index), numbers)
        windows = times // window_ns * window_ns
        for window in np.unique(windows).tolist():
            inside = windows == window
            good = inside & (numbers % 1000 != 999)
            rows.append(_window(index, name, window, times[good], values[good], int(inside.sum())))
    return pa.RecordBatch.from_pylist(rows, schema=ROLLUPS["1s"].file_schema)


def _window(  # noqa: PLR0917 (one caller)
    index: int,
    name: str,
    window: int,
    times: NDArray[np.int64],
    values: NDArray[np.float64],
    samples: int,
) -> dict[str, object]:
    held_ns = np.diff(times)
    weighted, span_ns = float((values[:-1] * held_ns).sum()), int(held_ns.sum())
    return {
        "journal": JOURNAL, "parameter": name, "index": index,
        "window_start": _time(window), "window_ns": window,
        "count": len(values), "bad": samples - len(values),
        "min": values.min(), "max": values.max(), "mean": values.mean(),
        "first": values[0], "first_time": _time(int(times[0])), "first_ns": int(times[0]),
        "last": values[-1], "last_time": _time(int(times[-1])), "last_ns": int(times[-1]),
        "time_weighted_mean": weighted / span_ns if span_ns else values[-1],
        "sum": values.sum(), "weighted": weighted, "weighted_ns": span_ns, "unit": UNITS[index],
        "offset": 0, "receive_ns": window,
    }  # fmt: skip


def _time(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // SECOND_NS, UTC).replace(
        microsecond=nanoseconds % SECOND_NS // 1_000
    )


def _times(nanoseconds: NDArray[np.int64]) -> pa.Array:
    return pa.array(nanoseconds // 1_000).cast(pa.timestamp("us", tz="UTC"))


def _coded(codes: NDArray[np.int64], texts: Sequence[str | None]) -> pa.DictionaryArray:
    """A column of few texts; those that are None are null."""
    known = [text for text in texts if text is not None]
    code_of = np.array([-1 if text is None else known.index(text) for text in texts], np.int32)
    found = code_of[codes]
    return pa.DictionaryArray.from_arrays(pa.array(found, mask=found < 0), pa.array(known))
