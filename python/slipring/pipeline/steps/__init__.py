"""Steps of the jobs, to import and reuse: each takes DataFrames and returns one, and does no I/O.

`rollup` merges windows, `limits` finds events, `latency` and `subscriptions` measure, `budget`
counts bytes. The modules with `_rows` in their names do the same on Arrow tables, without Spark.
"""
