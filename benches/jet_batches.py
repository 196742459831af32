"""The jet's samples as the lake's rows, made once: what benches of the lake write and read."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from slipring.demo.jet import PREFIX, Jet
from slipring.demo.jet.curve import STEP_HZ
from slipring.lake.files import constant

STEP_NS = 1_000_000_000 // STEP_HZ
START_NS = 1_790_000_000 * 10**9
RECEIVED_AFTER_NS = 1_200_000
FRAME_ROWS = 20_000
NUMBERS = ("f32", "f64", "u8", "u16", "u32", "i16", "i32", "bool")


class JetBatches:
    """Batches of `steps` steps, each sorted by parameter and time as the archive writes them."""

    def __init__(self, *, start_s: float = 60.0, seed: int = 1) -> None:
        self._jet = Jet(start_s=start_s)
        self._random = np.random.default_rng(seed)
        self._step = 0
        types = {name: one.type for name, one in self._jet.parameters.items()}
        kinds = {name: "u8" if word == "enum" else word for name, word in types.items()}
        declared = {
            word: [index for index, kind in enumerate(kinds.values()) if kind == word]
            for word in NUMBERS
        }
        self._order: NDArray[np.int64] = np.concatenate(
            [np.array(declared[word], np.int64) for word in NUMBERS]
        )
        self.parameters = sorted(self._order.tolist())
        names = list(kinds)
        self.names = pa.array([f"{PREFIX}/{names[index]}" for index in self.parameters])
        self.kinds = pa.array(list(NUMBERS))
        self._kind = np.array(
            [NUMBERS.index(kinds[names[index]]) for index in self.parameters], np.int32
        )
        units = [self._jet.parameters[names[index]].unit for index in self.parameters]
        self.units = pa.array(sorted({unit for unit in units if unit}))
        places = {unit: place for place, unit in enumerate(self.units.to_pylist())}
        self._unit = np.array([places.get(unit or "", -1) for unit in units], np.int32)

    def batch(self, steps: int) -> pa.RecordBatch:
        """The next steps of the flight."""
        count = len(self.parameters)
        values = np.empty((steps, count))
        placed = np.argsort(np.argsort(self._order))
        for step in range(steps):
            row = self._jet.step().row
            values[step, placed] = np.concatenate(
                [np.asarray(row[word], np.float64) for word in NUMBERS]
            )
        number = self._step + np.arange(steps)
        self._step += steps
        source = START_NS + number * STEP_NS
        receive = source + RECEIVED_AFTER_NS + self._random.integers(0, 400_000, steps)
        position = np.repeat(np.arange(count, dtype=np.int32), steps)
        unit = self._unit[position]
        return pa.RecordBatch.from_pydict(
            {
                "journal": constant("6f1c6c5e-8f0f-4a43-9e0e-5a3b6f0d1c11", count * steps),
                "parameter": pa.DictionaryArray.from_arrays(position, self.names),
                "index": np.array(self.parameters, np.int32)[position],
                "source_time": _time(np.tile(source, count)),
                "source_ns": np.tile(source, count),
                "receive_time": _time(np.tile(receive, count)),
                "receive_ns": np.tile(receive, count),
                "value": values.T.ravel(),
                "quality": np.zeros(count * steps, np.int16),
                "kind": pa.DictionaryArray.from_arrays(self._kind[position], self.kinds),
                "unit": pa.DictionaryArray.from_arrays(pa.array(unit, mask=unit < 0), self.units),
                "offset": np.tile(number, count),
            }
        )

    def batches(self, steps: int, count: int) -> Iterator[pa.RecordBatch]:
        for _ in range(count):
            yield self.batch(steps)


def _time(ns: NDArray[np.int64]) -> pa.Array:
    return pa.array(ns // 1000).cast(pa.timestamp("us", tz="UTC"))
