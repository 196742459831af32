"""Frames beside the same samples as a plain list, made at random: what the laws compare."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from slipring.frames import Frame, Run, Table
from slipring.frames.arrays import DTYPES
from slipring.frames.header import FrameArrival, Header
from slipring.model import Entry, Kind, Parameter

LABELS = {0: "off", 1: "on", 7: "failed"}
KINDS = (Kind.BOOL, Kind.U8, Kind.I32, Kind.U64, Kind.F32, Kind.F64, Kind.TEXT, Kind.BYTES)
PER_KIND = 4
HEADER, ARRIVAL = Header(7, 1, 0), FrameArrival(0, 0)


class NaiveSample(NamedTuple):
    """One sample of the list."""

    parameter: int
    time: int
    quality: int
    value: Any


class Naive(NamedTuple):
    """A frame, and its samples in the order they travel."""

    frame: Frame
    samples: list[NaiveSample]

    def of(self, index: int) -> list[NaiveSample]:
        return [sample for sample in self.samples if sample.parameter == index]


def name(index: int) -> str:
    return f"plane/{index}"


def table() -> Table:
    """Four parameters of each kind; the bytes of u8 are an enumeration's."""
    made = Table(7)
    for index in range(PER_KIND * len(KINDS)):
        kind = KINDS[index // PER_KIND]
        is_enum = kind is Kind.U8
        parameter = Parameter("enum" if is_enum else kind.word, labels=LABELS if is_enum else None)
        made.put(Entry(index, name(index), parameter))
    return made


TABLE = table()
QUALITIES = st.sampled_from([0, 0, 0, 0x44, 0x85, 0xC2])
TIMES = st.integers(0, 40)
VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.BOOL: st.booleans(),
    Kind.U8: st.integers(0, 255),
    Kind.I32: st.integers(-(2**31), 2**31 - 1),
    Kind.U64: st.integers(0, 2**64 - 1),
    Kind.F32: st.floats(width=32, allow_nan=False),
    Kind.F64: st.floats(allow_nan=False),
    Kind.TEXT: st.text(st.characters(codec="utf-8"), max_size=4),
    Kind.BYTES: st.binary(max_size=4),
}


@st.composite
def runs(draw: st.DrawFn) -> tuple[Run, list[NaiveSample]]:
    kind = draw(st.sampled_from(KINDS))
    first = KINDS.index(kind) * PER_KIND
    indices = sorted(draw(st.sets(st.integers(first, first + PER_KIND - 1), min_size=1)))
    if draw(st.booleans()):
        times = draw(st.lists(TIMES, min_size=1, max_size=3).map(sorted))
        counts = None
        places = [(index, time) for time in times for index in indices]
    else:
        each = [draw(st.lists(TIMES, min_size=1, max_size=3).map(sorted)) for _ in indices]
        counts = np.array([len(one) for one in each], np.uint32)
        places = [(index, time) for index, one in zip(indices, each, strict=True) for time in one]
        times = [time for _, time in places]
    values = [draw(VALUES[kind]) for _ in places]
    qualities = [draw(QUALITIES)] * (1 if draw(st.booleans()) else len(places))
    spread = qualities * (len(places) if len(qualities) == 1 else 1)
    column = np.array(values, DTYPES[kind])
    run = Run(
        kind,
        np.array(indices, np.uint32),
        np.array(times, np.int64),
        counts,
        np.array(qualities, np.uint8),
        column,
    )
    rows = zip(places, spread, values, strict=True)
    return run, [NaiveSample(index, time, quality, value) for (index, time), quality, value in rows]


@st.composite
def frames(draw: st.DrawFn) -> Naive:
    made = draw(st.lists(runs(), min_size=1, max_size=4))
    samples = [sample for _, some in made for sample in some]
    return Naive(Frame(TABLE, [run for run, _ in made], HEADER, ARRIVAL), samples)


def number(sample: NaiveSample) -> float | None:
    """The value as a float, where it is a number."""
    return None if isinstance(sample.value, str | bytes) else float(sample.value)
