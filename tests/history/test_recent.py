"""The newest minutes in memory: the same as all samples of the journal, however they came in."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from slipring.history import recent as recent_module
from slipring.history.budget import ReadBudget
from slipring.history.journal_part import JournalHistory
from slipring.history.recent import COARSE_NS, FINE_NS, RecentSamples
from slipring.journal.known_parameters import KnownParameters
from tests.history.made_past import NAMES, SECOND_NS, Sampled, known_parameters, write_journal

NUMBERS = NAMES[:2]


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KnownParameters, "of", lambda _: known_parameters())


class GrowingReader:
    """A journal that is written already, of which only a part is synced."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.end = 0

    def end_offset(self) -> int:
        return self.end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)


def growing(folder: Path, messages: Sequence[Sequence[Sampled]]) -> JournalHistory:
    journal = JournalHistory(write_journal(folder, messages))
    journal.reader = GrowingReader(journal.reader)  # type: ignore[assignment]
    return journal


def naive(samples: list[Sampled], name: str, begin: int, end: int, step: int) -> list[Any]:
    found: dict[int, list[float]] = {}
    for one in sorted(samples, key=lambda one: one.time_ns):
        if NAMES[one.place] == name and begin <= one.time_ns < end:
            found.setdefault(one.time_ns // step * step, []).append(one.value)
    return [(start, min(some), max(some), some[-1]) for start, some in found.items()]


def shown(recent: RecentSamples, name: str, begin: int, end: int, step: int) -> list[Any]:
    found = recent.buckets(name, begin, end, step)
    columns = (found.start_ns, found.low, found.high, found.last)
    return [*zip(*(one.tolist() for one in columns), strict=True)]


@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 999)), max_size=5), max_size=12),
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.integers(0, 900),
    st.data(),
)
def test_memory_has_all_of_the_journal_however_it_was_followed_and_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    messages: list[list[tuple[int, int]]],
    turns: list[int],
    back_s: int,
    data: st.DataObject,
) -> None:
    now_ns = time.time_ns()
    given_ = [
        [
            Sampled(
                place, now_ns - (len(messages) - number) * 60 * SECOND_NS + at * 10**6 + n, n / 7
            )
            for n, (place, at) in enumerate(some)
        ]
        for number, some in enumerate(messages)
    ]
    journal = growing(tmp_path_factory.mktemp("recent"), given_)
    reader: Any = journal.reader
    recent = RecentSamples(names_max=2)
    for turn in turns:
        reader.end = min(len(given_), reader.end + turn)
        assert recent.ask(data.draw(st.sampled_from([NUMBERS, NUMBERS[:1]]))) <= {*NUMBERS}
        recent.follow(journal, now_ns)
        recent.add_newest(dict.fromkeys((), (now_ns - 10**9, 0.0)))
    recent.ask(NUMBERS)
    recent.follow(journal, now_ns)
    begin = (now_ns - back_s * SECOND_NS) // SECOND_NS * SECOND_NS
    assert recent.fill(journal, NUMBERS, begin, ReadBudget()) == []
    arrived = [one for some in given_[: reader.end] for one in some]
    for name in NUMBERS:
        assert recent.is_complete(name, begin) or not given_
        for step in (COARSE_NS, 2 * COARSE_NS, 60 * SECOND_NS):
            first = -(-begin // step) * step
            found = shown(recent, name, first, now_ns, step)
            assert found == naive(arrived, name, first, now_ns, step)


def test_a_sample_that_comes_from_the_table_and_from_the_journal_is_one(tmp_path: Path) -> None:
    now_ns = time.time_ns()
    samples = [Sampled(0, now_ns - 10**9 + n * 10**6, float(n)) for n in range(100)]
    journal, recent = growing(tmp_path, [samples]), RecentSamples()
    recent.ask(NUMBERS[:1])
    recent.follow(journal, now_ns)
    recent.add_newest({NUMBERS[0]: (samples[70].time_ns, samples[70].value)})
    before = recent.revision
    (only,) = shown(recent, NUMBERS[0], now_ns - 2 * SECOND_NS, now_ns, FINE_NS)
    assert only[1:] == (70.0, 70.0, 70.0)
    reader: Any = journal.reader
    reader.end = 1
    recent.follow(journal, now_ns)
    begin = now_ns // FINE_NS * FINE_NS - 2 * SECOND_NS
    found = shown(recent, NUMBERS[0], begin, now_ns, FINE_NS)
    assert found == naive(samples, NUMBERS[0], begin, now_ns, FINE_NS)
    changed = recent.changed(NUMBERS[0], before, 0, FINE_NS)
    assert changed.start_ns.tolist() == [row[0] for row in found]
    assert not len(recent.changed(NUMBERS[0], recent.revision, 0, FINE_NS))


def test_parameters_that_nobody_asked_for_lately_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, recent = growing(tmp_path, []), RecentSamples(names_max=2)
    assert recent.ask(["a", "b"]) == {"a", "b"}
    recent.follow(journal, time.time_ns())
    assert recent.ask(["c"]) == set()
    monkeypatch.setattr(recent_module, "DISPLACED_S", -1.0)
    assert recent.ask(["c"]) == {"c"}
    recent.follow(journal, time.time_ns())
    assert set(recent.followed) == {"b", "c"}
    monkeypatch.setattr(recent_module, "LATELY_S", -1.0)
    recent.follow(journal, time.time_ns())
    assert recent.is_idle


def test_who_is_too_far_behind_begins_anew_and_can_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = time.time_ns()
    samples = [[Sampled(0, now_ns - (20 - n) * SECOND_NS, float(n))] for n in range(20)]
    journal, recent = growing(tmp_path, samples), RecentSamples()
    reader: Any = journal.reader
    recent.ask(NUMBERS[:1])
    reader.end = 5
    recent.follow(journal, now_ns)
    monkeypatch.setattr(recent_module, "BEHIND_BYTES_MAX", 1)
    reader.end = 20
    recent.follow(journal, now_ns)
    begin = now_ns // SECOND_NS * SECOND_NS - 30 * SECOND_NS
    assert shown(recent, NUMBERS[0], begin, now_ns, SECOND_NS) == []
    assert not recent.is_complete(NUMBERS[0], begin)
    assert recent.fill(journal, NUMBERS[:1], begin, ReadBudget(0)) == []
    assert not recent.is_complete(NUMBERS[0], begin)
    recent.fill(journal, NUMBERS[:1], begin, ReadBudget())
    assert recent.is_complete(NUMBERS[0], begin)
    flat = [one for some in samples for one in some]
    found = shown(recent, NUMBERS[0], begin, now_ns, SECOND_NS)
    assert found == naive(flat, NUMBERS[0], begin, now_ns, SECOND_NS)


def test_memory_never_takes_more_than_173_kb_for_each_parameter() -> None:
    recent = RecentSamples()
    rings = (recent._fine, recent._coarse)
    arrays = [one for ring in rings for one in vars(ring).values() if hasattr(one, "nbytes")]
    assert len(arrays) == 10
    assert sum(one.nbytes for one in arrays) / recent_module.NAMES_MAX < 173_000
    every = [f"p{number}" for number in range(1_000)]
    assert len(recent.ask(every)) == recent_module.NAMES_MAX
    recent.follow(None, time.time_ns())
    assert len(recent.followed) == recent_module.NAMES_MAX


def test_what_is_to_be_read_is_what_memory_lacks(tmp_path: Path) -> None:
    now_ns = time.time_ns()
    samples = [[Sampled(0, now_ns - (20 - n) * SECOND_NS, float(n))] for n in range(20)]
    journal, recent = growing(tmp_path, samples), RecentSamples()
    reader: Any = journal.reader
    reader.end = 12
    begin = now_ns - 30 * SECOND_NS
    assert recent.offsets_to_read(journal, NUMBERS[:1], begin) == (0, 12)
    recent.ask(NUMBERS[:1])
    recent.follow(journal, now_ns)
    reader.end = 20
    recent.follow(journal, now_ns)
    assert recent.offsets_to_read(journal, NUMBERS[:1], begin) == (0, 12)
    assert recent.offsets_to_read(journal, NUMBERS, begin) == (0, 20)
    late = now_ns - 3 * SECOND_NS
    start, stop = recent.offsets_to_read(journal, NUMBERS[:1], late)
    assert start == stop, "followed for longer than that"
    recent.fill(journal, NUMBERS[:1], begin, ReadBudget())
    start, stop = recent.offsets_to_read(journal, NUMBERS[:1], begin)
    assert start == stop
