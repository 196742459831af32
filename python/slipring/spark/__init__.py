"""PySpark: the data source `format("slipring")`, its rows by `read`, a lake's tables as views.

Spark finds the source through `pyspark_slipring`. Must never know the broker.
"""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slipring.spark.lake_views import LakeViews

__all__ = ["read", "read_stream", "tables"]


def read(spark: "SparkSession", journal: str | Path, **options: str) -> "DataFrame":
    """The rows of `spark.read.format("slipring")` with these options, in about half the time.

    Takes every option of the source but `pushFilters`.
    """
    from slipring.spark.decoded import decoded

    return decoded(spark, {"path": str(journal), **options}, is_stream=False)


def read_stream(spark: "SparkSession", journal: str | Path, **options: str) -> "DataFrame":
    """The rows of `spark.readStream.format("slipring")` with these options, as `read`."""
    from slipring.spark.decoded import decoded

    return decoded(spark, {"path": str(journal), **options}, is_stream=True)


def tables(
    spark: "SparkSession",
    where: str | Path,
    *,
    as_of: datetime | None = None,
    versions: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
) -> "LakeViews":
    """Register every table of a lake as a temporary view under its name. Needs no jar.

    The views stay as they are when the lake grows; `refresh()` of what this returns renews them.
    `as_of` takes all tables as they were at a time, `versions` some of them in a version.
    `options` are those of S3 storage, as for `slipring.lake.open`.
    """
    from slipring.lake import open as open_lake
    from slipring.spark.lake_views import LakeViews

    views = LakeViews(spark, open_lake(where, as_of=as_of, options=options), versions or {})
    views.refresh()
    return views
