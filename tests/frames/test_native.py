"""The native codec: what it writes and reads is what the reference decoder, and the page, say."""

import struct
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.errors import FrameError, SlipringError
from slipring.native import decode_frame, encode_frame
from tests.frames import native_frame, reference
from tests.frames.kept import NAMES, comparable, frame_bytes
from tests.frames.reference import FORMATS, KINDS, FrameRefused, Sample, Value

TIMES = st.integers(-(1 << 63), (1 << 63) - 1)
QUALITIES = st.integers(0, 255)
INDICES = st.integers(0, (1 << 32) - 2) | st.integers(0, 40)
FLOATS = st.floats(width=32)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "f32": FLOATS,
    "f64": st.floats(),
    "text": st.text(max_size=9),
    "bytes": st.binary(max_size=9),
}
HOPS = st.none() | st.tuples(TIMES, TIMES, TIMES)


def values(kind: str) -> st.SearchStrategy[Any]:
    if kind in VALUES:
        return VALUES[kind]
    bits = int(kind[1:])
    low, high = (0, 1 << bits) if kind[0] == "u" else (-1 << bits - 1, 1 << bits - 1)
    return st.integers(low, high - 1)


def lying(kind: str, rows: list[list[Any]]) -> Any:
    """Values as a caller has them: an array, bits, or a list."""
    flat = [value for row in rows for value in row]
    if kind == "bool":
        return b"".join(
            sum(1 << place for place, bit in enumerate(row) if bit).to_bytes(
                -(-len(row) // 8), "little"
            )
            for row in rows
        )
    if kind in FORMATS:
        return struct.pack(f"<{len(flat)}{FORMATS[kind]}", *flat)
    return flat


@st.composite
def grids(draw: st.DrawFn) -> tuple[tuple[Any, ...], list[Sample]]:
    """The arguments of a row or a grid, and its samples."""
    kind = draw(st.sampled_from(KINDS))
    indices = sorted(draw(st.sets(INDICES, min_size=1, max_size=20)))
    times = sorted(draw(st.lists(TIMES, min_size=1, max_size=4)))
    one = st.lists(values(kind), min_size=len(indices), max_size=len(indices))
    rows = [draw(one) for _ in times]
    count = len(indices) * len(times)
    quality = draw(QUALITIES | st.binary(min_size=count, max_size=count))
    code, packed = KINDS.index(kind) + 1, array("I", indices)
    if len(times) == 1:
        run: tuple[Any, ...] = ("row", code, packed, times[0], lying(kind, rows), quality)
    else:
        run = ("grid", code, packed, array("q", times), lying(kind, rows), quality)
    qualities = bytes([quality]) * count if isinstance(quality, int) else quality
    places = [(index, time_ns) for time_ns in times for index in indices]
    flat = [value for row in rows for value in row]
    return run, [
        Sample(kind, *place, each, value)
        for place, each, value in zip(places, qualities, flat, strict=True)
    ]


@st.composite
def singles(draw: st.DrawFn) -> tuple[tuple[Any, ...], list[Sample]]:
    """The arguments of single samples, and what they are."""
    kind = draw(st.sampled_from(KINDS))
    one = st.tuples(INDICES, TIMES, QUALITIES, values(kind))
    given = draw(st.lists(one, min_size=1, max_size=20))
    samples = [Sample(kind, index, time_ns, each, value) for index, time_ns, each, value in given]
    return ("samples", KINDS.index(kind) + 1, given), samples


def by_parameter(samples: list[Sample]) -> dict[int, list[Sample]]:
    """The samples of each parameter, in their order."""
    found: dict[int, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.index, []).append(sample)
    return found


def like(frame: reference.Frame, samples: list[Sample]) -> reference.Frame:
    return reference.Frame(frame.table, frame.sequence, frame.sent_ns, frame.hops, samples)


@given(st.lists(grids() | singles(), max_size=4), TIMES, HOPS, st.booleans())
def test_what_is_written_is_read_by_both_decoders(
    runs: list[tuple[tuple[Any, ...], list[Sample]]],
    sent_ns: int,
    hops: tuple[int, int, int] | None,
    deflate: bool,
) -> None:
    written = [sample for _, samples in runs for sample in samples]
    given_runs: list[Any] = [run for run, _ in runs]
    data = encode_frame(
        given_runs, table=7, sequence=9, sent_ns=sent_ns, hops=hops, deflate=deflate
    )
    frame = reference.decode(data)
    assert (frame.table, frame.sequence, frame.sent_ns, frame.hops) == (7, 9, sent_ns, hops)
    kept = by_parameter(comparable(frame))
    assert kept == by_parameter(comparable(like(frame, written)))
    native = native_frame.decode(data)
    assert comparable(native) == comparable(frame)
    assert like(native, []) == like(frame, [])


@given(st.lists(grids() | singles(), min_size=1, max_size=3), st.booleans(), st.data())
def test_damage_is_judged_alike(
    runs: list[tuple[tuple[Any, ...], list[Sample]]], deflate: bool, data: st.DataObject
) -> None:
    given_runs: list[Any] = [run for run, _ in runs]
    whole = encode_frame(given_runs, table=1, sequence=2, sent_ns=3, deflate=deflate)
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] = data.draw(QUALITIES)
    damaged = damaged[: data.draw(st.integers(0, len(whole)))]
    try:
        expected = comparable(reference.decode(bytes(damaged)))
    except FrameRefused:
        with pytest.raises(FrameError):
            decode_frame(bytes(damaged))
    else:
        assert comparable(native_frame.decode(bytes(damaged))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_frame_is_read_like_the_reference_reads_it(name: str) -> None:
    data = frame_bytes(name)
    assert comparable(native_frame.decode(data)) == comparable(reference.decode(data))


def test_numbers_stay_where_they_are_in_the_payload() -> None:
    numbers = array("d", [1.5, -2.0, 3.25])
    indices = array("I", [1, 2, 7])
    data = encode_frame([("row", 11, indices, 5, numbers, 0)], table=1, sequence=2, sent_ns=3)
    place = decode_frame(data).runs[0].values
    assert isinstance(place, tuple)
    assert place[0] is data
    assert memoryview(place[0])[place[1] :][: place[2]].cast("d").tolist() == numbers.tolist()


def test_what_is_no_frame_is_a_value_error_of_ours() -> None:
    with pytest.raises(FrameError, match="not a frame") as raised:
        decode_frame(b"SRX\x01" + bytes(20))
    assert isinstance(raised.value, (SlipringError, ValueError))


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (("column", 1, b"", 0, b"", 0), "neither row nor grid"),
        (("row", 99, b"", 0, b"", 0), "no kind 99"),
        (("row", 12, array("I", [1, 2]), 0, ["one"], 0), "1 values"),
        (("row", 12, array("I", [1]), 0, ["one"], b"\0\0"), "2 qualities"),
        (("row", 2, array("I", [1, 3, 3]), 0, b"abc", 0), "indices must ascend"),
        (("row", 2, array("I", [0, 1, 0]), 0, b"abc", 0), "indices must ascend"),
        (("row", 2, array("I", [2**32 - 2, 2**32 - 1]), 0, b"ab", 0), "4294967295 is no index"),
        (("row", 2, b"abc", 0, b"a", 0), "indices are numbers of 4 bytes"),
        (("grid", 2, array("I", [1]), array("q", [2, 1]), b"ab", 0), "go back"),
        (("grid", 2, array("I", [1]), b"abc", b"ab", 0), "times are numbers of 8 bytes"),
        (("row", 1, array("I", [1]), 0, b"\x02", 0), "not 1 values of bool"),
        (("samples", 2, [(1, 0, 0, "x")]), "x is not a value of u8, for index 1"),
    ],
)
def test_samples_that_do_not_fit_together_are_refused_with_words(run: Any, words: str) -> None:
    with pytest.raises(FrameError, match=words):
        encode_frame([run], table=1, sequence=2, sent_ns=3)


@pytest.mark.parametrize(("value", "kind"), [(True, 1), (7, 3), (0.5, 10), ("å", 12), (b"\0", 13)])
def test_a_sample_of_each_sort_comes_back(value: Value, kind: int) -> None:
    data = encode_frame([("samples", kind, [(3, 4, 5, value)])], table=1, sequence=2, sent_ns=3)
    assert native_frame.decode(data).samples == [Sample(KINDS[kind - 1], 3, 4, 5, value)]
