"""The job `limits` (D1, P13): events in the lake, each once, and rows for alarms on the bus."""

import random
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from slipring.alarms import LimitRule
from slipring.errors import PipelineError
from slipring.journal.location import JournalBroker
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.pipeline.limit_alarms import LimitAlarms
from slipring.pipeline.limit_rules import limit_rules
from slipring.pipeline.limits import LimitEvents
from slipring.pipeline.limits_section import LimitsSection
from slipring.pipeline.steps.limit_rows import thinned
from slipring.publication.publisher import BatchPublisher, PublicationTarget
from tests.pipeline.steps.partials_by_hand import SECOND_NS, Measured, samples_table
from tests.pipeline.steps.test_limit_rows import Rule, by_hand, found, rules_table
from tests.publication.batches import messages_in
from tests.running_broker import RunningBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOURNAL = "0123456789abcdef"
HIGH = Rule("high", 5.0, hysteresis=2.0, on_s=1, off_s=2)
LOW = Rule("low", -5.0)
RULES = rules_table([(0, HIGH), (1, LOW), (0, LOW)])
AT_ONCE = LimitsSection(state_every=0)
SELDOM = LimitsSection(state_every=3_600 * SECOND_NS)


def wandering_samples(seed: int, count: int = 400) -> list[Measured]:
    chance = random.Random(seed)
    value, made = 0.0, []
    for number in range(count):
        value = max(-9.0, min(9.0, value + chance.uniform(-3, 3)))
        made.append(Measured(chance.randrange(3), number * SECOND_NS // 4, value))
    return made


def events_in(lake: Path) -> pa.Table:
    return open_table(LakeLocation.of(lake), "events").to_pyarrow_table().sort_by("offset")


def assert_events_are_those_of(samples: list[Measured], events: pa.Table) -> None:
    for index, rule in ((0, HIGH), (1, LOW), (0, LOW)):
        expected = by_hand(samples, index, rule)
        assert expected
        assert found(events, index, rule.limit) == expected


def write_all(job: LimitEvents, table: pa.Table, step: int) -> None:
    for start in range(job.position() or 0, table.num_rows, step):
        end = min(start + step, table.num_rows)
        job.write(lambda a, b: thinned(table.slice(a, b - a), RULES), RULES, start, end)
    job.finish()


def test_a_run_that_is_killed_at_any_commit_records_each_event_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = wandering_samples(1)
    table = samples_table(samples)
    commit, left = LakeTable.commit, [0]

    def dying(self: LakeTable, *given: Any, **named: Any) -> None:
        for is_made in (False, True):
            if is_made:
                commit(self, *given, **named)
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

    monkeypatch.setattr(LakeTable, "commit", dying)
    lake = LakeLocation.of(tmp_path)
    for kill in range(1, 12):
        left[0] = kill
        job = LimitEvents(lake, JOURNAL, AT_ONCE if kill % 2 else SELDOM)
        with suppress(KeyboardInterrupt):
            write_all(job, table, 20 + kill)
    monkeypatch.undo()
    job = LimitEvents(lake, JOURNAL, AT_ONCE)
    job.write(lambda a, b: table.slice(a, b - a), RULES, job.position() or 0, len(samples))
    assert job.position() == len(samples)
    assert_events_are_those_of(samples, events_in(tmp_path))


def test_alarms_that_a_killed_run_left_are_published_at_the_next_start(
    broker: RunningBroker, tmp_path: Path
) -> None:
    """The run is killed behind the commit of an event, then while its alarm is sent."""
    lake = LakeLocation.of(tmp_path / "lake")
    samples = samples_table([Measured(1, number * SECOND_NS, -9.0) for number in range(3)])
    target = PublicationTarget(JournalBroker(broker.url), "limits", kind="alarms")

    def dying(step: str) -> None:
        if step == "logged":
            raise KeyboardInterrupt

    LimitEvents(lake, JOURNAL, SELDOM).write(lambda a, b: samples.slice(a, b - a), RULES, 0, 3)
    killed = BatchPublisher(target, tmp_path / "sink", dying)
    with pytest.raises(KeyboardInterrupt):
        LimitAlarms(lake, JOURNAL, killed)
    killed.close()
    alarms = LimitAlarms(lake, JOURNAL, BatchPublisher(target, tmp_path / "sink"))
    # The next run may cut the offsets into smaller batches.
    alarms.publish(1)
    alarms.close()
    broker.stop()
    assert [*messages_in(broker.data, "alarms/p1/low").values()] == [1]


def test_offsets_that_were_skipped_are_an_error(tmp_path: Path) -> None:
    table = samples_table(wandering_samples(2))
    job = LimitEvents(LakeLocation.of(tmp_path), JOURNAL)
    job.write(lambda a, b: table.slice(a, b - a), RULES, 0, 100)
    with pytest.raises(PipelineError, match="begin where they end"):
        job.write(lambda a, b: table.slice(a, b - a), RULES, 150, 200)


def test_rules_come_from_definitions_and_from_the_file() -> None:
    versions = [
        {
            "index": 0,
            "name": "jet/1/egt",
            "limits": {"high": 900.0, "low": 1.0},
            "since": 0,
            "until": 9,
        },
        {"index": 0, "name": "jet/1/egt", "limits": {"high": 950.0}, "since": 9, "until": None},
        {"index": 1, "name": "jet/mode", "since": 0, "until": None},
    ]
    section = LimitsSection(
        on_delay=SECOND_NS,
        rule=(
            LimitRule(filter="jet/+/egt", high=800.0, hysteresis=5.0),
            LimitRule(filter="#", low=2.0, off_delay=3 * SECOND_NS),
        ),
    )
    rows = limit_rules(versions, section).to_pylist()
    assert [(one["index"], one["limit"], one["threshold"], one["hysteresis"]) for one in rows] == [
        (0, "high", 900.0, 0.0),
        (0, "low", 2.0, 0.0),
        (0, "high", 950.0, 0.0),
        (0, "low", 2.0, 0.0),
        (1, "low", 2.0, 0.0),
    ]
    assert {(one["on_delay_ns"], one["off_delay_ns"]) for one in rows} == {
        (SECOND_NS, 3 * SECOND_NS)
    }
    assert rows[0]["until_offset"] == 9
    none = limit_rules(versions, LimitsSection(definitions=False))
    assert none.num_rows == 0


def test_spark_finds_the_same_events_and_makes_alarms_of_them(
    tmp_path: Path, spark: "SparkSession"
) -> None:
    from slipring.pipeline.steps import limits

    samples = wandering_samples(3)
    frame = spark.createDataFrame(samples_table(samples)).repartitionByRange(3, "offset")
    job = LimitEvents(LakeLocation.of(tmp_path), JOURNAL, AT_ONCE)

    def candidates(start: int, end: int) -> pa.Table:
        chosen = frame.where(f"offset >= {start} and offset < {end}")
        return limits.candidates(chosen, RULES).toArrow()

    for start in (0, 133):
        job.write(candidates, RULES, start, 133 if start == 0 else len(samples))
    assert_events_are_those_of(samples, events_in(tmp_path))
    history = limits.events(frame, RULES)
    assert_events_are_those_of(samples, history.toArrow().sort_by("offset"))
    alarms = limits.alarms(history).toArrow()
    assert set(alarms.column("topic").to_pylist()) == {
        "alarms/p0/high",
        "alarms/p0/low",
        "alarms/p1/low",
    }
