"""The decoder that was written from the specification agrees with the frames that are
kept (G6, G11).
"""

import pytest

from tests.frames.kept import NAMES, comparable, example_bytes, expected, frame_bytes
from tests.frames.reference import FrameRefused, Sample, decode

TIME_NS = 1_763_000_000_000_000_000
BAD_SENSOR = 0x85


def test_there_are_kept_frames() -> None:
    assert {"deflated", "grids", "one-of-each-kind", "ragged"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_frame_holds_what_the_file_beside_it_says(name: str) -> None:
    found, wanted = decode(frame_bytes(name)), expected(name)
    assert comparable(found) == comparable(wanted)
    assert (found.table, found.sequence, found.sent_ns) == (
        wanted.table,
        wanted.sequence,
        wanted.sent_ns,
    )
    assert found.hops == wanted.hops


def test_the_example_of_the_specification_holds_what_the_page_says() -> None:
    frame = decode(example_bytes())
    assert (frame.table, frame.sequence, frame.sent_ns, frame.hops) == (7, 42, TIME_NS, None)
    first_ns = TIME_NS - 20_000_000
    assert frame.samples == [
        Sample("f64", 0, TIME_NS, 0, 12034.5),
        Sample("f64", 1, TIME_NS, 0, 98.25),
        Sample("bool", 4, first_ns, 0, True),
        Sample("bool", 6, first_ns, 0, False),
        Sample("bool", 7, first_ns, 0, True),
        Sample("bool", 4, TIME_NS, 0, True),
        Sample("bool", 6, TIME_NS, BAD_SENSOR, True),
        Sample("bool", 7, TIME_NS, 0, True),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_frame_is_refused_wherever_it_is_cut(name: str) -> None:
    whole = frame_bytes(name)
    for length in range(len(whole)):
        with pytest.raises(FrameRefused):
            decode(whole[:length])


def test_bytes_behind_a_frame_are_refused() -> None:
    for name in NAMES:
        with pytest.raises(FrameRefused):
            decode(frame_bytes(name) + bytes(8))
