"""The job `rollup` (D1): one row per window in the lake, whatever is cut, late, or killed."""

import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from slipring.errors import PipelineError
from slipring.lake.compaction import compact, plan
from slipring.lake.specs import ROLLUPS
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.pipeline.rollup import Rollup
from slipring.pipeline.rollup_batch import merged_rows
from slipring.pipeline.rollup_section import RollupSection
from slipring.pipeline.steps.partial_rows import partials_of
from tests.pipeline.steps.partials_by_hand import (
    SECOND_NS,
    START_NS,
    Measured,
    rolled_up,
    samples_table,
)
from tests.pipeline.steps.test_partial_rows import assert_row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WINDOWS_NS = {"1s": SECOND_NS, "1m": 60 * SECOND_NS, "1h": 3_600 * SECOND_NS}
AT_ONCE = RollupSection(minutes_every=0, hours_every=0)
JOURNAL = "0123456789abcdef"


def rows_of(samples: pa.Table) -> Callable[[int, int], pa.Table]:
    """What the source would deliver: the offset of a sample is its place."""
    return lambda start, end: partials_of(samples.slice(start, end - start), SECOND_NS)


def table_rows(lake: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        open_table(LakeLocation.of(lake), name).to_pyarrow_table().to_pylist()
    )
    return found


def assert_lake_equals_truth(lake: Path, samples: list[Measured]) -> None:
    for word, window_ns in WINDOWS_NS.items():
        truth = rolled_up(samples, window_ns)
        rows = table_rows(lake, f"rollup_{word}")
        assert sorted((row["index"], row["window_ns"]) for row in rows) == sorted(truth)
        for row in rows:
            assert_row(row, truth[row["index"], row["window_ns"]])


def compact_all(lake: LakeLocation, word: str) -> None:
    """Compact a table as upkeep does when its slices of time are over."""
    table = LakeTable.open(lake, ROLLUPS[word])
    for planned in plan(table.files(), table.spec, datetime.now(UTC) + timedelta(days=1)):
        compact(table, planned, threading.Event())


def write_all(job: Rollup, source: Callable[[int, int], pa.Table], step: int) -> None:
    for start in range(job.position() or 0, 300, step):
        job.write(source, start, min(start + step, 300))


def some_samples(seed: int, count: int = 300, span_s: int = 400) -> list[Measured]:
    chance = random.Random(seed)
    times = sorted(chance.sample(range(span_s * 1_000), count))
    return [
        Measured(
            chance.randrange(3),
            at_ms * 1_000_000,
            chance.uniform(-9, 9),
            chance.choice([0] * 9 + [128]),
        )
        for at_ms in times
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_lake_has_one_row_for_each_window(tmp_path: Path, seed: int) -> None:
    samples = some_samples(seed)
    chance = random.Random(seed)
    table = samples_table(samples)
    lake = LakeLocation.of(tmp_path)
    job, start = Rollup(lake, JOURNAL, AT_ONCE), 0
    while start < len(samples):
        end = min(len(samples), start + chance.randint(1, 90))
        job.write(rows_of(table), start, end)
        if chance.random() < 0.4:
            job = Rollup(lake, JOURNAL, AT_ONCE)
        start = end
    assert job.position() == len(samples)
    assert_lake_equals_truth(tmp_path, samples)


@pytest.mark.parametrize("seed", range(3))
def test_pieces_that_arrive_in_another_order_are_corrected_in_place(
    tmp_path: Path, seed: int
) -> None:
    samples = some_samples(seed)
    chance = random.Random(seed)
    pieces = [samples[start : start + 20] for start in range(0, len(samples), 20)]
    chance.shuffle(pieces)
    arrived = [one for piece in pieces for one in piece]
    lake = LakeLocation.of(tmp_path)
    for start in range(0, len(arrived), 60):
        job = Rollup(lake, JOURNAL, AT_ONCE)
        for begin in range(start, start + 60, 20):
            job.write(rows_of(samples_table(arrived)), begin, begin + 20)
    assert_lake_equals_truth(tmp_path, arrived)


def test_a_run_that_is_killed_at_any_commit_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before and after each commit; the next run cuts the offsets in another way."""
    samples = some_samples(7)
    source = rows_of(samples_table(samples))
    lake = LakeLocation.of(tmp_path)
    commit = LakeTable.commit
    left = [0]

    def dying(self: LakeTable, *given: Any, **named: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        commit(self, *given, **named)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(LakeTable, "commit", dying)
    for kill in range(1, 14):
        left[0] = kill
        job = Rollup(lake, JOURNAL, AT_ONCE)
        with pytest.raises(KeyboardInterrupt):
            write_all(job, source, 17 + kill % 3)
    monkeypatch.undo()
    job = Rollup(lake, JOURNAL, AT_ONCE)
    job.write(source, job.position() or 0, len(samples))
    assert_lake_equals_truth(tmp_path, samples)


def test_longer_windows_continue_where_they_were_written_last(tmp_path: Path) -> None:
    """Without `finish`, hours are only in memory; the next run begins at what they lack."""
    samples = some_samples(5)
    source = rows_of(samples_table(samples))
    lake = LakeLocation.of(tmp_path)
    seldom = RollupSection(minutes_every=WINDOWS_NS["1h"], hours_every=WINDOWS_NS["1h"])
    job = Rollup(lake, JOURNAL, seldom)
    for until in (100, 200):
        job = Rollup(lake, JOURNAL, seldom)
        for start in range(job.position() or 0, until, 50):
            job.write(source, start, start + 50)
        assert job.position() is None
    job.write(source, 200, 300)
    job.finish()
    assert job.position() == 300
    assert_lake_equals_truth(tmp_path, samples)


def test_a_repeated_batch_changes_nothing(tmp_path: Path) -> None:
    samples = some_samples(2)
    source = rows_of(samples_table(samples))
    job = Rollup(LakeLocation.of(tmp_path), JOURNAL, AT_ONCE)
    job.write(source, 0, 300)
    before = [
        open_table(LakeLocation.of(tmp_path), f"rollup_{word}").version() for word in WINDOWS_NS
    ]
    job.write(source, 0, 300)
    Rollup(LakeLocation.of(tmp_path), JOURNAL, AT_ONCE).write(source, 100, 300)
    after = [
        open_table(LakeLocation.of(tmp_path), f"rollup_{word}").version() for word in WINDOWS_NS
    ]
    assert before == after


def test_batches_without_rows_move_the_tables_on(tmp_path: Path) -> None:
    """A journal may have messages that are no samples, or only samples that are too late."""
    samples = [Measured(0, number * SECOND_NS, 1.0) for number in range(4)]
    table = samples_table(samples)
    received = [START_NS + one.at_ns for one in samples]
    received[1] += 90_000 * SECOND_NS
    table = table.set_column(
        table.schema.get_field_index("receive_ns"), "receive_ns", pa.array(received)
    )
    job = Rollup(LakeLocation.of(tmp_path), JOURNAL, AT_ONCE)
    nothing = partials_of(table.slice(0, 0), SECOND_NS)
    for start, source in ((0, rows_of(table)), (1, rows_of(table)), (2, lambda _a, _b: nothing)):
        job.write(source, start, start + 1)
    job.write(rows_of(table), 3, 4)
    assert job.position() == 4
    assert [row["count"] for row in table_rows(tmp_path, "rollup_1h")] == [2]
    assert [row["count"] for row in table_rows(tmp_path, "rollup_late")] == [1]


def test_offsets_that_were_skipped_are_an_error(tmp_path: Path) -> None:
    job = Rollup(LakeLocation.of(tmp_path), JOURNAL, AT_ONCE)
    source = rows_of(samples_table(some_samples(1)))
    job.write(source, 0, 100)
    with pytest.raises(PipelineError, match="up to offset 100, but the next batch begins at 150"):
        job.write(source, 150, 300)


def test_what_is_too_late_goes_to_a_table_of_its_own(tmp_path: Path) -> None:
    samples = [Measured(0, number * SECOND_NS, float(number)) for number in range(10)]
    table = samples_table(samples)
    received = [START_NS + one.at_ns for one in samples]
    received[3] += 3_600 * SECOND_NS
    column = table.schema.get_field_index("receive_ns")
    table = table.set_column(column, "receive_ns", pa.array(received))
    config = RollupSection(late=600 * SECOND_NS, minutes_every=0, hours_every=0)
    job = Rollup(LakeLocation.of(tmp_path), JOURNAL, config)
    job.write(rows_of(table), 0, 10)
    assert_lake_equals_truth(tmp_path, samples[:3] + samples[4:])
    (late,) = table_rows(tmp_path, "rollup_late")
    assert (late["first"], late["count"], late["journal"]) == (3.0, 1, JOURNAL)
    assert late["reason"] == "received more than 0:10:00 after its window"


def test_two_journals_share_the_tables(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    for journal in ("a", "b"):
        job = Rollup(lake, journal, AT_ONCE)
        job.write(rows_of(samples_table(some_samples(3))), 0, 150)
        job.write(rows_of(samples_table(some_samples(3))), 150, 300)
    rows = table_rows(tmp_path, "rollup_1s")
    per = {
        name: sorted((r["index"], r["window_ns"], r["count"]) for r in rows if r["journal"] == name)
        for name in "ab"
    }
    assert per["a"] == per["b"] != []


def test_files_that_upkeep_has_compacted_are_divided_again(tmp_path: Path) -> None:
    samples = some_samples(4)
    source = rows_of(samples_table(samples))
    lake = LakeLocation.of(tmp_path)
    running = Rollup(lake, JOURNAL, AT_ONCE)
    Rollup(lake, "other", AT_ONCE).write(source, 0, 250)
    running.write(source, 0, 200)
    for word in WINDOWS_NS:
        compact_all(lake, word)
    running.write(source, 200, 250)
    Rollup(lake, JOURNAL, AT_ONCE).write(source, 250, 300)
    others = [row for row in table_rows(tmp_path, "rollup_1s") if row["journal"] == "other"]
    assert sum(row["count"] + row["bad"] for row in others) == 250
    Rollup(lake, "other", AT_ONCE).write(source, 250, 300)
    assert sum(row["count"] + row["bad"] for row in table_rows(tmp_path, "rollup_1h")) == 600


def test_memory_is_bounded_while_a_batch_touches_many_slices(tmp_path: Path) -> None:
    samples = some_samples(9)
    config = RollupSection(minutes_every=0, hours_every=0, rows_open_max=10)
    job = Rollup(LakeLocation.of(tmp_path), JOURNAL, config)
    for start in range(0, 300, 100):
        job.write(rows_of(samples_table(samples)), start, start + 100)
        for level in job._levels:
            assert sum(one.rows for one in level.table._open.values()) <= 25
    assert_lake_equals_truth(tmp_path, samples)


def test_spark_merges_the_partials_of_a_batch(tmp_path: Path, spark: "SparkSession") -> None:
    from slipring.pipeline.steps import rollup

    samples = some_samples(11)
    frame = spark.createDataFrame(samples_table(samples)).repartition(3)
    job = Rollup(LakeLocation.of(tmp_path), JOURNAL, AT_ONCE)

    def partials(start: int, end: int) -> Any:
        return rollup.partials_of_samples(
            frame.where(f"offset >= {start} and offset < {end}"), "1s"
        )

    for start in (0, 150):
        job.write(merged_rows(partials), start, start + 150)
    exact = {(r["index"], r["window_ns"]): r for r in table_rows(tmp_path, "rollup_1s")}
    truth = rolled_up(samples, SECOND_NS)
    assert exact.keys() == truth.keys()
    assert all(exact[key]["count"] == truth[key]["count"] for key in truth)
