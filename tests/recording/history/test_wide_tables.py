"""Wide tables: samples in the order of time, their cells, and the time grid."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.model import Kind, Parameter, Quality, Reason, Status
from slipring.recording.history.shape.file_schema import QUALITY_SUFFIX
from slipring.recording.history.shape.recorded_samples import RecordedSamples, joined
from slipring.recording.history.shape.time_grid import TimeGrid
from slipring.recording.history.shape.time_merge import MessageRange, TimeMerge
from slipring.recording.history.shape.time_survey import TimeSurvey
from slipring.recording.history.shape.wide_rows import WideLayout, WideRows
from slipring.recording.history.write.arrow_rows import ArrowRows
from tests.recording.history.sample_lists import (
    CHOSEN,
    History,
    Recorded,
    chosen_of,
    histories,
    told,
    words,
)


def survey(history: History) -> TimeSurvey:
    made = TimeSurvey(CHOSEN)
    for message in history.messages:
        made.add(message)
    made.finish()
    return made


def sweep(
    history: History, ranges: list[MessageRange], **bounds: int
) -> list[list[RecordedSamples]]:
    def load(message_range: MessageRange) -> list[RecordedSamples]:
        messages = history.messages[message_range.start : message_range.end]
        return [part for message in messages for part in message]

    return list(TimeMerge(ranges, load, **bounds))


def single(history: History) -> list[MessageRange]:
    """Each message a stretch of its own."""
    found = []
    for offset, parts in enumerate(history.messages):
        times = np.concatenate([part.times for part in parts])
        found.append(MessageRange(int(times.min()), int(times.max()), offset, offset + 1))
    return found


def rows(history: History, batches: list[list[RecordedSamples]]) -> list[dict[str, Any]]:
    layout = WideLayout(CHOSEN, survey(history).not_good)
    cells = ArrowRows(layout)
    found = []
    for parts in batches:
        for block in layout.rows(parts):
            found += cells.batch(block).cast(cells.schema).to_pylist()
    return found


@given(histories(), st.integers(1, 60), st.integers(1, 60))
def test_every_sample_is_handed_on_once_and_none_is_late(
    history: History, ready: int, held_max: int
) -> None:
    for ranges in (survey(history).ranges, single(history)):
        batches = sweep(history, ranges, ready=ready, held_max=held_max)
        before = None
        count = 0
        for parts in batches:
            times = np.concatenate([part.times for part in parts])
            assert before is None or times.min() > before
            before = times.max()
            count += len(times)
        assert count == len(history.samples)


@given(histories(), st.integers(1, 60), st.integers(1, 60))
def test_a_cell_has_the_last_sample_of_its_time(
    history: History, ready: int, held_max: int
) -> None:
    batches = sweep(history, single(history), ready=ready, held_max=held_max)
    found = rows(history, batches)
    expected = history.cells()
    assert [row["time"].value for row in found] == list(expected)
    for row, cells in zip(found, expected.values(), strict=True):
        for name in CHOSEN.names:
            sample = cells.get(name)
            assert row[name] == (None if sample is None else told(sample))
            if name + QUALITY_SUFFIX in row:
                quality = None if sample is None else words(sample.quality)
                assert row[name + QUALITY_SUFFIX] == quality
            else:
                assert sample is None or sample.quality == 0


@given(histories(), st.integers(1, 9))
def test_a_grid_holds_the_last_value_at_or_before_each_of_its_times(
    history: History, step: int
) -> None:
    found = on_grid(history, step)
    expected = history.cells()
    if not expected:
        assert found == []
        return
    first, last = min(expected), max(expected)
    times = [row["time"].value for row in found]
    assert times == list(range(-(-first // step) * step, -(-last // step) * step + 1, step))
    for row in found:
        held = held_at(expected, row["time"].value)
        for name in CHOSEN.names:
            sample = held.get(name)
            is_there = sample is not None and sample.quality >> 6 != Status.STALE
            assert row[name] == (told(sample) if sample and is_there else None)


def on_grid(history: History, step: int) -> list[dict[str, Any]]:
    layout = WideLayout(CHOSEN, survey(history).not_good)
    cells, grid = ArrowRows(layout), TimeGrid(layout, step)
    blocks: list[WideRows] = []
    for parts in sweep(history, single(history), ready=5):
        for block in layout.rows(parts):
            blocks += grid.add(block)
    blocks += grid.finish()
    return [row for block in blocks for row in cells.batch(block).to_pylist()]


def held_at(cells: dict[int, dict[str, Recorded]], time: int) -> dict[str, Recorded]:
    held: dict[str, Recorded] = {}
    for at, row in cells.items():
        if at <= time:
            held |= row
    return held


def samples(times: list[int], values: list[float], *, quality: int = 0) -> RecordedSamples:
    count = len(times)
    zeros = np.zeros(count, np.int64)
    return RecordedSamples(
        Kind.F64,
        np.zeros(count, np.uint32),
        np.array(times, np.int64),
        np.full(count, quality, np.uint8),
        np.array(values),
        zeros,
        zeros,
    )


@pytest.mark.parametrize(("rate_hz", "silent_ms"), [(1.0, 5_000), (50.0, 200), (100.0, 200)])
def test_a_parameter_that_is_silent_for_five_periods_has_no_value_any_more(
    rate_hz: float, silent_ms: int
) -> None:
    chosen = chosen_of(("a", Parameter("f64", rate_hz=rate_hz)), ("b", Parameter("f64")))
    layout = WideLayout(chosen, np.zeros(2, np.bool_))
    grid, cells = TimeGrid(layout, 50_000_000), ArrowRows(layout)
    far = 10_000_000_000
    later = samples([far], [2.0])
    object.__setattr__(later, "indices", np.ones(1, np.uint32))
    [block] = layout.rows([samples([0], [1.0]), later])
    found = [row for made in grid.add(block) for row in cells.batch(made).to_pylist()]
    assert max(row["time"].value for row in found if row["a"] == 1.0) == silent_ms * 1_000_000
    assert found[-1]["b"] == 2.0


def test_rows_are_made_in_blocks_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipring.recording.history.shape.wide_rows.ROWS_BYTES_MAX", 100)
    layout = WideLayout(chosen_of(("a", Parameter("f64"))), np.zeros(1, np.bool_))
    blocks = list(layout.rows([samples(list(range(25)), list(map(float, range(25))))]))
    assert [len(block.times) for block in blocks] == [10, 10, 5]
    together = np.concatenate([block.by_kind[0].values[0] for block in blocks])
    assert together.tolist() == list(range(25))


def test_where_too_much_overlaps_nothing_more_than_the_bound_is_held() -> None:
    """Twenty messages with a whole hour each: as after an import by columns."""
    loaded: list[int] = []
    parts = {offset: samples(list(range(1000)), [float(offset)] * 1000) for offset in range(20)}
    most = 0

    def load(message_range: MessageRange) -> list[RecordedSamples]:
        loaded.append(message_range.start)
        return [parts[message_range.start]]

    ranges = [MessageRange(0, 999, offset, offset + 1) for offset in parts]
    total = 0
    for batch in TimeMerge(ranges, load, ready=500, held_max=2_000):
        count = sum(map(len, batch))
        most, total = max(most, count), total + count
    assert total == 20_000
    assert most <= 2_000 + 1_000
    assert len(loaded) > 20


def test_messages_with_far_times_are_stretches_of_their_own() -> None:
    live = 1_700_000_000_000_000_000
    made = TimeSurvey(chosen_of(("a", Parameter("f64"))))
    for offset in range(6):
        part = samples([live + offset if offset % 2 else offset], [0.0])
        object.__setattr__(part, "offsets", np.array([offset]))
        made.add([part])
    made.finish()
    assert [(one.start, one.end) for one in made.ranges] == [(n, n + 1) for n in range(6)]


def test_parts_of_a_kind_are_joined_in_the_order_of_arrival() -> None:
    early, late = samples([5], [1.0]), samples([5], [2.0])
    object.__setattr__(late, "offsets", np.array([3]))
    [whole] = joined([late, early])
    assert whole.values.tolist() == [1.0, 2.0]


def test_a_stale_sample_empties_the_cells_behind_it() -> None:
    chosen = chosen_of(("a", Parameter("f64")))
    layout = WideLayout(chosen, np.ones(1, np.bool_))
    stale = Quality(Status.STALE, Reason.PUBLISHER_GONE).byte
    [block] = layout.rows([samples([0, 3], [1.0, 3.0]), samples([1], [1.0], quality=stale)])
    found = [
        row
        for made in TimeGrid(layout, 1).add(block)
        for row in ArrowRows(layout).batch(made).to_pylist()
    ]
    assert [row["a"] for row in found] == [1.0, None, None, 3.0]
