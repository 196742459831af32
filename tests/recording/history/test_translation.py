"""Recorded frames for another table: the same samples, whatever the indices are there."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.errors import RecordingError
from slipring.frames.arrays import DTYPES, Indices
from slipring.frames.decoding import decode
from slipring.frames.run import Run
from slipring.frames.table import Table
from slipring.model import Entry, Kind, Parameter
from slipring.native import encode_frame
from slipring.recording.history.read.definitions import Definitions
from slipring.recording.history.read.sample_reader import NO_ARRIVAL
from slipring.recording.history.translation import Translation
from slipring.recording.history.write.frame_reencoding import grid_runs
from slipring.recording.recording import Recording
from tests.recording.history.sample_journals import TABLE, frame_row, journal, plain_row

KINDS = (Kind.BOOL, Kind.U8, Kind.F64, Kind.TEXT, Kind.BYTES)


class FakeBroker:
    """Gives indices from the last to the first, so that the order of columns turns round."""

    def __init__(self) -> None:
        self.parameters: dict[str, Parameter] = {}
        self.streams: dict[str, dict[str, Any]] = {}
        self._next = 1_000

    async def declare(self, parameters: dict[str, Parameter]) -> tuple[int, Indices]:
        self.parameters |= parameters
        self._next -= len(parameters)
        first = self._next
        return 99, np.arange(first, first + len(parameters), dtype=np.uint32)[::-1]

    async def declare_stream(self, topic: str, said: dict[str, Any]) -> None:
        self.streams[topic] = said


def values(kind: Kind, count: int) -> np.ndarray[Any, Any]:
    made = np.empty(count, DTYPES[kind])
    if kind is Kind.TEXT:
        made[:] = [f"text {number}" for number in range(count)]
    elif kind is Kind.BYTES:
        made[:] = [bytes([number % 256]) for number in range(count)]
    else:
        made[:] = np.arange(count) % (2 if kind is Kind.BOOL else 250)
    return made


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A run in rows, or a ragged one."""
    kind = draw(st.sampled_from(KINDS))
    indices = np.array(sorted(draw(st.sets(st.integers(0, 40), min_size=1, max_size=8))), np.uint32)
    if draw(st.booleans()):
        counts = None
        times = np.sort(np.array(draw(st.lists(st.integers(0, 99), min_size=1, max_size=4))))
        count = len(times) * len(indices)
    else:
        each = draw(st.lists(st.integers(1, 3), min_size=len(indices), max_size=len(indices)))
        counts = np.array(each, np.uint32)
        count = int(counts.sum())
        times = np.concatenate([np.arange(one) * draw(st.integers(1, 2)) for one in each])
    is_same = draw(st.booleans())
    qualities = (
        np.array([64], np.uint8) if is_same else (np.arange(count) % 4 * 64).astype(np.uint8)
    )
    return Run(kind, indices, times.astype(np.int64), counts, qualities, values(kind, count))


def samples(run: Run, names: dict[int, int]) -> dict[int, list[tuple[Any, ...]]]:
    """All samples by parameter, in their order."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    columns = (run.sample_times(), run.sample_qualities(), run.values)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for index, row in zip(run.sample_indices().tolist(), rows, strict=True):
        if index in names:
            found.setdefault(names[index], []).append(row)
    return found


@given(runs(), st.permutations(range(41)), st.sets(st.integers(0, 40)))
def test_samples_are_the_same_under_any_indices(
    run: Run, there: list[int], chosen: set[int]
) -> None:
    mask = np.array([index in chosen for index in run.indices.tolist()], np.bool_)
    if not mask.any():
        return
    indices = np.array(there, np.uint32)[run.indices]
    made = encode_frame(list(grid_runs(run, mask, indices)), table=1, sequence=1, sent_ns=0)
    found: dict[int, list[tuple[Any, ...]]] = {}
    for one in decode(made, Table(1), NO_ARRIVAL).runs:
        for index, rows in samples(one, {index: index for index in range(41)}).items():
            found.setdefault(index, []).extend(rows)
    assert found == samples(run, {index: there[index] for index in chosen})


def entry(index: int, name: str) -> Entry:
    return Entry(index, name, Parameter("f64", unit="m"))


DEFINITIONS = Definitions(TABLE, [entry(0, "a/x"), entry(1, "a/y"), entry(2, "b/z")])
_numbers = itertools.count()


def row(number: int) -> Run:
    kind, times = Kind.F64, np.array([number], np.int64)
    indices = np.arange(3, dtype=np.uint32)
    return Run(kind, indices, times, None, np.array([0], np.uint8), values(kind, 3))


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    rows = [plain_row(1, "a/note", b"hello"), frame_row(2, [row(1)]), frame_row(3, [row(2)], 8)]
    return Recording(journal(tmp_path, rows))


def played(translation: Translation, recording: Recording) -> list[dict[str, Any]]:
    async def all_pieces() -> list[dict[str, Any]]:
        pieces = recording.pieces(lambda damage: pytest.fail(str(damage)))
        made = [await translation.messages(piece) for piece in pieces]
        return [one for batch in made for one in batch.to_pylist()]

    return asyncio.run(all_pieces())


def test_what_is_used_is_declared_and_the_rest_of_a_frame_left_out(recording: Recording) -> None:
    there = FakeBroker()
    translation = Translation(
        recording, DEFINITIONS, there, filters=["a/#"], to_topic="again/{topic}"
    )
    messages = played(translation, recording)
    assert list(there.parameters) == ["again/a/x", "again/a/y"]
    assert there.parameters["again/a/x"].unit == "m"
    assert [(one["topic"], one["qos"]) for one in messages] == [
        ("again/a/note", 0),
        ("again/plane", 1),
    ]
    frame = decode(messages[1]["payload"], Table(99), NO_ARRIVAL)
    assert frame.header.table == 99
    (run,) = frame.runs
    assert dict(zip(run.indices.tolist(), run.values.tolist(), strict=True)) == {998: 1.0, 999: 0.0}
    assert (translation.samples, translation.skipped.of_other_tables) == (2, 1)


def test_two_parameters_do_not_get_one_name(recording: Recording) -> None:
    translation = Translation(recording, DEFINITIONS, FakeBroker(), to_topic="one/name")
    with pytest.raises(RecordingError, match=r"two parameters would be 'one/name'.*\{topic\}"):
        played(translation, recording)


def test_a_topic_that_cannot_be_published_to_is_refused(recording: Recording) -> None:
    translation = Translation(recording, DEFINITIONS, FakeBroker(), to_topic="{topic}/#")
    with pytest.raises(RecordingError, match="wildcard"):
        played(translation, recording)


@pytest.mark.parametrize(
    ("filters", "to_topic", "feeds"),
    [
        ([], "replay/{topic}", True),
        (["a/#"], "replay/{topic}", False),
        (["+/+"], "b/1", True),
        (["b/z"], "replay/{topic}", False),
        (["b/z", "+/b/z"], "replay/{topic}", True),
    ],
)
def test_it_is_known_whether_a_replay_chooses_from_its_own_messages(
    recording: Recording, filters: list[str], to_topic: str, feeds: bool
) -> None:
    translation = Translation(
        recording, DEFINITIONS, FakeBroker(), filters=filters, to_topic=to_topic
    )
    assert translation.feeds_itself() is feeds
