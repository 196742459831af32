"""What history answers equals a plain loop over all samples, wherever they are."""

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from slipring.history import HistoryQuestion, history
from slipring.history.series import ParameterSeries
from slipring.journal.known_parameters import KnownParameters
from tests.history.made_past import (
    KNOWN,
    NAMES,
    SECOND_NS,
    START_NS,
    MadePast,
    Sampled,
    known_parameters,
)

VALUES = st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, 0.0])
QUALITIES = st.sampled_from([0, 0, 0, 0x44, 0x85, 0xC2])


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals of these tests are written without a broker that declares parameters."""
    monkeypatch.setattr(KnownParameters, "of", lambda _: known_parameters())


@st.composite
def pasts(draw: st.DrawFn) -> list[list[Sampled]]:
    """Messages about one after the other; no parameter has two samples at one time."""
    taken: set[tuple[int, int]] = set()
    messages, now_ns = [], START_NS
    for _ in range(draw(st.integers(1, 8))):
        samples = []
        for _ in range(draw(st.integers(1, 6))):
            index = draw(st.sampled_from([0, 0, 1, 2]))
            time_ns = now_ns + draw(st.integers(-SECOND_NS, SECOND_NS))
            if (index, time_ns) not in taken:
                taken.add((index, time_ns))
                value = draw(st.text("ab ", max_size=3)) if index == 2 else draw(VALUES)
                samples.append(Sampled(index, time_ns, value, draw(QUALITIES)))
        messages.append(samples)
        now_ns += draw(st.sampled_from([1, 10**6, SECOND_NS, 40 * SECOND_NS, 4_000 * SECOND_NS]))
    return messages


def naive(samples: list[Sampled], name: str, question: HistoryQuestion, step_ns: int) -> list[Any]:
    """Least, greatest and last of each bucket; every sample without a step."""
    begin, end = question.whole_ns
    index = NAMES.index(name)
    own = sorted(
        (
            one
            for one in samples
            if one.place == index and one.counts and begin <= one.time_ns < end
        ),
        key=lambda one: one.time_ns,
    )
    if not step_ns:
        return [(one.time_ns, one.value) for one in own]
    found: dict[int, list[Any]] = {}
    for one in own:
        found.setdefault(one.time_ns // step_ns * step_ns, []).append(one.value)
    if index == 2:
        return [(start, some[-1]) for start, some in found.items()]
    return [(start, min(some), max(some), some[-1]) for start, some in found.items()]


def shown(series: ParameterSeries) -> list[Any]:
    columns = [series.times_ns, series.last]
    if series.step_ns and not series.parameter.is_text:
        columns = [series.times_ns, series.low, series.high, series.last]
    return [*zip(*(one.tolist() for one in columns), strict=True)]


def assert_as_naive(past: MadePast, samples: list[Sampled], question: HistoryQuestion) -> None:
    answer = past.history().answer(question, KNOWN)
    assert [one.name for one in answer.series] == [*question.names]
    for series in answer.series:
        assert not series.is_cut
        assert series.step_ns in (0, question.step_ns)
        assert len(series.times_ns) <= question.width
        assert shown(series) == naive(samples, series.name, question, series.step_ns)


spans = st.tuples(st.integers(-5, 9_000), st.integers(1, 12_000), st.integers(1, 60))


@settings(
    max_examples=30,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would write lakes for minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(pasts(), st.sampled_from([-1, 64 << 20]), st.data())
def test_table_journal_and_lake_together_are_all_samples(
    tmp_path_factory: pytest.TempPathFactory,
    messages: list[list[Sampled]],
    cheap_bytes: int,
    data: st.DataObject,
) -> None:
    """With -1 the lake is asked wherever it can be."""
    past = MadePast(tmp_path_factory.mktemp("past"), messages)
    samples = [one for some in messages for one in some]
    if archived := data.draw(st.integers(0, len(messages))):
        past.archive(archived)
    if rolled_up := data.draw(st.integers(0, len(messages))):
        past.roll_up(rolled_up)
    newest_ns = max(one.time_ns for one in samples) + data.draw(st.integers(1, 10**9))
    newest = Sampled(0, newest_ns, 42.5)
    past.newest[NAMES[0]] = newest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "CHEAP_BYTES", cheap_bytes)
        for _ in range(4):
            begin_s, length_s, width = data.draw(spans)
            begin = START_NS + begin_s * SECOND_NS + data.draw(st.integers(0, 999))
            question = HistoryQuestion(NAMES, begin, begin + length_s * SECOND_NS, width)
            assert_as_naive(past, [*samples, newest], question)


def test_a_millisecond_gives_each_sample_with_its_exact_time(tmp_path: Path) -> None:
    samples = [Sampled(0, START_NS + 123_457 + 1_001 * number, number / 7) for number in range(90)]
    past = MadePast(tmp_path, [samples[:50], samples[50:]])
    past.archive(1)
    question = HistoryQuestion(NAMES[:1], START_NS + 100_000, START_NS + 300_000, 800)
    (series,) = past.history().answer(question, KNOWN).series
    assert series.step_ns == 0
    assert series.times_ns.tolist() == [one.time_ns for one in samples]
    assert series.last.tolist() == [one.value for one in samples]
    assert np.asarray(series.low).tolist() == []


@pytest.mark.parametrize(("archived", "origin"), [(60, "lake"), (30, "journal")])
def test_a_lake_with_the_newest_minutes_is_read_instead_of_much_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archived: int, origin: str
) -> None:
    """A journal with all parameters is longer than the files of one. A lake that is behind saves
    little: then the journal is read into memory, where the next page finds it.
    """
    monkeypatch.setattr(history, "CHEAP_BYTES", 0)
    now_ns = time.time_ns()
    samples = [Sampled(0, now_ns - (60 - n) * SECOND_NS, float(n)) for n in range(60)]
    past = MadePast(tmp_path, [[one] for one in samples])
    past.archive(archived)
    question = HistoryQuestion(NAMES[:1], now_ns - 120 * SECOND_NS, now_ns, 240)
    (series,) = past.history().answer(question, KNOWN).series
    assert series.origin == origin
    assert shown(series) == naive(samples, NAMES[0], question, series.step_ns)
