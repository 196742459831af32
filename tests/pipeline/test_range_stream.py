"""A job of slices behind Spark's stream: a new checkpoint for each run, and nothing twice (D1)."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from slipring.journal.location import JournalFolder
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.pipeline.budget import budget_job
from slipring.pipeline.budget_section import BudgetSection
from tests.journal_messages import write_messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATTERN = "demo/{vehicle}"


def run_once(
    spark: "SparkSession", journal: JournalFolder, lake: Path, checkpoint: Path
) -> int | None:
    from slipring.pipeline.range_stream import each_range, range_stream, rows_between
    from slipring.pipeline.steps import budget

    job = budget_job(LakeLocation.of(lake), "j", BudgetSection(vehicle=PATTERN, every=0))

    def rows(start: int, end: int) -> pa.Table:
        messages = rows_between(spark, journal, start, end)
        return budget.by_day(budget.vehicles(messages, PATTERN)).toArrow()

    query = (
        range_stream(spark, journal, job.position(), 70)
        .writeStream.foreachBatch(each_range(lambda start, end: job.write(rows, start, end)))
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return job.position()


def test_runs_go_on_where_the_table_ends(tmp_path: Path, spark: "SparkSession") -> None:
    folder, lake = tmp_path / "journal", tmp_path / "lake"
    for run in range(2):
        write_messages(folder, 100, start=run * 100)
        checkpoint = tmp_path / f"checkpoint-{run}"
        assert run_once(spark, JournalFolder(str(folder)), lake, checkpoint) == (run + 1) * 100
    rows = open_table(LakeLocation.of(lake), "budget").to_pyarrow_table().to_pylist()
    found = sorted((row["vehicle"], row["messages"]) for row in rows)
    assert found == [("0", 67), ("1", 67), ("2", 66)]
