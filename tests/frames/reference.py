"""A decoder of frames, written from docs/frames.md alone; other decoders are compared with it.

It is strict: whatever the page forbids is a `FrameRefused`. It is made to be read, not to be fast.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

KINDS = (
    "bool",
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "text",
    "bytes",
)
FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q"} | {
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "f32": "f",
    "f64": "d",
}
ONE, GRID, RAGGED = range(3)
DEFLATED, WITH_HOPS = 1, 2
RAW_BYTES_MAX = 1 << 24
INDEX_END = (1 << 32) - 1

Value: TypeAlias = bool | int | float | str | bytes


class FrameRefused(Exception):
    """The bytes are not a frame."""


@dataclass(frozen=True)
class Sample:
    kind: str
    index: int
    time_ns: int
    quality: int
    value: Value


@dataclass(frozen=True)
class Frame:
    table: int
    sequence: int
    sent_ns: int
    hops: tuple[int, int, int] | None
    samples: list[Sample]


class Reader:
    """The bytes of a run or a body, from the front to the end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, length: int) -> bytes:
        taken = self.data[self.at : self.at + length]
        _demand(len(taken) == length, "ends too early")
        self.at += length
        return taken

    def unpack(self, layout: str) -> tuple[int, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def varint(self, bits: int = 64) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                _demand(byte > 0 or shift == 0, "a varint is not in its shortest form")
                _demand(value < 1 << bits, "a varint is too large")
                return value
        raise FrameRefused("a varint is too long")

    def pad(self) -> None:
        _demand(not any(self.take(-self.at % 8)), "padding is not zero")


def decode(data: bytes) -> Frame:
    reader = Reader(data)
    magic, flags_and_runs, table, sequence, sent_ns = struct.unpack("<4sIIIq", reader.take(24))
    _demand(magic == b"SRF\x01", "not a frame of version 1")
    flags, runs = flags_and_runs & 0xFF, flags_and_runs >> 8
    _demand(flags & ~(DEFLATED | WITH_HOPS) == 0, "a reserved flag is set")
    hops = struct.unpack("<qqq", reader.take(24)) if flags & WITH_HOPS else None
    rest = data[reader.at :]
    body = Reader(_inflate(rest) if flags & DEFLATED else rest)
    samples = [sample for _ in range(runs) for sample in _run(body)]
    _demand(body.at == len(body.data), "bytes follow the last run")
    return Frame(table, sequence, sent_ns, hops, samples)


def _inflate(data: bytes) -> bytes:
    reader = Reader(data)
    length, reserved = reader.unpack("II")
    _demand(reserved == 0, "a reserved byte is set")
    _demand(length <= RAW_BYTES_MAX, "the body is too large")
    machine = zlib.decompressobj()
    try:
        body = machine.decompress(data[reader.at :], length + 1)
        body += machine.decompress(machine.unconsumed_tail, 1) if len(body) <= length else b""
    except zlib.error as error:
        raise FrameRefused("the zlib stream is damaged") from error
    _demand(machine.eof and not machine.unused_data, "the zlib stream is not whole")
    _demand(len(body) == length, "the body is not as long as it says")
    return body


def _run(body: Reader) -> Iterator[Sample]:
    start = body.at
    code, layout, form, reserved, length, parameters, ranges = body.unpack("BBBBIII")
    _demand(1 <= code <= len(KINDS), "a kind is not known")
    _demand(layout <= RAGGED and form <= 2 and reserved == 0, "a run's head is not known")
    _demand(length % 8 == 0 and length >= 24, "a run's length is wrong")
    body.at = start
    run = Reader(body.take(length))
    run.at = 16
    (base_ns,) = run.unpack("q")
    indices = _indices(run, parameters, ranges)
    places = _places(run, layout, base_ns, indices)
    qualities = _qualities(run, form, len(places))
    run.pad()
    rows = len(places) // len(indices) if layout == GRID else 1
    kind = KINDS[code - 1]
    values = _values(run, kind, rows, len(places) // rows)
    run.pad()
    _demand(run.at == length, "a run is not as long as it says")
    for (index, time_ns), quality, value in zip(places, qualities, values, strict=True):
        yield Sample(kind, index, time_ns, quality, value)


def _indices(run: Reader, parameters: int, ranges: int) -> list[int]:
    _demand(parameters > 0 and ranges > 0, "a run is empty")
    found: list[int] = []
    end = 0
    for place in range(ranges):
        gap, length = run.varint(32), run.varint(32) + 1
        _demand(gap > 0 or place == 0, "ranges touch")
        end += gap + length
        _demand(end <= INDEX_END, "a range passes the last index")
        # Values have at least a bit for each, so what claims more is not worth its memory.
        _demand(len(found) + length <= min(parameters, 8 * len(run.data)), "too many parameters")
        found.extend(range(end - length, end))
    _demand(len(found) == parameters, "the ranges do not make up the parameters")
    return found


def _places(run: Reader, layout: int, base_ns: int, indices: list[int]) -> list[tuple[int, int]]:
    """The index and the time of each sample, in their order."""
    if layout == ONE:
        return [(index, base_ns) for index in indices]
    times = _times(run, base_ns)
    if layout == GRID:
        rows = run.varint(32)
        _demand(rows > 0, "a grid has no rows")
        _demand(rows * len(indices) <= 8 * len(run.data), "too many samples")
        row_times = [next(times) for _ in range(rows)]
        _demand(row_times == sorted(row_times), "times go back")
        return [(index, time_ns) for time_ns in row_times for index in indices]
    counts = [run.varint(32) for _ in indices]
    _demand(all(counts), "a parameter has no sample")
    places: list[tuple[int, int]] = []
    for index, count in zip(indices, counts, strict=True):
        _demand(count <= len(run.data), "too many samples")
        own = [next(times) for _ in range(count)]
        _demand(own == sorted(own), "times go back")
        places.extend((index, time_ns) for time_ns in own)
    return places


def _times(run: Reader, time_ns: int) -> Iterator[int]:
    while True:
        folded = run.varint()
        difference = -(folded + 1 >> 1) if folded & 1 else folded >> 1
        time_ns = (time_ns + difference + (1 << 63)) % (1 << 64) - (1 << 63)
        yield time_ns


def _qualities(run: Reader, form: int, samples: int) -> bytes:
    match form:
        case 0:
            return bytes(samples)
        case 1:
            return run.take(1) * samples
        case _:
            return run.take(samples)


def _values(run: Reader, kind: str, rows: int, row: int) -> list[Value]:
    if kind == "bool":
        return [bit for _ in range(rows) for bit in _bits(run, row)]
    if kind in FORMATS:
        return list(run.unpack(f"{rows * row}{FORMATS[kind]}"))
    lengths = [run.varint() for _ in range(rows * row)]
    items = [run.take(length) for length in lengths]
    return [_text(item) for item in items] if kind == "text" else list(items)


def _bits(run: Reader, count: int) -> list[Value]:
    number = int.from_bytes(run.take(-(-count // 8)), "little")
    _demand(number >> count == 0, "a spare bit is set")
    return [bool(number >> place & 1) for place in range(count)]


def _text(item: bytes) -> str:
    try:
        return item.decode()
    except UnicodeDecodeError as error:
        raise FrameRefused("text is not UTF-8") from error


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise FrameRefused(otherwise)
