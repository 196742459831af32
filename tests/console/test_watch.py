"""What one page is sent of the rows in view: against a table of a few lines."""

import base64
import json
from typing import Any, cast

import pytest

import slipring.console.shared_rows
from slipring.console.catalog import Catalog
from slipring.console.finding import Finder, ParameterQuestion
from slipring.console.narrowing import CatalogView
from slipring.console.shared_rows import ROWS_MAX, TEXT_SHOWN, RowsInView
from slipring.console.watch import NAMES_MAX, SEARCH_MAX, Asked, Watch, read_asked
from tests.console.fake_table import FakeTable

Json = dict[str, Any]


class Everybody:
    """A visitor who may watch everything."""

    def __init__(self) -> None:
        self.watched = "all"
        self.plan = 1
        self.key: tuple[object, ...] = ()

    def may_watch_each(self, names: list[str]) -> list[bool]:
        return [self.watched == "all"] * len(names)


class Somebody:
    """A visitor who may watch what begins with some letters."""

    watched = "some"
    plan = 1

    def __init__(self, start: str) -> None:
        self.start = start
        self.key = (1, start)

    def may_watch_each(self, names: list[str]) -> list[bool]:
        return [name.startswith(self.start) for name in names]


class Pages:
    """Pages of one console, all of the same table."""

    def __init__(self, table: FakeTable) -> None:
        self.catalog = Catalog(table.ask)
        self.rows = RowsInView(Finder(self.catalog, lambda _: []))

    def open(self, search: str = "", visitor: object = None, **asked: Any) -> Watch:
        view = CatalogView(self.catalog, cast("Any", visitor or Everybody()))
        sort = asked.pop("sort", "name")
        return Watch(self.rows, view, Asked(ParameterQuestion(search, sort), **asked))


async def look(watch: Watch) -> Json:
    told: Json = json.loads(await watch.look())
    return told


def names(told: Json) -> list[str] | None:
    definitions = told["definitions"]
    return None if definitions is None else [one["name"] for one in definitions]


def values(told: Json) -> list[Any]:
    return [one["value"] for one in told["values"]]


@pytest.fixture(autouse=True)
def _every_look_is_after_another_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slipring.console.shared_rows, "SHARED_S", 0.0)


async def test_only_what_changed_is_told_again() -> None:
    table = FakeTable("a", "b")
    table.values = {"a": 1.5, "b": True}
    watch = Pages(table).open()
    first = await look(watch)
    assert names(first) == ["a", "b"]
    assert values(first) == [1.5, True]
    assert (first["values"][0]["time_ms"], first["values"][0]["received_ms"]) == (1.0, 2.0)
    table.values["b"] = False
    later = await look(watch)
    assert later["definitions"] is None
    assert [(one["index"], one["value"]) for one in later["values"]] == [(1, False)]
    assert values(await look(watch)) == []


async def test_a_page_is_sent_the_rows_in_view_and_how_many_there_are() -> None:
    table = FakeTable(*(f"p/{number}" for number in range(1_000)))
    table.values = {f"p/{number}": number for number in range(1_000)}
    watch = Pages(table).open(first=990, count=50)
    told = await look(watch)
    assert (told["first"], told["matching"], told["parameters"]) == (990, 1_000, 1_000)
    assert values(told) == list(range(990, 1_000))
    watch.asked = Asked(ParameterQuestion(), 0, 2)
    assert names(await look(watch)) == ["p/0", "p/1"]
    table.values |= {"p/0": -1, "p/2": -1}
    assert values(await look(watch)) == [-1]
    watch.asked = Asked(ParameterQuestion(), 0, 0)
    told = await look(watch)
    assert (names(told), values(told), told["matching"]) == ([], [], 1_000)
    watch.asked = Asked(ParameterQuestion(), 10**9, 10)
    assert names(await look(watch)) == []


async def test_another_search_shows_other_rows_with_their_values() -> None:
    table = FakeTable("a", "b")
    table.values = {"a": 1, "b": 2}
    watch = Pages(table).open("a")
    assert values(await look(watch)) == [1]
    watch.asked = Asked(ParameterQuestion("b"))
    told = await look(watch)
    assert (told["search"], told["matching"], told["parameters"]) == ("b", 1, 2)
    assert (names(told), values(told)) == (["b"], [2])


async def test_rows_are_sent_again_when_the_table_has_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slipring.console.catalog, "REST_S", (0.0, 0.0))
    table = FakeTable("b")
    table.values = {"b": 1, "a": 2}
    watch = Pages(table).open()
    assert names(await look(watch)) == ["b"]
    table.names.append("a")
    table.revision += 1
    told = await look(watch)
    assert (names(told), sorted(values(told))) == (["a", "b"], [1, 2])
    table.revision += 1
    assert names(await look(watch)) is None, "the same rows are not sent again"


async def test_fifty_pages_that_see_the_same_cost_the_engine_no_more_than_one() -> None:
    table = FakeTable(*(f"p/{number}" for number in range(100)))
    table.values = {"p/1": 1}
    pages = Pages(table)
    watches = [pages.open(count=50) for _ in range(50)]
    slipring.console.shared_rows.SHARED_S = 60.0
    texts = {await watch.look() for watch in watches}
    assert len(texts) == 1
    assert table.asked.count("values") == 1
    assert table.asked.count("list") == 1 + 50, "the table once, and each row in view"


async def test_a_page_that_missed_changes_is_sent_all_of_them() -> None:
    table = FakeTable("a", "b")
    table.values = {"a": 1, "b": 1}
    pages = Pages(table)
    slow, quick = pages.open(), pages.open()
    await look(slow)
    await look(quick)
    for number in (2, 3):
        table.values["a"] = number
        assert values(await look(quick)) == [number]
    table.values["b"] = 4
    assert values(await look(quick)) == [4]
    assert values(await look(slow)) == [3, 4]
    assert values(await look(slow)) == []


async def test_who_may_watch_some_topics_is_sent_and_told_of_those_alone() -> None:
    table = FakeTable("a/1", "b/1", "b/2")
    table.values = {"a/1": 1, "b/1": 2, "b/2": 3}
    pages = Pages(table)
    everybody = await look(pages.open())
    told = await look(pages.open(visitor=Somebody("b")))
    assert (names(told), values(told)) == (["b/1", "b/2"], [2, 3])
    assert (told["parameters"], told["matching"], everybody["parameters"]) == (2, 2, 3)
    other = await look(pages.open(visitor=Somebody("a")))
    assert names(other) == ["a/1"]
    refused = await look(pages.open("publisher:x", visitor=Somebody("a")))
    assert refused["matching"] == 0
    assert "watch everything" in refused["problem"]


async def test_who_loses_rights_takes_no_rows_from_others_who_see_the_same() -> None:
    table = FakeTable("a", "b")
    table.values = {"a": 1, "b": 2}
    pages = Pages(table)
    first = Everybody()
    opened, stays = pages.open(visitor=first), pages.open()
    await look(opened)
    assert names(await look(stays)) == ["a", "b"]
    first.watched, first.plan, first.key = "nothing", 2, (2, "first")
    table.values["a"] = 3
    told = await look(stays)
    assert (told["matching"], told["parameters"], values(told)) == (2, 2, [3])


async def test_a_search_is_not_made_again_while_nothing_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("slipring.console.finding.FOUND_MAX", 1)
    table = FakeTable("a", "b")
    pages = Pages(table)
    found: list[ParameterQuestion] = []
    find = Finder._find

    def counted(*asked: Any) -> Any:
        found.append(asked[3])
        return find(*asked)

    monkeypatch.setattr(Finder, "_find", counted)
    several = [pages.open(search) for search in ("a", "b", "c")]
    for _ in range(3):
        for watch in several:
            await look(watch)
    assert len(found) == 3, "other pages with other searches displaced the answer"


async def test_values_that_do_not_fit_into_an_answer_come_with_the_next() -> None:
    table = FakeTable("a", "b", "c")
    table.values = {"a": 1, "b": 2, "c": 3}
    table.room = 2
    watch = Pages(table).open()
    assert values(await look(watch)) == [1, 2]
    assert values(await look(watch)) == [3]


async def test_a_value_too_large_to_be_told_does_not_hold_up_the_others() -> None:
    table = FakeTable("huge", "b")
    table.values = {"huge": "", "b": 2}
    table.room = 0
    watch = Pages(table).open()
    assert values(await look(watch)) == []
    table.room = 1
    assert values(await look(watch)) == [2]


async def test_what_is_wrong_with_a_search_is_said() -> None:
    told = await look(Pages(FakeTable("a")).open("state:purple"))
    assert told["matching"] == 0
    assert "There is no state “purple”" in told["problem"]


@pytest.mark.parametrize(
    "asked",
    [
        {"search": 7},
        {"search": "x" * (SEARCH_MAX + 1)},
        {"search": "", "sort": "size"},
        {"search": "", "sort": 1},
        {"search": "", "first": -1},
        {"search": "", "first": 2**40},
        {"search": "", "count": ROWS_MAX + 1},
        {"search": "", "count": True},
        {"search": "", "names": "a"},
        {"search": "", "names": [7]},
        {"search": "", "names": ["x" * 1_025]},
        {"search": "", "names": ["a"] * (NAMES_MAX + 1)},
        {"search": "", "only_names": 1},
        {},
        [],
    ],
)
def test_what_is_no_question_is_not_understood(asked: object) -> None:
    assert read_asked(json.dumps(asked)) is None


def test_a_question_says_what_is_searched_sorted_and_in_view() -> None:
    text = '{"search": "rpm", "sort": "-age", "first": 20, "count": 40, "names": ["a"], "x": 1}'
    assert read_asked(text) == Asked(ParameterQuestion("rpm", "-age", ("a",)), 20, 40)
    assert read_asked('{"search": "\\ud800"}') is None


@pytest.mark.parametrize(
    ("type_", "value", "shown"),
    [
        ("u64", 2**64 - 1, "18446744073709551615"),
        ("i64", -(2**53), -(2**53)),
        ("bytes", "", ""),
        ("bytes", "MQ==", "31"),
        ("bytes", "MTI=", "3132"),
        ("bytes", "MTIz", "313233"),
        ("bytes", base64.b64encode(b"1" * 64).decode(), "31" * 64),
        ("bytes", base64.b64encode(b"1" * 1_234).decode(), "31" * 64 + "… (1,234 bytes)"),
        ("text", "x" * 1_000, "x" * TEXT_SHOWN),
        ("enum", "failed", "failed"),
        ("f64", "nan", "nan"),
    ],
)
async def test_a_value_goes_as_a_page_can_take_it(type_: str, value: object, shown: object) -> None:
    table = FakeTable("a")
    table.types, table.values = {"a": type_}, {"a": value}
    assert values(await look(Pages(table).open())) == [shown]
