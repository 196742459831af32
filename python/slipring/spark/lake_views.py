"""Tables of the lake as views in Spark, without a jar for Delta: the log names the files.

A folder is read by Spark's own Parquet reader, with what it skips. On S3 Spark needs a jar for
that; so there Python workers read the files, and every column of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.lake.columns import conform
from slipring.lake.storage import LakeLocation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from slipring.lake.lake import Lake
    from slipring.lake.snapshot import TableSnapshot

BATCH_ROWS = 65_536


class LakeViews:
    """The views of one lake in one session."""

    def __init__(self, spark: "SparkSession", lake: "Lake", versions: Mapping[str, int]) -> None:
        self._spark = spark
        self._lake = lake
        self._fixed = dict(versions)
        self.versions: dict[str, int] = {}
        """The version that each view shows."""

    def refresh(self) -> None:
        """Show the newest version of each table, and tables that are new."""
        for name in self._lake.names():
            table = self._lake.table(name, version=self._fixed.get(name))
            data_frame(self._spark, table).createOrReplaceTempView(name)
            self.versions[name] = table.version


def data_frame(spark: "SparkSession", table: "TableSnapshot") -> "DataFrame":
    """One version of a table."""
    schema = table.schema
    if not table.files():
        return spark.createDataFrame([], from_arrow_schema(schema))
    if table.location.is_local:
        reader = spark.read.schema(from_arrow_schema(schema))
        return reader.option("basePath", table.location.uri).parquet(*table.file_uris())
    rows = [(path, day or "") for path, day in _by_day(table)]
    partitions = min(len(rows), spark.sparkContext.defaultParallelism * 4)
    files = spark.createDataFrame(rows, "path string, day string").repartition(partitions)
    read = _file_reader(table.location, schema, table.partition_by)
    return files.mapInArrow(read, from_arrow_schema(schema))


def _by_day(table: "TableSnapshot") -> Iterator[tuple[str, str | None]]:
    """Each file with the value of its partition; tables have one column of days, or none."""
    for path, partition in table.files():
        yield path, next(iter(partition.values()), None)


def _file_reader(
    location: LakeLocation, schema: pa.Schema, partition_by: list[str]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for Spark's workers: it takes rows of path and day, and returns rows of files."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        files = location.filesystem()
        for batch in batches:
            for row in batch.to_pylist():
                with pq.ParquetFile(row["path"], filesystem=files) as file:
                    for rows in file.iter_batches(BATCH_ROWS):
                        for name in partition_by:
                            day = pa.scalar(date.fromisoformat(row["day"]))
                            rows = rows.append_column(name, pa.repeat(day, len(rows)))  # noqa: PLW2901
                        yield conform(rows, schema)

    return read
