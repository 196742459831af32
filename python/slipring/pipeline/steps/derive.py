"""Derived parameters, as steps over DataFrames: `derive(samples, derivations)`, or its parts.

Samples have the columns of `format("slipring")` with `deliver=samples`, or of the lake's table.
"""

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (Spark's own habit)
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.pipeline.derivation import Derivation
from slipring.pipeline.steps.derive_rows import (
    RESULT,
    TRAVELLING,
    WORK_SCHEMA,
    Alignment,
    InputUses,
    Thinning,
    aligned_schema,
)

ANSI = "spark.sql.ansi.enabled"
_INTEGER_BOUNDS = {
    "bool": (0, 1), "u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1),
    "i8": (-(2**7), 2**7 - 1), "i16": (-(2**15), 2**15 - 1), "i32": (-(2**31), 2**31 - 1),
}  # fmt: skip


def derive(samples: DataFrame, derivations: Sequence[Derivation]) -> DataFrame:
    """The samples of derived parameters, over all samples that are there: for batches."""
    return evaluate(align(samples, derivations), derivations)


def align(
    samples: DataFrame,
    derivations: Sequence[Derivation],
    *,
    states: pa.Table | None = None,
    in_order: bool = False,
) -> DataFrame:
    """The inputs of each derivation at its times, and the states behind them.

    `states` is `work_of_states` of the batch before. `in_order` says that each partition has a
    range of the journal in its order, as the source delivers it: samples that cannot count are then
    left out before they travel. Rows that a worker has thinned itself (`Thinning`) may be given in
    place of samples.
    """
    chosen = tuple(derivations)
    _send_along(chosen)
    work = from_arrow_schema(WORK_SCHEMA)
    if "chunk" in samples.columns:
        rows = samples
    elif in_order:
        names = list(InputUses.of(chosen).by_name)
        rows = samples.where(F.col("parameter").isin(names)).select("parameter", *TRAVELLING[2:])
        rows = rows.mapInArrow(Thinning(chosen), work)
    else:
        rows = _inputs(samples, chosen).select(
            "*", F.col("source_ns").alias("counts_ns"), F.col("offset").alias("chunk")
        )
    if states is not None and states.num_rows:
        rows = rows.unionByName(samples.sparkSession.createDataFrame(states, work))
    schema = from_arrow_schema(aligned_schema(chosen))
    return rows.repartition("derivation").mapInArrow(Alignment(chosen), schema)


def evaluate(aligned: DataFrame, derivations: Sequence[Derivation]) -> DataFrame:
    """The samples that expressions and functions make of aligned rows; null and NaN are none."""
    results = with_values(aligned, derivations).where(F.col("role") == RESULT)
    return as_samples(results, derivations)


def with_values(aligned: DataFrame, derivations: Sequence[Derivation]) -> DataFrame:
    """Aligned rows with their `value`; states pass, and their value means nothing."""
    with _without_errors(aligned.sparkSession):
        return aligned.withColumn("value", result_column(derivations))


def result_column(derivations: Sequence[Derivation]) -> Column:
    """The value of each aligned row, by its derivation; equal expressions are written once."""
    together = dict[tuple[str | None, str], list[int]]()
    for number, one in enumerate(derivations):
        together.setdefault((one.sql(), one.definition.kind.word), []).append(number)
    cases = F.when(F.lit(False), F.lit(None).cast("double"))
    for (sql, kind), numbers in together.items():
        made = F.col("result") if sql is None else F.expr(f"CAST(({sql}) AS DOUBLE)")
        cases = cases.when(F.col("derivation").isin(numbers), _typed(made, kind))
    return cases


def as_samples(results: DataFrame, derivations: Sequence[Derivation]) -> DataFrame:
    """Aligned rows with a `value` as samples of their parameters."""
    described = [
        (number, one.name, one.index, one.definition.kind.word, one.definition.unit)
        for number, one in enumerate(derivations)
    ]
    schema = "derivation int, parameter string, index int, kind string, unit string"
    names = results.sparkSession.createDataFrame(described, schema)
    has_value = F.col("value").isNotNull() & ~F.isnan("value")
    found = results.where(has_value).join(F.broadcast(names), "derivation")
    return found.select(
        "parameter",
        "index",
        F.timestamp_micros(F.expr("source_ns div 1000")).alias("source_time"),
        "source_ns",
        F.timestamp_micros(F.expr("receive_ns div 1000")).alias("receive_time"),
        "receive_ns",
        "value",
        F.lit(None).cast("decimal(20,0)").alias("integer"),
        F.lit(None).cast("string").alias("text"),
        F.lit(None).cast("binary").alias("bytes"),
        "quality",
        "kind",
        "unit",
        "offset",
    )


def _send_along(derivations: Sequence[Derivation]) -> None:
    """Send the modules of functions to the workers, which may not find them by name."""
    for one in derivations:
        module = inspect.getmodule(one.function)
        if module is not None:
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


@contextmanager
def _without_errors(spark: SparkSession) -> Iterator[None]:
    """Expressions that are resolved meanwhile give null where they have no value.

    By default Spark ends the query at a division by zero, and one sample would end a stream.
    """
    before = spark.conf.get(ANSI)
    spark.conf.set(ANSI, "false")
    try:
        yield
    finally:
        spark.conf.set(ANSI, before or "true")


def _inputs(samples: DataFrame, derivations: Sequence[Derivation]) -> DataFrame:
    """The samples that are inputs, a row for each derivation that uses one."""
    uses = [
        (name, number, position)
        for number, derivation in enumerate(derivations)
        for position, name in enumerate(derivation.inputs)
    ]
    schema = "parameter string, derivation int, input int"
    used = samples.sparkSession.createDataFrame(uses, schema)
    numbers = samples.where(F.col("value").isNotNull())
    return numbers.join(F.broadcast(used), "parameter").select(*TRAVELLING)


def _typed(value: Column, word: str) -> Column:
    """The value as a type holds it; null where it cannot."""
    if word == "f32":
        return value.cast("float").cast("double")
    if word not in _INTEGER_BOUNDS:
        return value
    low, high = _INTEGER_BOUNDS[word]
    whole = F.rint(value)
    return F.when(whole.between(low, high), whole)
