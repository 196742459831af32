"""Values as JSON, many at once. Pure."""

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slipring.frames.arrays import Times, Values
from slipring.model import Kind


def json_texts(kind: Kind, values: Values) -> pa.Array:
    """The JSON of each value. NaN and infinities are null, which JSON can say; bytes are Base64."""
    match kind:
        case Kind.TEXT:
            return _each(values, lambda text: text)
        case Kind.BYTES:
            return _each(values, lambda content: base64.b64encode(content).decode())
        case Kind.F32 | Kind.F64:
            numbers = pa.array(values, mask=~np.isfinite(values))
            return pc.fill_null(numbers.cast(pa.string()), "null")
        case _:
            return pa.array(values).cast(pa.string())


def _each(values: Values, said: Callable[[Any], str]) -> pa.Array:
    texts = [json.dumps(said(value), ensure_ascii=False) for value in values]
    return pa.array(texts, pa.string())


def join_runs(texts: pa.Array, starts: Times) -> pa.Array:
    """Texts that belong together, with commas between; each run of them begins at a start."""
    ends = np.append(starts, len(texts)).astype(np.int64)
    lists = pa.LargeListArray.from_arrays(pa.array(ends), texts)
    return pc.binary_join(lists, ",")
