"""What a search finds, and what one page is sent: against a table of a few lines."""

import base64
import json
from types import SimpleNamespace
from typing import Any

import pytest

import slipring.console.catalog
from slipring.console.catalog import PAGE, REST_S, Catalog
from slipring.console.watch import ROWS_SHOWN, TEXT_SHOWN, Watch

NAMES = ["jet/cell/10", "jet/cell/2", "jet/Engine/rpm", "jet", "plant.1/a"]


class FakeTable:
    """Answers as the engine does; a test changes what it has."""

    def __init__(self, *names: str) -> None:
        self.revision = 1
        self.names = list(names)
        self.types: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self.room = 1_000
        self.listings = 0

    def ask(self, name: str, body: bytes) -> bytes:
        answer: dict[str, Any] = getattr(self, f"_{name}")(**json.loads(body))
        return json.dumps(answer).encode()

    def _find(self, names: list[str]) -> dict[str, Any]:
        return {"table": 7, "revision": self.revision, "indices": names, "errors": []}

    def _list(self, count: int, **chosen: Any) -> dict[str, Any]:
        name_or_all, first = chosen.get("filter", "#"), chosen.get("from", 0)
        self.listings += name_or_all == "#"
        rows = [
            {"index": index, "name": name, "type": self.types.get(name, "f64"), "labels": {}}
            for index, name in enumerate(self.names)
            if index >= first and name_or_all in ("#", name)
        ]
        following = rows[count]["index"] if len(rows) > count else None
        return {"revision": self.revision, "next": following, "parameters": rows[:count]}

    def _values(self, names: list[str], **start: int) -> dict[str, Any]:
        rows = [
            {"index": index, "name": name, "received": 2_000_000, "value": self.values[name]}
            | {"time": 1_000_000, "quality": "good"}
            for index, name in enumerate(self.names)
            if index >= start["from"] and name in names and name in self.values
        ]
        if self.room == 0:
            return {"error": "too_large", "message": "", "problems": []}
        following = rows[self.room]["index"] if len(rows) > self.room else None
        return {"next": following, "values": rows[: self.room], "errors": []}


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", ["jet", "jet/Engine/rpm", "jet/cell/2", "jet/cell/10", "plant.1/a"]),
        ("  CELL ", ["jet/cell/2", "jet/cell/10"]),
        ("engine/R", ["jet/Engine/rpm"]),
        ("jet/+/2", ["jet/cell/2"]),
        ("jet/#", ["jet", "jet/Engine/rpm", "jet/cell/2", "jet/cell/10"]),
        ("jet/cell/#", ["jet/cell/2", "jet/cell/10"]),
        ("+", ["jet"]),
        ("#", ["jet", "jet/Engine/rpm", "jet/cell/2", "jet/cell/10", "plant.1/a"]),
        ("plant.1/+", ["plant.1/a"]),
        ("plantX1/+", []),
        ("jet/#/2", []),
        ("(a+)+$", []),
    ],
)
async def test_a_search_is_a_filter_or_a_part_of_the_name(search: str, found: list[str]) -> None:
    catalog = Catalog(FakeTable(*NAMES).ask)
    await catalog.refresh()
    assert catalog.find(search) == found


async def test_a_large_table_is_read_in_pages_and_only_when_it_has_changed() -> None:
    table = FakeTable(*(f"p/{number}" for number in range(2 * PAGE + 1)))
    catalog = Catalog(table.ask)
    for _ in range(3):
        await catalog.refresh()
    assert len(catalog.names) == 2 * PAGE + 1
    assert table.listings == 3


async def test_a_table_that_keeps_changing_is_not_read_at_every_beat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 100.0
    monkeypatch.setattr(slipring.console.catalog, "time", SimpleNamespace(monotonic=lambda: now_s))
    table = FakeTable("a")
    catalog = Catalog(table.ask)
    for _ in range(5):
        await catalog.refresh()
        table.revision += 1
    assert table.listings == 1
    now_s += REST_S[0]
    await catalog.refresh()
    assert table.listings == 2


async def test_only_what_changed_is_told_again() -> None:
    table = FakeTable("a", "b")
    table.values = {"a": 1.5, "b": True}
    watch = Watch(Catalog(table.ask), "")
    first = await watch.look()
    assert [one["name"] for one in first["definitions"] or ()] == ["a", "b"]
    assert [one["value"] for one in first["values"]] == [1.5, True]
    assert (first["values"][0]["time_ms"], first["values"][0]["received_ms"]) == (1.0, 2.0)
    table.values["b"] = False
    later = await watch.look()
    assert later["definitions"] is None
    assert [(one["index"], one["value"]) for one in later["values"]] == [(1, False)]
    assert (await watch.look())["values"] == []


async def test_after_the_first_time_only_rows_in_view_are_looked_at() -> None:
    table = FakeTable("a", "b", "c")
    table.values = {"a": 1, "b": 2, "c": 3}
    watch = Watch(Catalog(table.ask), "")
    watch.view = (1, 1)
    assert [one["value"] for one in (await watch.look())["values"]] == [1, 2, 3]
    table.values = {"a": 4, "b": 5, "c": 6}
    assert [one["value"] for one in (await watch.look())["values"]] == [5]
    watch.view = (2, 9)
    assert [one["value"] for one in (await watch.look())["values"]] == [6]
    watch.view = (0, 0)
    assert (await watch.look())["values"] == []


async def test_another_search_shows_other_rows_with_their_values() -> None:
    table = FakeTable("a", "b")
    table.values = {"a": 1, "b": 2}
    watch = Watch(Catalog(table.ask), "a")
    assert [one["value"] for one in (await watch.look())["values"]] == [1]
    watch.search = "b"
    told = await watch.look()
    assert (told["search"], told["matching"], told["parameters"]) == ("b", 1, 2)
    assert [one["name"] for one in told["definitions"] or ()] == ["b"]
    assert [one["value"] for one in told["values"]] == [2]


async def test_of_many_the_first_are_shown_and_all_are_counted() -> None:
    table = FakeTable(*(f"p/{number}" for number in range(ROWS_SHOWN + 50)))
    told = await Watch(Catalog(table.ask), "").look()
    definitions = told["definitions"] or []
    assert len(definitions) == ROWS_SHOWN
    assert told["matching"] == ROWS_SHOWN + 50
    assert definitions[-1]["name"] == f"p/{ROWS_SHOWN - 1}"
    assert "labels" not in definitions[0]


async def test_values_that_do_not_fit_into_an_answer_come_with_the_next() -> None:
    table = FakeTable("a", "b", "c")
    table.values = {"a": 1, "b": 2, "c": 3}
    table.room = 2
    watch = Watch(Catalog(table.ask), "")
    assert [one["value"] for one in (await watch.look())["values"]] == [1, 2]
    assert [one["value"] for one in (await watch.look())["values"]] == [3]


async def test_a_value_too_large_to_be_told_does_not_hold_up_the_others() -> None:
    table = FakeTable("huge", "b")
    table.values = {"huge": "", "b": 2}
    table.room = 0
    watch = Watch(Catalog(table.ask), "")
    assert (await watch.look())["values"] == []
    table.room = 1
    assert [one["value"] for one in (await watch.look())["values"]] == [2]


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
    told = await Watch(Catalog(table.ask), "").look()
    assert told["values"][0]["value"] == shown
