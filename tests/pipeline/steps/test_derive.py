"""Derived parameters over DataFrames: SQL, functions, qualities, types (D1)."""

from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.derivation import Derivation, derivations_of
from slipring.pipeline.steps.derive_rows import Thinning, work_of_states

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(600)
MS = 1_000_000
T0_NS = 1_763_000_000_000_000_000
SCHEMA = (
    "parameter string, source_ns bigint, receive_ns bigint, value double, quality smallint, "
    "offset bigint"
)


def margin(frame: pd.DataFrame) -> pd.Series:
    return 1000 - frame["jet/egt"]


def sections(**given: dict[str, Any]) -> list[Derivation]:
    named = {f"jet/{name}": one for name, one in given.items()}
    return derivations_of(parse_pipeline({"derive": named}).derive)


def samples_of(spark: "SparkSession", rows: list[tuple[str, int, float, int]]) -> "DataFrame":
    """Rows (parameter, ms, value, quality), one message each, received when they were measured."""
    full = [
        (name, T0_NS + ms * MS, T0_NS + ms * MS, value, quality, offset)
        for offset, (name, ms, value, quality) in enumerate(rows)
    ]
    return spark.createDataFrame(full, SCHEMA)


def found(rows: "DataFrame") -> dict[str, list[tuple[int, float, int]]]:
    made: dict[str, list[tuple[int, float, int]]] = {}
    for row in sorted(rows.collect(), key=lambda row: row.source_ns):
        ms = (row.source_ns - T0_NS) // MS
        made.setdefault(row.parameter, []).append((ms, row.value, row.quality))
    return made


def test_expressions_and_functions_give_the_same(spark: "SparkSession") -> None:
    from slipring.pipeline.steps.derive import derive

    rows = [("jet/egt", ms, 500.0 + ms, 0) for ms in range(0, 1000, 20)]
    derivations = sections(
        by_sql={"expression": "1000 - `jet/egt`", "every": "100ms", "late": "50ms"},
        by_function={
            "function": f"{__name__}:margin",
            "inputs": ["jet/egt"],
            "every": "100ms",
            "late": "50ms",
        },
    )
    values = found(derive(samples_of(spark, rows), derivations))
    assert values["jet/by_sql"] == [(ms, 500.0 - ms, 0) for ms in range(0, 1000, 100)]
    assert values["jet/by_function"] == values["jet/by_sql"]


def test_inputs_meet_at_the_samples_of_the_first_one(spark: "SparkSession") -> None:
    from slipring.pipeline.steps.derive import derive

    rows = [
        ("jet/a", 10, 1.0, 0), ("jet/b", 12, 10.0, 0), ("jet/a", 20, 2.0, 0),
        ("jet/b", 22, 20.0, 0), ("jet/a", 30, 3.0, 0x85), ("jet/a", 40, 4.0, 0x46),
        ("jet/a", 99, 9.0, 0),
    ]  # fmt: skip
    derivations = sections(
        sum={"expression": "`jet/a` + `jet/b`", "late": "0s"},
        small={"expression": "`jet/a` * 100", "type": "u8", "late": "0s"},
        ratio={"expression": "CASE WHEN `jet/a` > 2 THEN `jet/b` / `jet/a` END", "late": "0s",
               "type": "f32", "inputs": ["jet/b", "jet/a"]},
    )  # fmt: skip
    values = found(derive(samples_of(spark, rows), derivations))
    assert values["jet/sum"] == [(20, 12.0, 0), (30, 23.0, 0x87), (40, 24.0, 0x47)]
    assert values["jet/small"] == [(10, 100.0, 0), (20, 200.0, 0)]
    assert "jet/ratio" not in values


def test_a_division_by_zero_gives_no_value(spark: "SparkSession") -> None:
    from slipring.pipeline.steps.derive import derive

    rows = [("jet/a", ms, float(ms % 4), 0) for ms in range(10)]
    derivations = sections(inverse={"expression": "1 / `jet/a`", "late": "0s"})
    values = found(derive(samples_of(spark, rows), derivations))["jet/inverse"]
    assert [ms for ms, *_ in values] == [1, 2, 3, 5, 6, 7]
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"


def test_batches_with_a_state_give_what_one_batch_gives(spark: "SparkSession") -> None:
    from slipring.pipeline.steps.derive import align, derive, evaluate

    rows = [
        ("jet/a" if ms % 3 else "jet/b", ms - (ms % 7) * 11, ms * 0.1, 0) for ms in range(0, 900, 4)
    ]
    derivations = sections(
        grid={"expression": "sin(`jet/a`) / (`jet/b` - 0.3 * 3)", "every": "30ms", "late": "20ms"},
        each={"expression": "exp(`jet/b`) - `jet/a`", "late": "70ms", "inputs": ["jet/b", "jet/a"]},
    )
    samples = samples_of(spark, rows)
    expected = found(derive(samples, derivations))
    assert len(expected["jet/grid"]) > 20
    assert len(expected["jet/each"]) > 20
    states, made = None, dict[str, list[tuple[int, float, int]]]()
    for first, last in ((0, 70), (70, 71), (71, 225)):
        batch = samples.where(f"offset >= {first} and offset < {last}").coalesce(1)
        aligned = align(batch, derivations, states=states, in_order=True).cache()
        for name, values in found(evaluate(aligned, derivations)).items():
            made.setdefault(name, []).extend(values)
        states = work_of_states(aligned.toArrow())
    assert made == expected


def test_rows_that_a_worker_thinned_itself_give_the_same(spark: "SparkSession") -> None:
    """A worker that decodes the journal sends on only what may count."""
    from slipring.pipeline.steps.derive import derive

    rows = [("jet/egt" if ms % 5 else "jet/idle", ms, ms * 0.5, 0) for ms in range(2000)]
    derivations = sections(
        margin={"expression": "1000 - `jet/egt`", "every": "100ms", "late": "50ms"},
        double={"expression": "`jet/egt` * 2", "every": "250ms", "late": "0s"},
    )
    samples = samples_of(spark, rows)
    table = samples.toArrow().combine_chunks()
    place = table.schema.get_field_index("parameter")
    by_dictionary = table.set_column(place, "parameter", table.column(0).dictionary_encode())
    thinning = Thinning(tuple(derivations))
    thin = pa.Table.from_batches(list(thinning(iter(by_dictionary.to_batches()))))
    assert thin.num_rows < 40
    assert found(derive(spark.createDataFrame(thin), derivations)) == found(
        derive(samples, derivations)
    )
