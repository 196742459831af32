"""Aligned and evaluated rows as samples, on Arrow tables. Pure."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import Values
from slipring.lake.files import constant
from slipring.lake.specs import SAMPLE_SCHEMA
from slipring.pipeline.derivation import Derivation
from slipring.pipeline.steps.derive_rows import RESULT


def derived_samples(
    evaluated: pa.Table, derivations: Sequence[Derivation], journal: str
) -> pa.Table:
    """The samples among evaluated rows, by parameter and time; null and NaN are no value."""
    value = evaluated.column("value")
    is_value = pc.and_(value.is_valid(), pc.invert(pc.is_nan(value).fill_null(True)))
    is_result = pc.equal(evaluated.column("role"), RESULT)
    rows = evaluated.filter(pc.and_(is_result, is_value))
    numbers = rows.column("derivation").to_numpy()
    index = np.array([one.index for one in derivations], np.int32)[numbers]
    order = np.lexsort((rows.column("source_ns").to_numpy(), index))
    rows, numbers = rows.take(pa.array(order)), numbers[order]
    made = {
        "journal": constant(journal, rows.num_rows),
        "parameter": _named(numbers, [one.name for one in derivations]),
        "index": pa.array(index[order]),
        "source_time": _microseconds(rows.column("source_ns")),
        "receive_time": _microseconds(rows.column("receive_ns")),
        "kind": _named(numbers, [one.definition.kind.word for one in derivations]),
        "unit": _named(numbers, [one.definition.unit for one in derivations]),
    }
    for name in ("source_ns", "receive_ns", "value", "quality", "offset"):
        made[name] = rows.column(name)
    for name in ("integer", "text", "bytes"):
        made[name] = pa.nulls(rows.num_rows, SAMPLE_SCHEMA.field(name).type)
    return pa.table({name: made[name] for name in SAMPLE_SCHEMA.names})


def _named(numbers: Values, words: Sequence[str | None]) -> pa.Array:
    distinct = list(dict.fromkeys(words))
    where = np.array([distinct.index(word) for word in words], np.int32)
    found = pa.DictionaryArray.from_arrays(where[numbers], pa.array(distinct, pa.string()))
    # A null among the words is a null row, which a dictionary does not say.
    return found if None not in distinct else found.cast(pa.string()).dictionary_encode()


def _microseconds(times_ns: pa.ChunkedArray) -> pa.Array:
    made = times_ns.to_numpy() // 1_000
    return pa.array(made, pa.int64()).cast(pa.timestamp("us", "UTC"))
