"""Offset arithmetic, without a journal and without Spark."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.errors import JournalError, JournalGap
from slipring.journal.offsets import (
    PARTITION_MESSAGES_MIN,
    JournalPosition,
    advance,
    check_within,
    resolve,
    split,
)

offsets = st.integers(0, 1 << 62)


@given(offsets, st.integers(0, 1 << 20), st.none() | st.integers(1, 50), st.integers(1, 64))
def test_parts_are_contiguous_and_none_is_empty(
    start: int, count: int, partitions: int | None, cores: int
) -> None:
    parts = split(start, start + count, partitions, cores)
    assert [first for first, _ in parts[1:]] == [last for _, last in parts[:-1]]
    assert all(first < last for first, last in parts)
    assert sum(last - first for first, last in parts) == count
    if parts:
        assert (parts[0][0], parts[-1][1]) == (start, start + count)


def test_a_small_range_is_one_task_unless_the_user_wants_more() -> None:
    assert len(split(0, 100, None, cores=8)) == 1
    assert len(split(0, PARTITION_MESSAGES_MIN * 3, None, cores=8)) == 3
    assert len(split(0, 100, 4, cores=1)) == 4


def test_a_trigger_takes_no_more_than_its_limit() -> None:
    assert advance(10, 100, None) == 100
    assert advance(10, 100, 20) == 30
    assert advance(90, 100, 20) == 100


def test_bounds_mean_offsets_of_the_journal() -> None:
    assert [resolve(bound, 5, 9) for bound in ("earliest", 7, 9, "latest")] == [5, 7, 9, 9]


def test_a_gap_names_its_numbers() -> None:
    with pytest.raises(
        JournalGap, match=r"offset 2 .* begins at 5: .* removed 3 messages; read on"
    ):
        resolve(2, 5, 9)
    with pytest.raises(JournalGap, match=r"offset 10 .* synced up to 9"):
        resolve(10, 5, 9)


@given(st.text(), offsets)
def test_a_position_survives_the_checkpoint(journal: str, offset: int) -> None:
    position = JournalPosition(journal, offset)
    assert JournalPosition.from_json(position.to_json()) == position


@pytest.mark.parametrize("value", [{}, {"journal": "a"}, {"journal": "a", "offset": "x"}])
def test_another_source_s_offset_is_refused(value: dict[str, str]) -> None:
    with pytest.raises(JournalError, match="not a position"):
        JournalPosition.from_json(value)


def test_a_stream_that_was_further_than_what_is_safe_for_certain_waits_for_the_broker() -> None:
    check_within(5, 0, 5, 9)
    with pytest.raises(JournalGap, match=r"offset 7 .* up to 5 only; .* start the broker"):
        check_within(7, 0, 5, 9)
    with pytest.raises(JournalGap, match="it lost messages"):
        check_within(10, 0, 5, 9)
