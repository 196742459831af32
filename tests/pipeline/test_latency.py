"""The job `latency` (D1), and table 6 of P: the way of samples, and who gets them as wished."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from slipring.lake.files import write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.pipeline.latency import lake_commits, latency_job
from slipring.pipeline.latency_section import LatencySection
from slipring.pipeline.steps.latency_rows import LATENCY_SCHEMA, combined_ages, with_percentiles
from tests.pipeline.steps.partials_by_hand import SECOND_NS, START_NS, Measured, samples_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOURNAL = "0123456789abcdef"
MS = 1_000_000
MINUTE_NS = 60 * SECOND_NS
MINUTE_START = START_NS // MINUTE_NS * MINUTE_NS


def aged(ages_ns: list[int], window_ns: int = MINUTE_START) -> pa.Table:
    """Rows as Spark counts them: one for each bucket."""
    buckets = [int(np.floor(np.log(max(one, 1)) / np.log(1.01))) for one in ages_ns]
    count = len(ages_ns)
    return pa.table(
        {
            "publisher": ["jet"] * count,
            "hop": ["published_to_received"] * count,
            "window_ns": [window_ns] * count,
            "bucket": pa.array(buckets, pa.int32()),
            "count": [1] * count,
            "min_ns": ages_ns,
            "max_ns": ages_ns,
            "sum_ns": [float(one) for one in ages_ns],
        }
    )


def test_percentiles_are_right_within_one_percent() -> None:
    ages = [number * MS for number in range(1, 1_001)]
    (row,) = with_percentiles(combined_ages(aged(ages))).to_pylist()
    assert (row["count"], row["min_ns"], row["max_ns"], row["mean_ns"]) == (
        1000,
        MS,
        1000 * MS,
        500.5 * MS,
    )
    for name, truth in (("p50_ns", 500), ("p95_ns", 950), ("p99_ns", 990)):
        assert row[name] == pytest.approx(truth * MS, rel=0.01)


def test_rows_of_two_batches_add_up_to_that_of_both(tmp_path: Path) -> None:
    ages = [number * MS for number in range(1, 200)]
    job = latency_job(LakeLocation.of(tmp_path), JOURNAL, LatencySection(every=0))
    job.write(lambda a, b: combined_ages(aged(ages[a:b])), 0, 120)
    again = latency_job(LakeLocation.of(tmp_path), JOURNAL, LatencySection(every=0))
    again.write(lambda a, b: combined_ages(aged(ages[a:b])), 60, 199)
    rows = open_table(LakeLocation.of(tmp_path), "latency").to_pyarrow_table().to_pylist()
    (expected,) = with_percentiles(combined_ages(aged(ages))).to_pylist()
    assert [{name: row[name] for name in expected} for row in rows] == [expected]


def test_a_batch_without_frames_is_taken_too(tmp_path: Path) -> None:
    job = latency_job(LakeLocation.of(tmp_path), JOURNAL, LatencySection(every=0))
    job.write(lambda _start, _end: LATENCY_SCHEMA.empty_table(), 0, 5)
    assert job.position() == 5


def test_the_log_of_the_lake_says_when_offsets_became_visible(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = LakeTable.open(lake, SAMPLES)
    rows = samples_table([Measured(0, number, 1.0) for number in range(9)])
    rows = rows.append_column("journal", pa.array([JOURNAL] * 9))
    for start in (0, 5):
        files = write_file(lake, SAMPLES, rows.slice(start, 5).to_batches())
        table.commit(files, {app_id(JOURNAL): start + 5})
    found = lake_commits(table, JOURNAL, 5, 9).to_pylist()
    assert [(one["start"], one["end"]) for one in found if one["end"] > 5] == [(5, 9)]
    assert lake_commits(table, "zz", 0, 9).num_rows == 0


def frames_of(spark: "SparkSession", rows: list[tuple[Any, ...]]) -> Any:
    names = (
        "offset long, publisher string, receive_ns long, sent_ns long, published_ns long, "
        "skew_ns long, samples int"
    )
    return spark.createDataFrame(rows, names)


def test_ages_are_by_the_brokers_clock(spark: "SparkSession") -> None:
    """Frame 0 was sent by a clock that is 10 s behind; frame 1 does not know its skew.

    A sample of frame 1 is centuries old: it has no age, and the job goes on.
    """
    from slipring.pipeline.steps import latency

    skew = 10 * SECOND_NS
    at = MINUTE_START
    frames = frames_of(
        spark,
        [
            (0, "jet", at + 50 * MS, at + 20 * MS - skew, 0, skew, 2),
            (1, "car", at + 80 * MS, at + 70 * MS, None, None, 1),
        ],
    )
    samples = spark.createDataFrame(
        [(0, at - skew), (0, at + 10 * MS - skew), (1, at), (1, -(2**63))],
        "offset long, source_ns long",
    )
    commits = spark.createDataFrame(
        [(0, 1, at + 250 * MS)], "start long, end long, committed_ns long"
    )
    ages = latency.hop_ages(frames, samples, commits)
    rows = latency.results(latency.histogram(ages)).collect()
    found = {
        (row.publisher, row.hop): (row["count"], row.min_ns // MS, row.max_ns // MS) for row in rows
    }
    assert found == {
        ("jet", "measured_to_published"): (2, 10, 20),
        ("jet", "published_to_received"): (2, 30, 30),
        ("jet", "received_to_lake"): (2, 200, 200),
        ("jet", "measured_to_lake"): (2, 240, 250),
        ("car", "measured_to_published"): (1, 70, 70),
        ("car", "published_to_received"): (1, 10, 10),
    }
    assert {row.window_ns for row in rows} == {at}


def test_table_6_counts_subscriptions_near_their_wish(spark: "SparkSession") -> None:
    """P10: mean intervals of 100.5, 104 and 110 ms where 100 ms were wished."""
    from slipring.pipeline.steps import subscriptions

    steps = {"steady": 100.5, "slow": 104.0, "late": 110.0, "once": 0.0}
    rows = [
        (name, "jet/#", MINUTE_START + int(number * step * MS), 100 * MS)
        for name, step in steps.items()
        for number in range(1 if name == "once" else 20)
    ]
    arrivals = spark.createDataFrame(
        rows, "subscriber string, subscription string, time_ns long, wish_ns long"
    )
    per = subscriptions.intervals(arrivals)
    assert {row.subscriber: row.arrivals for row in per.collect()} == {
        "steady": 19,
        "slow": 19,
        "late": 19,
    }
    (row,) = subscriptions.shares(per).collect()
    assert row.subscriptions == 3
    assert row.within_1_percent == pytest.approx(1 / 3)
    assert row.within_5_percent == pytest.approx(2 / 3)
