"""The tables of the lake as views in Spark, without a jar (D1)."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from slipring import lake
from slipring import spark as slipring_spark
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from tests.lake_samples import NAMES, TEXT_INDEX, UNITS, commit, make_lake, sample_batch
from tests.s3_server import S3Server

pytestmark = pytest.mark.timeout(900)

SQL = (
    "SELECT parameter, count(*) AS n, min(value) AS low, max(text) AS text, max(quality) AS worst "
    "FROM samples WHERE receive_date = DATE '2026-01-02' GROUP BY parameter ORDER BY parameter"
)


def test_every_table_is_a_view_with_the_rows_and_types_of_the_lake(
    spark: SparkSession, tmp_path: Path
) -> None:
    make_lake(tmp_path, rate_hz=10, seconds=4)
    views = slipring_spark.tables(spark, tmp_path)
    opened = lake.open(tmp_path)
    assert sorted(views.versions) == opened.names()
    assert [row.asDict() for row in spark.sql(SQL).collect()] == opened.query(SQL).to_pylist()
    for name in opened.names():
        assert spark.table(name).count() == opened.table(name).status().rows
    kinds = dict(spark.table("samples").dtypes)
    assert (kinds["integer"], kinds["source_time"], kinds["receive_date"]) == (
        "decimal(20,0)",
        "timestamp",
        "date",
    )


def test_a_refresh_shows_what_came_since_and_a_version_stays(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = make_lake(tmp_path, rate_hz=10, seconds=4, rollups=False)
    views = slipring_spark.tables(spark, tmp_path)
    before = spark.table("samples").count()
    version = views.versions["samples"]
    later = sample_batch(NAMES, UNITS, 0, range(made.samples_each, made.samples_each + 5), 10)
    commit(LakeLocation.of(tmp_path), SAMPLES, later, 9)
    assert spark.table("samples").count() == before
    views.refresh()
    assert spark.table("samples").count() == before + 5 * len(NAMES)
    slipring_spark.tables(spark, tmp_path, versions={"samples": version})
    assert spark.table("samples").count() == before


def test_a_table_without_rows_is_a_view(spark: SparkSession, tmp_path: Path) -> None:
    from slipring.lake.table import LakeTable

    LakeTable.open(LakeLocation.of(tmp_path), SAMPLES)
    slipring_spark.tables(spark, tmp_path)
    assert spark.table("samples").count() == 0
    assert spark.table("samples").columns[-1] == "receive_date"


def test_a_lake_in_s3_storage_is_read_without_a_jar(
    spark: SparkSession, s3_server: S3Server, s3_bucket: str
) -> None:
    where, options = f"s3://{s3_bucket}/lake", s3_server.options
    rows = sample_batch(NAMES, UNITS, 0, range(20), 10)
    commit(LakeLocation.of(where, options), SAMPLES, rows, 1)
    slipring_spark.tables(spark, where, options=options)
    opened = lake.open(where, options=options)
    assert [row.asDict() for row in spark.sql(SQL).collect()] == opened.query(SQL).to_pylist()
    texts = (
        spark.table("samples").where("text is not null").select("parameter").distinct().collect()
    )
    assert [row.parameter for row in texts] == [NAMES[TEXT_INDEX]]
