"""Whether subscribers get data as often as they wished (P's table 6), as steps.

The input has a row for each arrival at a subscriber: `subscriber`, `subscription` (its filter or
name), `time_ns` and `wish_ns`, the interval it asked for. Only the subscriber knows when something
arrived; the journal does not.

    from slipring.pipeline.steps import subscriptions

    table_6 = subscriptions.shares(subscriptions.intervals(arrivals))
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from slipring.pipeline.section import parse_length

WITHIN = {"within_1_percent": 0.01, "within_5_percent": 0.05}


def intervals(arrivals: DataFrame, window: str = "1m") -> DataFrame:
    """One row for each subscription and window of time: its mean interval against the wish.

    An interval belongs to the window in which it ends. A subscription with a single arrival has no
    interval, and no row.
    """
    window_ns = parse_length(window)
    series = Window.partitionBy("subscriber", "subscription").orderBy("time_ns")
    steps = arrivals.withColumn("step_ns", f.col("time_ns") - f.lag("time_ns").over(series))
    begin = f.expr(f"time_ns - pmod(time_ns, {window_ns})")
    rows = (
        steps.where("step_ns IS NOT NULL")
        .withColumn("window_ns", begin)
        .groupBy("subscriber", "subscription", "window_ns", "wish_ns")
        .agg(
            f.count("*").alias("arrivals"),
            f.avg("step_ns").alias("mean_ns"),
            f.max("step_ns").alias("max_ns"),
            *(
                f.avg(_is_within("step_ns", part)).alias(f"steps_{name}")
                for name, part in WITHIN.items()
            ),
        )
    )
    return rows.withColumns(
        {
            "window_start": f.timestamp_micros(f.expr("window_ns div 1000")),
            **{f"is_{name}": _is_within("mean_ns", part) == 1.0 for name, part in WITHIN.items()},
        }
    )


def shares(rows: DataFrame) -> DataFrame:
    """One row for each window: the share of subscriptions whose mean interval is near the wish."""
    return rows.groupBy("window_ns", "window_start").agg(
        f.count("*").alias("subscriptions"),
        *(f.avg(f.col(f"is_{name}").cast("double")).alias(name) for name in WITHIN),
    )


def _is_within(column: str, part: float) -> Column:
    """1.0 if a length of time differs from the wish by at most this part of it, else 0.0."""
    return (f.abs(f.col(column) - f.col("wish_ns")) <= f.col("wish_ns") * part).cast("double")
