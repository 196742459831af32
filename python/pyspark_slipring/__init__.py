"""Spark imports every module named `pyspark_*` and registers its `DefaultSource`: ours is here."""

from slipring.spark.source import SlipringDataSource as DefaultSource

__all__ = ["DefaultSource"]
