"""The job `budget` (V4): bytes per vehicle and day against the cap, and when it will be reached."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from slipring.errors import ConfigError
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.pipeline.budget import budget_job
from slipring.pipeline.budget_section import BudgetSection
from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.steps.budget_rows import DAY_NS, HOUR_NS, combined_bytes
from slipring.pipeline.vehicle_pattern import vehicle_expression
from tests.pipeline.steps.partials_by_hand import START_NS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOURNAL = "0123456789abcdef"
DAY = START_NS // DAY_NS * DAY_NS
MB = 1_000_000


def sent(rows: list[tuple[str, float, int]], day: int = DAY) -> pa.Table:
    """Bytes of vehicles by the hour in which they were received."""
    hours = [int(hour) for _, hour, _ in rows]
    return combined_bytes(
        pa.table(
            {
                "vehicle": [vehicle for vehicle, _, _ in rows],
                "hour_ns": pa.array([day + hour * HOUR_NS for hour in hours], pa.int64()),
                "messages": pa.array([1] * len(rows), pa.int64()),
                "bytes": pa.array([size for _, _, size in rows], pa.int64()),
                "last_ns": pa.array([day + int(hour * HOUR_NS) for _, hour, _ in rows], pa.int64()),
            }
        )
    )


def rows_in(lake: Path) -> list[dict[str, Any]]:
    rows = open_table(LakeLocation.of(lake), "budget").to_pyarrow_table()
    found: list[dict[str, Any]] = rows.sort_by(
        [("window_ns", "ascending"), ("vehicle", "ascending")]
    ).to_pylist()
    return found


def hour_of(time: datetime | None) -> float | None:
    begin = datetime.fromtimestamp(DAY // 10**9, UTC)
    return None if time is None else (time - begin) / timedelta(hours=1)


def test_a_vehicle_and_day_has_one_row_whatever_the_batches(tmp_path: Path) -> None:
    batches = [
        sent([("truck-1", 5.0, MB), ("truck-2", 5.0, 7)]),
        sent([("truck-1", 6.0, 3 * MB), ("truck-1", 6.0, MB)]),
        sent([("truck-1", 1.0, 9)], DAY + DAY_NS),
    ]
    for number in range(3):
        job = budget_job(LakeLocation.of(tmp_path), JOURNAL, BudgetSection(every=0))
        for place in range(max(0, number - 1), number + 1):
            job.write(lambda a, _b: batches[a], place, place + 1)
    assert [(row["vehicle"], row["bytes"], row["messages"]) for row in rows_in(tmp_path)] == [
        ("truck-1", 5 * MB, 3),
        ("truck-2", 7, 1),
        ("truck-1", 9, 1),
    ]


def test_a_batch_without_a_vehicle_is_taken_too(tmp_path: Path) -> None:
    job = budget_job(LakeLocation.of(tmp_path), JOURNAL)
    job.write(lambda *_: sent([("39-7", 1, MB)]).slice(0, 0), 0, 5)
    job.finish()
    assert job.position() == 5
    assert rows_in(tmp_path) == []


def test_the_forecast_is_linear_and_by_the_same_weekday(tmp_path: Path) -> None:
    """At 06:00 with 4 of 10 MB: 15:00 at this rate, but a week ago most was sent at night."""
    job = budget_job(LakeLocation.of(tmp_path), JOURNAL, BudgetSection(every=0))
    before = sent([("truck-1", 5.0, MB), ("truck-1", 22.0, 12 * MB)], DAY - 7 * DAY_NS)
    today = sent([("truck-1", 6.0, 4 * MB), ("truck-2", 6.0, 11 * MB), ("truck-3", 6.0, MB)])
    job.write(lambda a, _b: (before, today)[a], 0, 1)
    job.write(lambda a, _b: (before, today)[a], 1, 2)
    one, two, three = rows_in(tmp_path)[1:]
    assert (one["share"], two["share"], one["cap_bytes"]) == (0.4, 1.1, 10 * MB)
    assert hour_of(one["forecast_linear"]) == pytest.approx(15)
    assert hour_of(one["forecast_weekday"]) == pytest.approx(22.5)
    assert two["forecast_linear"] is None, "it is reached"
    assert three["forecast_linear"] is None, "not on this day"
    assert three["forecast_weekday"] is None, "no day to compare with"


def test_a_batch_that_fails_half_way_is_not_written_when_the_job_ends(tmp_path: Path) -> None:
    """The second of its days cannot be read; the next run adds the batch once."""
    lake, seldom = LakeLocation.of(tmp_path), BudgetSection(every=3_600 * 10**9)
    days = [sent([("truck-1", 5.0, MB)], DAY + day * DAY_NS) for day in (0, 3)]
    batches = [pa.concat_tables(days), days[0], pa.concat_tables(days)]
    job = budget_job(lake, JOURNAL, seldom)
    job.write(lambda a, _b: batches[a], 0, 1)
    job.finish()
    job = budget_job(lake, JOURNAL, seldom)
    job.write(lambda a, _b: batches[a], 1, 2)
    day = max(tmp_path.glob("budget/date=*"))
    day.rename(tmp_path / "away")
    with pytest.raises(FileNotFoundError):
        job.write(lambda a, _b: batches[a], 2, 3)
    job.finish()
    (tmp_path / "away").rename(day)
    job = budget_job(lake, JOURNAL, seldom)
    for place in range(job.position() or 0, 3):
        job.write(lambda a, _b: batches[a], place, place + 1)
    job.finish()
    assert [row["bytes"] for row in rows_in(tmp_path)] == [3 * MB, 2 * MB]


def test_a_day_that_did_not_fit_into_memory_is_not_lost_when_its_weekday_comes(
    tmp_path: Path,
) -> None:
    """The forecast reads the same weekday again while the commit is made."""
    section = BudgetSection(rows_open_max=1)
    job = budget_job(LakeLocation.of(tmp_path), JOURNAL, section)
    days = [sent([("truck-1", 5.0, MB + day)], DAY + day * DAY_NS) for day in range(15)]
    job.write(lambda _a, _b: pa.concat_tables(days), 0, 15)
    job.finish()
    assert [row["bytes"] for row in rows_in(tmp_path)] == [MB + day for day in range(15)]


@pytest.mark.parametrize(
    ("pattern", "topic", "vehicle"),
    [
        ("fleet/{vehicle}/#", "fleet/truck-1/can/speed", "truck-1"),
        ("fleet/{vehicle}/#", "fleet/truck-1", "truck-1"),
        ("fleet/{vehicle}/#", "other/truck-1/x", None),
        ("+/{vehicle}", "a/b", "b"),
        ("+/{vehicle}", "a/b/c", None),
        ("gateway-{vehicle}", "gateway-7", "7"),
    ],
)
def test_the_pattern_finds_the_vehicle(pattern: str, topic: str, vehicle: str | None) -> None:
    import re

    found = re.search(vehicle_expression(pattern), topic)
    assert (found and found[1]) == vehicle


def test_a_pattern_without_a_vehicle_is_a_mistake_of_the_file() -> None:
    with pytest.raises(
        ConfigError, match=r"pipeline\.budget\.vehicle: a pattern has \{vehicle\} once"
    ):
        parse_pipeline({"budget": {"vehicle": "fleet/#"}})


def test_spark_counts_messages_by_vehicle(spark: "SparkSession") -> None:
    from slipring.pipeline.steps import budget

    messages = spark.createDataFrame(
        [
            ("fleet/a/x", DAY, b"12345"),
            ("fleet/a/y", DAY + 30 * HOUR_NS, b""),
            ("plant/b", DAY, b"1"),
        ],
        "topic string, receive_ns long, payload binary",
    )
    days = budget.by_day(budget.vehicles(messages, "fleet/{vehicle}/#", overhead_bytes=4))
    rows = sorted((row.vehicle, row.window_ns, row.bytes, row.messages) for row in days.collect())
    assert rows == [("a", DAY, 18, 1), ("a", DAY + DAY_NS, 13, 1)]


def test_a_batch_without_bytes_of_a_vehicle_moves_the_job_on(tmp_path: Path) -> None:
    """V4: messages of topics that the pattern does not name are no reason to end."""
    job = budget_job(LakeLocation.of(tmp_path), JOURNAL)
    job.write(lambda _start, _end: sent([]), 0, 5)
    job.finish()
    assert (job.position(), rows_in(tmp_path)) == (5, [])
    job.write(lambda _start, _end: sent([("truck-1", 5.0, 7)]), 5, 6)
    job.finish()
    assert [row["bytes"] for row in rows_in(tmp_path)] == [7]
    assert job.rows_written() == {"budget": 1}
