"""A frame's bytes to arrays: arrays of numbers use the payload's memory, without a copy."""

import numpy as np

from slipring.frames.arrays import DTYPES, Times, Values
from slipring.frames.frame import Frame
from slipring.frames.header import FrameArrival, Header, PublishTimes
from slipring.frames.run import Run
from slipring.frames.table import Table
from slipring.model import Kind
from slipring.native import NativeFrame, NativeRun, decode_frame

KINDS = {int(kind): kind for kind in Kind}
SAME_QUALITY = np.arange(256, dtype=np.uint8).reshape(256, 1)
"""The array with one quality for all samples, for each possible byte."""
SAME_QUALITY.setflags(write=False)


def decode(payload: bytes, table: Table, arrival: FrameArrival) -> Frame:
    """The frame in a message's payload; raises FrameError if it is none."""
    native = decode_frame(payload)
    return Frame(table, [_run(one, table) for one in native.runs], _header(native), arrival)


def _header(native: NativeFrame) -> Header:
    published = None if native.hops is None else PublishTimes(*native.hops)
    return Header(native.table, native.sequence, native.sent_ns, published)


def _run(native: NativeRun, table: Table) -> Run:
    kind, counts, qualities = KINDS[native.kind], native.counts, native.qualities
    times = _times(native)
    return Run(
        kind,
        table.index_cache.indices(native),
        times,
        None if counts is None else np.frombuffer(counts, np.uint32),
        SAME_QUALITY[qualities]
        if isinstance(qualities, int)
        else np.frombuffer(qualities, np.uint8),
        _values(kind, native, rows=1 if counts is not None else len(times)),
    )


def _times(native: NativeRun) -> Times:
    if native.times is None:
        return np.array([native.time_ns], np.int64)
    return np.frombuffer(native.times, np.int64)


def _values(kind: Kind, native: NativeRun, rows: int) -> Values:
    values = native.values
    if isinstance(values, list):
        return np.array(values, object)
    payload, offset, length = values
    if kind is Kind.BOOL:
        bits = np.frombuffer(payload, np.uint8, length, offset)
        return _truths(bits, rows, native.samples // rows)
    dtype = DTYPES[kind]
    return np.frombuffer(payload, dtype, length // dtype.itemsize, offset)


def _truths(octets: Values, rows: int, columns: int) -> Values:
    """Bits to truth values; each row begins with an octet."""
    if rows == 1:
        return np.unpackbits(octets, count=columns, bitorder="little").view(np.bool_)
    bits = np.unpackbits(octets.reshape(rows, -1), axis=1, count=columns, bitorder="little")
    return bits.ravel().view(np.bool_)
