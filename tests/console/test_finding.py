"""What a search finds, and in which order: against a table of a few lines."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

import slipring.console.catalog
from slipring.console.catalog import PAGE, REST_S, Catalog
from slipring.console.census import Censuses
from slipring.console.finding import FOUND_MAX, Finder, ParameterQuestion
from slipring.console.narrowing import CatalogView
from slipring.console.parameter_facts import branches_of
from slipring.console.search_words import read_search
from slipring.status.requests import PublisherStatus
from tests.console.fake_table import FakeTable

NAMES = ["jet/cell/10", "jet/cell/2", "jet/Engine/rpm", "jet", "plant.1/a", "left wing/b"]
EVERYBODY = cast("Any", SimpleNamespace(watched="all", plan=1, key=()))


def publishers(_: int) -> list[PublisherStatus]:
    return [
        {"client_id": "Jet-7", "connected": True, "ranges": [(0, 2), (3, 1)]},
        {"client_id": "plant", "connected": False, "ranges": [(4, 1), (900, 5)]},
    ]


async def found(table: FakeTable, search: str, sort: str = "name", **asked: Any) -> list[str]:
    catalog = Catalog(table.ask)
    await catalog.refresh()
    question = ParameterQuestion(search, sort, **asked)
    answer = await Finder(catalog, publishers).found(CatalogView(catalog, EVERYBODY), question)
    return [answer.columns.names[at] for at in answer.positions]


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("", ["jet", "jet/Engine/rpm", "jet/cell/2", "jet/cell/10", "left wing/b", "plant.1/a"]),
        ("  CELL ", ["jet/cell/2", "jet/cell/10"]),
        ("engine/R", ["jet/Engine/rpm"]),
        ("name:engine", ["jet/Engine/rpm"]),
        ("rpm jet", ["jet/Engine/rpm"]),
        ("rpm cell", []),
        ("jet/+/2", ["jet/cell/2"]),
        ("jet/#", ["jet", "jet/Engine/rpm", "jet/cell/2", "jet/cell/10"]),
        ("jet/cell/# plant.1/+", ["jet/cell/2", "jet/cell/10", "plant.1/a"]),
        ("jet/# 1", ["jet/cell/10"]),
        ("+", ["jet"]),
        ("plant.1/+", ["plant.1/a"]),
        ("plantX1/+", []),
        ("jet/#/2", []),
        ("(a+)+$", []),
        ('"left wing/#"', ["left wing/b"]),
        ('"left wing"', ["left wing/b"]),
        ("left wing", ["left wing/b"]),
        ('"', []),
        ("unit:KPA", ["jet/Engine/rpm"]),
        ("unit:kPa unit:V", ["jet/Engine/rpm", "jet/cell/2"]),
        ('unit:"deg C"', ["jet/cell/10"]),
        ("unit:V jet/cell/#", ["jet/cell/2"]),
        ("type:text", ["plant.1/a"]),
        ("publisher:jet", ["jet", "jet/cell/2", "jet/cell/10"]),
        ("publisher:nobody", []),
        ("state:stale", ["jet"]),
        ("state:limit", ["jet/Engine/rpm", "jet/cell/2"]),
        ("state:critical", ["jet/Engine/rpm"]),
        ("STATE:Bad state:none", ["jet/cell/10", "left wing/b"]),
        ("state:good", ["plant.1/a"]),
        ("state:purple", []),
    ],
)
async def test_a_search_finds_what_has_all_of_its_words(search: str, names: list[str]) -> None:
    assert await found(table(), search) == names


def table() -> FakeTable:
    made = FakeTable(*NAMES)
    made.types = {"plant.1/a": "text"}
    limits = {"high": 10.0, "high_critical": 20.0, "low": -1.0}
    made.facts = {
        "jet/Engine/rpm": {"unit": "kPa", "limits": limits, "rate_hz": 50.0},
        "jet/cell/2": {"unit": "V", "limits": limits, "rate_hz": 1.0},
        "jet/cell/10": {"unit": "deg C"},
        "jet": {"limits": limits},
        "plant.1/a": {"limits": limits},
    }
    made.values = {"jet/Engine/rpm": 21, "jet/cell/2": -2.5, "jet/cell/10": 1, "jet": 999}
    made.values |= {"plant.1/a": "999"}
    made.qualities = {"jet/cell/10": "bad", "jet": "stale"}
    made.received_ms = {"jet/Engine/rpm": 5, "jet/cell/2": 9, "jet": 7}
    return made


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        (
            "-name",
            ["plant.1/a", "left wing/b", "jet/cell/10", "jet/cell/2", "jet/Engine/rpm", "jet"],
        ),
        (
            "state",
            ["jet/Engine/rpm", "jet/cell/2", "jet/cell/10", "jet", "left wing/b", "plant.1/a"],
        ),
        (
            "rate",
            ["jet/Engine/rpm", "jet/cell/2", "jet", "jet/cell/10", "left wing/b", "plant.1/a"],
        ),
        (
            "-rate",
            ["jet/cell/2", "jet/Engine/rpm", "jet", "jet/cell/10", "left wing/b", "plant.1/a"],
        ),
        ("age", ["jet/cell/2", "jet", "jet/Engine/rpm", "jet/cell/10", "plant.1/a", "left wing/b"]),
        (
            "-age",
            ["jet/cell/10", "plant.1/a", "jet/Engine/rpm", "jet", "jet/cell/2", "left wing/b"],
        ),
    ],
)
async def test_rows_come_in_the_order_asked_and_those_without_last(
    sort: str, names: list[str]
) -> None:
    assert await found(table(), "", sort) == names


async def test_marked_names_come_first_or_alone() -> None:
    marked = ("plant.1/a", "jet", "not there")
    first = await found(table(), "", names=marked)
    assert first[:2] == ["jet", "plant.1/a"]
    assert len(first) == len(NAMES)
    alone = await found(table(), "jet/#", names=marked, only_names=True)
    assert alone == ["jet"]


async def test_states_are_read_only_while_a_search_asks_and_once_a_second_at_most() -> None:
    asked = table()
    await found(asked, "jet")
    assert "values" not in asked.asked
    catalog = Catalog(asked.ask)
    await catalog.refresh()
    now_s = 100.0
    censuses = Censuses(catalog, lambda: now_s)
    numbers = [(await censuses.newest()).number for _ in range(5)]
    assert numbers == [1] * 5
    now_s += 1.1
    assert (await censuses.newest()).number == 2


async def test_a_value_too_large_for_an_answer_does_not_end_the_census() -> None:
    asked = table()
    asked.room = 0
    assert await found(asked, "state:none") != []


async def test_answers_are_kept_and_shared_within_a_bound() -> None:
    catalog = Catalog(table().ask)
    await catalog.refresh()
    finder, view = Finder(catalog, publishers), CatalogView(catalog, EVERYBODY)
    first = await finder.found(view, ParameterQuestion("jet"))
    assert await finder.found(view, ParameterQuestion("jet")) is first
    for number in range(FOUND_MAX):
        await finder.found(view, ParameterQuestion(str(number)))
    assert await finder.found(view, ParameterQuestion("jet")) is not first


async def test_a_large_table_is_read_in_pages_and_only_when_it_has_changed() -> None:
    large = FakeTable(*(f"p/{number}" for number in range(2 * PAGE + 1)))
    catalog = Catalog(large.ask)
    for _ in range(3):
        await catalog.refresh()
    assert len(catalog.names) == 2 * PAGE + 1
    assert large.listings == 3
    assert await found(large, "p/4000") == ["p/4000"]


async def test_a_table_that_keeps_changing_is_not_read_at_every_beat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 100.0
    monkeypatch.setattr(slipring.console.catalog, "time", SimpleNamespace(monotonic=lambda: now_s))
    changing = FakeTable("a")
    catalog = Catalog(changing.ask)
    for _ in range(5):
        await catalog.refresh()
        changing.revision += 1
    assert changing.listings == 1
    now_s += REST_S[0]
    await catalog.refresh()
    assert changing.listings == 2


def test_a_hostile_search_is_read_as_words() -> None:
    for text in ('"' * 1_000, "unit:" * 200, 'unit:"' * 100, "\x00 \udfff", "a:" * 500):
        assert read_search(text).problem is None


def test_branches_are_the_levels_below_a_path_with_their_counts() -> None:
    names = ["a", "a/b", "a/b/c", "a/d", "ab/c", "", "/x"]
    top = branches_of(names, None)
    assert [(one["level"], one["parameters"]) for one in top] == [("a", 4), ("ab", 1), ("", 2)]
    assert top[0]["is_parameter"]
    assert top[0]["has_more"]
    below = branches_of(names, "a")
    assert [(one["level"], one["parameters"], one["has_more"]) for one in below] == [
        ("b", 2, True),
        ("d", 1, False),
    ]
    assert [one["level"] for one in branches_of(names, "")] == ["x"]
    assert branches_of(names, "nothing") == []


async def test_a_search_has_a_bounded_number_of_words() -> None:
    """Each is looked for in every name."""
    catalog = Catalog(table().ask)
    await catalog.refresh()
    for words in ("e " * 17, "+/# " * 17, "unit:a " * 9 + "type:b " * 8):
        question = ParameterQuestion(words)
        answer = await Finder(catalog, publishers).found(CatalogView(catalog, EVERYBODY), question)
        assert (list(answer.positions), answer.problem) == ([], "A search has at most 16 words.")
    assert await found(table(), "e " * 16) == await found(table(), "e")
