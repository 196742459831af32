"""Rows of a range of offsets as DataFrames: what the jobs compute from."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from slipring.journal.location import JournalLocation


def cores_of(spark: SparkSession) -> dict[str, str]:
    """The option of the source that divides the work among the cores of the cluster, if any."""
    context = spark.sparkContext
    is_local = (context.master or "local").startswith("local")
    return {} if is_local else {"cores": str(context.defaultParallelism)}


@dataclass(frozen=True)
class JournalRows:
    """A journal through `format("slipring")`."""

    spark: SparkSession
    location: JournalLocation

    def read(self, deliver: str, start: int, end: int, **options: str) -> DataFrame:
        """The rows of the offsets [start, end)."""
        return (
            self.spark.read.format("slipring")
            .options(**self.location.options())
            .option("deliver", deliver)
            .option("startingOffset", str(start))
            .option("endingOffset", str(end))
            .options(**cores_of(self.spark))
            .options(**options)
            .load()
        )
