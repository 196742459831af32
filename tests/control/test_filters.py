"""Overlap and cover of filters, compared with a matcher that tries topics one by one."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.control.filters import covers, overlap

LEVELS = ("", "a", "b", "$x")
TOPICS = ["/".join(levels) for depth in range(1, 5) for levels in product(LEVELS, repeat=depth)]
"""As deep as the filters below can tell apart; no filter has an empty level."""


def matches(topic_filter: str, topic: str) -> bool:
    if topic.startswith("$") and topic_filter.startswith(("+", "#")):
        return False
    wanted, given_levels = topic_filter.split("/"), topic.split("/")
    if wanted[-1] == "#":
        wanted = wanted[:-1]
        given_levels = given_levels[: len(wanted)]
    return len(wanted) == len(given_levels) and all(
        level in ("+", other) for level, other in zip(wanted, given_levels, strict=True)
    )


def topics_of(topic_filter: str) -> set[str]:
    return {topic for topic in TOPICS if matches(topic_filter, topic)}


filters = st.builds(
    lambda levels, end: "/".join([*levels, *end]),
    st.lists(st.sampled_from(["a", "b", "$x", "+"]), min_size=1, max_size=3),
    st.sampled_from([(), ("#",)]),
)


@given(filters, filters)
def test_filters_overlap_where_they_have_a_topic_in_common(one: str, other: str) -> None:
    assert overlap(one, other) == bool(topics_of(one) & topics_of(other))
    assert overlap(other, one) == overlap(one, other)


@given(filters, filters)
def test_a_filter_covers_another_whose_topics_it_has_all(wide: str, narrow: str) -> None:
    assert covers(wide, narrow) == (topics_of(narrow) <= topics_of(wide))


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("#", "a/b", True),
        ("#", "$SYS/x", False),
        ("+/b", "a/b", True),
        ("a/#", "a", True),
        ("a/#", "a/+/#", True),
        ("a/+/#", "a/#", False),
        ("a/+", "a/b/c", False),
        ("a/b", "a/+", False),
        ("$SYS/#", "$SYS/+", True),
    ],
)
def test_what_covers_what(wide: str, narrow: str, expected: bool) -> None:
    assert covers(wide, narrow) is expected
