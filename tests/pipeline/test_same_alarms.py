"""The broker judges limits as the pipeline's job does: for any samples the same (P13, D1)."""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipring import Parameter, sync
from slipring.alarms import LIMITS, LimitTerms
from slipring.control import Broker
from slipring.control.alarms_section import AlarmsSection
from slipring.control.config import load_config
from slipring.control.plan import make_plan
from slipring.model import AlarmLimits, Quality
from slipring.native import AlarmFeed
from slipring.pipeline.limit_rules import limit_rules
from slipring.pipeline.steps.limit_rows import STATE_SCHEMA, judged
from tests.pipeline.steps.partials_by_hand import SECOND_NS, START_NS, Measured, samples_table

Json = dict[str, Any]
NUMBERS = itertools.count()
PLAIN = Parameter("f64", unit="K")


class Event(NamedTuple):
    """An event of one parameter."""

    limit: str
    began: bool
    value: float | None
    threshold: float | None
    at_ns: int
    since_ns: int


class Judging(NamedTuple):
    """An engine, a publisher, and what the engine notices."""

    broker: Broker
    bus: sync.Bus
    feed: AlarmFeed

    def follow(self, section: Json) -> None:
        """Swap the rules."""
        alarms = AlarmsSection.model_validate(section)
        config = self.broker.config.model_copy(update={"alarms": alarms})
        self.broker.engine.apply(make_plan(config))

    def judge(self, group: sync.Declared, samples: list[Measured], *, as_text: bool) -> None:
        """Publish samples of a parameter, and wait until the broker has them."""
        [name] = group.topics
        for one in samples:
            time_ns = START_NS + one.at_ns
            if as_text and one.quality == 0:
                group.flush()
                told = {"time": str(time_ns)}
                self.bus.publish(name, repr(one.value).encode(), properties=told)
            else:
                quality = Quality.of_byte(one.quality)
                group.sample(name, one.value, time_ns=time_ns, quality=quality)
        group.flush()
        self.bus.ping()

    def events(self) -> list[Event]:
        """What the engine noticed, in the order of each limit."""
        found, lost = self.feed.take()
        assert lost == 0
        return sorted(
            (
                Event(limit, began, value, threshold, time_ns - START_NS, since_ns - START_NS)
                for _, limit, began, value, threshold, _, time_ns, since_ns in found
            ),
            key=lambda one: LIMITS.index(one.limit),
        )


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judging]:
    """An engine in this process, without a journal."""
    data = tmp_path_factory.mktemp("judging")
    broker = Broker(load_config(data=data, mqtt__listen="127.0.0.1:0", journal__topics=()))
    try:
        with sync.connect(f"mqtt://{broker.engine.address}") as bus:
            yield Judging(broker, bus, AlarmFeed(broker.engine))
    finally:
        broker.abandon()


@st.composite
def rules(draw: st.DrawFn) -> Json:
    """Limits that rise, and their terms."""
    chosen = draw(st.lists(st.sampled_from(LIMITS), unique=True, min_size=1))
    ordered = sorted(chosen, key=LIMITS.index)
    numbers = st.lists(st.integers(-3, 3), min_size=len(ordered), max_size=len(ordered))
    thresholds = map(float, sorted(draw(numbers)))
    return dict(zip(ordered, thresholds, strict=True)) | {
        "hysteresis": draw(st.sampled_from([0.0, 1.0, 2.0])),
        "on_delay": draw(st.integers(0, 3)) * SECOND_NS,
        "off_delay": draw(st.integers(0, 3)) * SECOND_NS,
    }


SAMPLES = st.lists(
    st.builds(
        Measured,
        index=st.just(0),
        at_ns=st.integers(0, 12).map(lambda one: one * SECOND_NS),
        value=st.integers(-5, 5).map(float) | st.just(float("nan")) | st.just(float("inf")),
        quality=st.sampled_from([0, 0, 0, 64, 128, 192]),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(
    first=SAMPLES, later=SAMPLES, given_rules=rules(), other=rules() | st.none(),
    in_order=st.booleans(), as_text=st.booleans(),
)  # fmt: skip
def test_the_events_of_any_samples_are_those_of_the_pipeline_also_when_limits_change(
    *,
    judging: Judging,
    first: list[Measured],
    later: list[Measured],
    given_rules: Json,
    other: Json | None,
    in_order: bool,
    as_text: bool,
) -> None:
    name = f"given/{next(NUMBERS)}"
    if in_order:
        first.sort(key=lambda one: one.at_ns)
        later.sort(key=lambda one: one.at_ns)
    before = {"rule": [{"filter": name, **given_rules}]}
    after = {"rule": [{"filter": name, **other}]} if other else {}
    judging.follow(before)
    group = judging.bus.declare("", {name: PLAIN})
    judging.judge(group, first, as_text=as_text)
    judging.follow(after)
    judging.judge(group, later, as_text=as_text)
    assert judging.events() == of_pipeline([*first, *later], len(first), [before, after])


def of_pipeline(samples: list[Measured], cut: int, sections: list[Json]) -> list[Event]:
    """What the job finds in them; the second section is in force from an offset on."""
    spans = ((0, cut), (cut, None))
    versions = [{"index": 0, "name": "p0", "since": since, "until": end} for since, end in spans]
    tables = []
    for version, section in zip(versions, sections, strict=True):
        own = [rule | {"filter": "p0"} for rule in section.get("rule", ())]
        tables.append(limit_rules([version], LimitTerms.model_validate({"rule": own})))
    table = samples_table(samples)
    found = judged(table, pa.concat_tables(tables), STATE_SCHEMA.empty_table()).events
    events = [
        Event(
            row["limit"],
            row["state"] == "began",
            row["value"],
            row["threshold"],
            row["source_ns"] - START_NS,
            row["since_ns"] - START_NS,
        )
        for row in found.to_pylist()
    ]
    return sorted(events, key=lambda one: LIMITS.index(one.limit))


def test_limits_of_a_definition_count_unless_a_rule_has_others(judging: Judging) -> None:
    limits = AlarmLimits(low=-1.0, high=1.0)
    judging.follow({"rule": [{"filter": "given/#", "high": 2.0}]})
    group = judging.bus.declare("", {"given/declared": Parameter("f64", limits=limits)})
    values = [0.0, 1.5, -1.5, 2.5, 0.0]
    samples = [Measured(0, at * SECOND_NS, value) for at, value in enumerate(values)]
    judging.judge(group, samples, as_text=False)
    told = [(one.limit, one.began, one.threshold) for one in judging.events()]
    assert told == [
        ("low", True, -1.0), ("low", False, -1.0), ("high", True, 2.0), ("high", False, 2.0),
    ]  # fmt: skip
