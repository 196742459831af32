"""A lake that is damaged, goes away or is young leaves history with all that there is."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from slipring.history import HistoryQuestion, history
from slipring.history.series import HistoryAnswer
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
from tests.running_broker import PATIENCE_S

MS = 1_000_000
ALL = HistoryQuestion(NAMES[:1], START_NS, START_NS + SECOND_NS, 800)


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals of these tests are written without a broker that declares parameters."""
    monkeypatch.setattr(KnownParameters, "of", lambda _: known_parameters())
    monkeypatch.setattr(history, "CHEAP_BYTES", 0)  # else the journal alone is asked


def removed(lake: Path, pattern: str) -> None:
    for file in lake.rglob(pattern):
        file.unlink()


def written(lake: Path, pattern: str, content: bytes) -> None:
    for file in lake.rglob(pattern):
        file.write_bytes(content)


def replaced(lake: Path) -> None:
    shutil.rmtree(lake)
    lake.write_text("no folder")


@pytest.mark.parametrize(
    ("damage", "is_lost"),
    [
        (lambda lake: removed(lake, "*.parquet"), True),
        (lambda lake: written(lake, "*.parquet", b"PAR1 and no more"), True),
        (lambda lake: written(lake, "_delta_log/*.json", b"{"), False),
        (lambda lake: written(lake, "_delta_log/*.json", b"\xff\xfe\x00"), False),
        (lambda lake: removed(lake, "_delta_log/*.json"), False),
        (replaced, False),
    ],
)
def test_a_damaged_lake_neither_stops_history_nor_hides_the_journal(
    tmp_path: Path, damage: Callable[[Path], None], is_lost: bool
) -> None:
    samples = [Sampled(0, START_NS + number * MS, float(number)) for number in range(100)]
    past = MadePast(tmp_path, [samples[:50], samples[50:]])
    past.archive(1)
    damage(tmp_path / "lake")
    answers: list[HistoryAnswer] = []
    asking = threading.Thread(
        target=lambda: answers.append(past.history().answer(ALL, KNOWN)), daemon=True
    )
    asking.start()
    asking.join(PATIENCE_S)
    assert answers, "the question was never answered"
    (series,) = answers[0].series
    assert len(series.times_ns) == len(samples), "the journal has all of them"
    assert (series.is_cut, bool(answers[0].damage)) == (is_lost, is_lost)
    assert all(one.startswith("the lake cannot be read") for one in answers[0].damage)


def test_a_question_from_before_the_lake_began_has_no_longer_buckets(tmp_path: Path) -> None:
    """The hour in which it began is older than its first sample: nothing of that was removed."""
    begin_ns = START_NS + 2_040 * SECOND_NS
    samples = [Sampled(0, begin_ns + number * SECOND_NS, float(number)) for number in range(600)]
    past = MadePast(tmp_path, [samples[:300], samples[300:]])
    past.archive(2)
    past.roll_up(2)
    question = HistoryQuestion(NAMES[:1], START_NS, START_NS + 3_600 * SECOND_NS, 800)
    (series,) = past.history().answer(question, KNOWN).series
    assert series.step_ns in (0, question.step_ns)
    assert len(series.times_ns) > 100
