"""Limits with delays and hysteresis (D1, P13): events do not depend on how samples are cut."""

import random
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipring.pipeline.steps.limit_rows import (
    FOREVER,
    RULE_SCHEMA,
    STATE_SCHEMA,
    judged,
    thinned,
)
from tests.pipeline.steps.partials_by_hand import SECOND_NS, START_NS, Measured, samples_table


class Rule(NamedTuple):
    limit: str
    threshold: float
    hysteresis: float = 0.0
    on_s: int = 0
    off_s: int = 0
    since: int = 0
    until: int = FOREVER


def rules_table(rules: list[tuple[int, Rule]]) -> pa.Table:
    rows = [
        (
            index,
            one.limit,
            one.threshold,
            one.hysteresis,
            one.on_s * SECOND_NS,
            one.off_s * SECOND_NS,
            one.since,
            one.until,
        )
        for index, one in rules
    ]
    return pa.Table.from_pylist(
        [dict(zip(RULE_SCHEMA.names, row, strict=True)) for row in rows], schema=RULE_SCHEMA
    )


def by_hand(samples: list[Measured], index: int, rule: Rule) -> list[tuple[int, str, int]]:
    """Offset, state and begin of the series, one sample after the other."""
    sign = 1 if rule.limit.startswith("high") else -1
    is_out = is_event = False
    since: int | None = None
    events = []
    for offset, one in enumerate(samples):
        if one.index != index or one.quality >= 128 or one.value != one.value:
            continue
        beyond = sign * (one.value - rule.threshold)
        now_out = True if beyond > 0 else False if beyond <= -rule.hysteresis else is_out
        if since is None or now_out != is_out:
            since = one.at_ns
        is_out = now_out
        delay_ns = (rule.on_s if is_out else rule.off_s) * SECOND_NS
        if is_out != is_event and one.at_ns - since >= delay_ns:
            is_event = is_out
            events.append((offset, "began" if is_out else "ended", START_NS + since))
    return events


def found(events: pa.Table, index: int, limit: str) -> list[tuple[int, str, int]]:
    return [
        (row["offset"], row["state"], row["since_ns"])
        for row in events.to_pylist()
        if (row["index"], row["limit"]) == (index, limit)
    ]


RULES = st.builds(
    Rule,
    limit=st.sampled_from(["low_critical", "low", "high", "high_critical"]),
    threshold=st.integers(-3, 3).map(float),
    hysteresis=st.sampled_from([0.0, 1.0, 2.0]),
    on_s=st.integers(0, 3),
    off_s=st.integers(0, 3),
    since=st.just(0),
    until=st.just(FOREVER),
)
SAMPLES = st.lists(
    st.builds(
        Measured,
        index=st.integers(0, 2),
        at_ns=st.integers(0, 12).map(lambda one: one * SECOND_NS),
        value=st.integers(-5, 5).map(float) | st.just(float("nan")),
        quality=st.sampled_from([0, 0, 0, 64, 128]),
    ),
    max_size=60,
)


@settings(max_examples=80, deadline=None)
@given(
    SAMPLES,
    st.lists(
        st.tuples(st.integers(0, 1), RULES),
        unique_by=lambda one: (one[0], one[1].limit),
        max_size=5,
    ),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_any_cut_gives_the_events_of_one_sample_after_the_other(
    samples: list[Measured],
    rules: list[tuple[int, Rule]],
    is_thinned: bool,
    in_order: bool,
    chance: random.Random,
) -> None:
    if in_order:
        samples.sort(key=lambda one: one.at_ns)
    table, limits, state = samples_table(samples), rules_table(rules), STATE_SCHEMA.empty_table()
    cuts = sorted(chance.randint(0, len(samples)) for _ in range(4))
    events = []
    for start, end in zip([0, *cuts], [*cuts, len(samples)], strict=True):
        piece = table.slice(start, end - start)
        new, state = judged(thinned(piece, limits) if is_thinned else piece, limits, state)
        events.append(new)
    for index, rule in rules:
        assert found(pa.concat_tables(events), index, rule.limit) == by_hand(samples, index, rule)


def test_an_event_says_what_it_was() -> None:
    samples = [
        Measured(0, at * SECOND_NS, value)
        for at, value in enumerate((899.0, 905.0, 895.0, 901.0, 880.0))
    ]
    limits = rules_table([(0, Rule("high", 900.0, hysteresis=10.0, on_s=2)), (0, Rule("low", 0.0))])
    events = judged(samples_table(samples), limits, STATE_SCHEMA.empty_table()).events.to_pylist()
    assert [
        (one["state"], one["level"], one["value"], one["threshold"], one["unit"]) for one in events
    ] == [
        ("began", "warning", 901.0, 900.0, "K"),
        ("ended", "warning", 880.0, 900.0, "K"),
    ]
    assert [one["since_ns"] - START_NS for one in events] == [SECOND_NS, 4 * SECOND_NS]


def test_an_event_ends_when_its_limit_is_gone() -> None:
    samples = [Measured(0, at * SECOND_NS, 7.0) for at in range(6)]
    limits = rules_table(
        [(0, Rule("high", 5.0, until=2)), (0, Rule("high", 6.0, since=4, off_s=9))]
    )
    events = judged(samples_table(samples), limits, STATE_SCHEMA.empty_table()).events
    assert [(one["offset"], one["state"]) for one in events.to_pylist()] == [
        (0, "began"),
        (2, "ended"),
        (4, "began"),
    ]


@pytest.mark.parametrize("rules", [[], [(5, Rule("high", 1.0))]])
def test_samples_without_limits_are_left_out(rules: list[Any]) -> None:
    table = samples_table([Measured(0, 0, 7.0)])
    assert thinned(table, rules_table(rules)).num_rows == 0
    assert judged(table, rules_table(rules), STATE_SCHEMA.empty_table()).events.num_rows == 0


def test_of_steady_values_without_delays_the_first_is_enough() -> None:
    samples = [Measured(0, at, 1.0) for at in range(1_000)]
    assert thinned(samples_table(samples), rules_table([(0, Rule("high", 5.0))])).num_rows == 1


def test_events_of_one_frame_are_in_the_order_of_arrival_although_its_times_go_back() -> None:
    samples = samples_table([Measured(0, 9 * SECOND_NS, 9.0), Measured(0, 5 * SECOND_NS, 0.0)])
    place = samples.schema.get_field_index("offset")
    samples = samples.set_column(place, "offset", pa.array([4, 4], pa.int64()))
    rules = rules_table([(0, Rule("high", 5.0))])
    events = judged(samples, rules, STATE_SCHEMA.empty_table()).events
    assert events.column("state").to_pylist() == ["began", "ended"]
