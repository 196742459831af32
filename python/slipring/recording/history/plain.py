"""Plain messages to a parameter's topic as samples: the payload is the value as text. Pure."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from slipring.frames.arrays import DTYPES, Times
from slipring.model import Entry, Kind
from slipring.recording.history.samples import Samples
from slipring.recording.history.texts import Parsed, parse


class PlainMessages(NamedTuple):
    """Messages of one parameter, in their order."""

    entry: Entry
    payloads: pa.Array
    times: Times
    offsets: Times
    receive_ns: Times

    def samples(self) -> Samples:
        """Those whose payloads are values."""
        parameter = self.entry.parameter
        found = self._parsed()
        return Samples(
            parameter.kind,
            np.full(len(self.times), self.entry.index, np.uint32),
            self.times,
            np.zeros(len(self.times), np.uint8),
            found.values,
            self.offsets,
            self.receive_ns,
        ).take(found.is_value)

    def _parsed(self) -> Parsed:
        kind, count = self.entry.parameter.kind, len(self.payloads)
        if kind is Kind.BYTES:
            values = np.empty(count, DTYPES[kind])
            values[:] = self.payloads.to_pylist()
            return Parsed(values, np.ones(count, np.bool_), np.zeros(count, np.bool_))
        return parse(self.entry.parameter, _texts(self.payloads))


def _texts(payloads: pa.Array) -> pa.Array:
    """As text; null where it is none."""
    try:
        return payloads.cast(pa.string())
    except pa.ArrowException:
        return pa.array([_text(payload) for payload in payloads.to_pylist()], pa.string())


def _text(payload: bytes) -> str | None:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None
