"""The table as a client sees it: names, indices, what was removed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipring.frames import Table
from slipring.model import Entry, Parameter

F64, TEXT = Parameter("f64"), Parameter("text")


def numbers(*values: int) -> "np.ndarray[tuple[int], np.dtype[np.uint32]]":
    return np.array(values, np.uint32)


def test_a_parameter_is_found_by_name_and_by_index() -> None:
    table = Table(3)
    table.put(Entry(5_000, "a/b", F64))
    assert table["a/b"] == Entry(5_000, "a/b", F64)
    assert table.parameter(5_000) is F64
    assert table.names(numbers(5_000, 1, 900_000)).tolist() == ["a/b", None, None]
    assert (len(table), list(table), "a/b" in table, "a" in table) == (1, ["a/b"], True, False)
    with pytest.raises(KeyError, match="'a'"):
        table["a"]


def test_what_was_removed_keeps_its_index_for_frames_on_their_way() -> None:
    table = Table()
    for index, name in enumerate("abc"):
        table.put(Entry(index, name, F64))
    assert table.remove(1, 9) == ["b", "c"]
    assert list(table) == ["a"]
    assert table.index("b") == 1
    assert table.names(numbers(1)).tolist() == ["b"]
    assert table.remove(1, 1) == []


def test_a_name_declared_again_with_another_type_has_its_new_index() -> None:
    table = Table()
    table.put(Entry(0, "a", F64))
    table.put(Entry(9, "a", TEXT))
    table.put(Entry(0, "a", F64))
    assert table["a"].index == table.index("a") == 9
    assert table.remove(0, 1) == []
    assert "a" in table


def test_filters_choose_parameters() -> None:
    table = Table()
    for index, name in enumerate(["p/1/rpm", "p/2/rpm", "p/2/on"]):
        table.put(Entry(index, name, F64))
    assert [entry.index for entry in table.matching("p/+/rpm")] == [0, 1]
    assert [entry.index for entry in table.matching("p/1/#", "p/2/on")] == [0, 2]


@given(st.sets(st.integers(0, 300)), st.lists(st.integers(0, 400)))
def test_it_knows_what_it_was_told(told: set[int], asked: list[int]) -> None:
    table = Table()
    for index in told:
        table.put(Entry(index, f"p/{index}", F64))
    assert table.knows(numbers(*asked)) == (set(asked) <= told)


def test_labels_are_looked_up_for_many_numbers_at_once() -> None:
    table = Table()
    table.put(Entry(0, "a", Parameter("enum", labels={0: "off", 1: "on"})))
    table.put(Entry(1, "b", Parameter("enum", labels={1: "one", 4_000_000_000: "much"})))
    table.put(Entry(2, "c", F64))
    table.put(Entry(3, "d", Parameter("enum", labels={1: "on", 0: "off"})))
    sets = table.label_sets(numbers(0, 0, 1, 1, 2, 3, 0, 900))
    values = numbers(0, 1, 1, 4_000_000_000, 1, 1, 2, 1)
    found = table.labels.look_up(sets, values).tolist()
    assert found == ["off", "on", "one", "much", None, "on", None, None]
