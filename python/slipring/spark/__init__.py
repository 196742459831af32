"""The PySpark data source `format("slipring")`; Spark finds it through `pyspark_slipring`.

Knows journals and Spark; must never know the broker or the lake.
"""
