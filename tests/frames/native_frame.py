"""What `decode_frame` gives, sample by sample, to be compared with the reference decoder."""

import struct
from collections.abc import Iterator

from slipring.native import NativeFrame, NativeRun, decode_frame
from tests.frames.reference import FORMATS, GRID, KINDS, ONE, Frame, Sample, Value


def decode(data: bytes) -> Frame:
    frame: NativeFrame = decode_frame(data)
    samples = [sample for run in frame.runs for sample in _samples(run)]
    assert frame.samples == len(samples) == sum(run.samples for run in frame.runs)
    return Frame(frame.table, frame.sequence, frame.sent_ns, frame.hops, samples)


def _samples(run: NativeRun) -> Iterator[Sample]:
    indices = _numbers("I", run.indices)
    assert indices == [index for first, end in run.ranges for index in range(first, end)]
    assert run.parameters == len(indices)
    places = list(_places(run, indices))
    qualities = run.qualities
    if isinstance(qualities, int):
        qualities = bytes([qualities]) * len(places)
    kind = KINDS[run.kind - 1]
    for place, quality, value in zip(places, qualities, _values(run, kind), strict=True):
        yield Sample(kind, *place, quality, value)


def _places(run: NativeRun, indices: list[int]) -> Iterator[tuple[int, int]]:
    if run.layout == ONE:
        assert run.times is None
        yield from ((index, run.time_ns) for index in indices)
        return
    assert run.times is not None
    times = _numbers("q", run.times)
    if run.layout == GRID:
        yield from ((index, time_ns) for time_ns in times for index in indices)
        return
    assert run.counts is not None
    counts = _numbers("I", run.counts)
    owners = [index for index, count in zip(indices, counts, strict=True) for _ in range(count)]
    yield from zip(owners, times, strict=True)


def _values(run: NativeRun, kind: str) -> list[Value]:
    if isinstance(run.values, list):
        return list(run.values)
    body, at, length = run.values
    assert at % 8 == 0, "arrays are made of it in place"
    lying = body[at : at + length]
    if kind != "bool":
        return list(_numbers(FORMATS[kind], lying))
    rows = 1 if run.layout != GRID or run.times is None else len(run.times) // 8
    row = len(lying) // rows
    bits = [
        [bool(byte >> place & 1) for byte in lying[start : start + row] for place in range(8)]
        for start in range(0, len(lying), row)
    ]
    return [bit for one in bits for bit in one[: run.samples // rows]]


def _numbers(form: str, data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data))
