"""Grafana's dashboard against a real broker: each question gets an answer with its columns."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest

from slipring import AlarmLimits, Parameter, sync
from slipring.console import grafana
from tests.console.fake_table import FakeTable
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

EXAMPLES = Path(__file__).parents[2] / "examples" / "grafana"
DASHBOARD = json.loads((EXAMPLES / "slipring.json").read_text())
INFINITY = "yesoreyeram-infinity-datasource"
NAMES = ("jet/rpm", "jet/gear", "jet/a,b&c")


@pytest.fixture(scope="module")
def flying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with samples of the last minutes, and one value beyond its limit."""
    with broker_in(tmp_path_factory.mktemp("flying")) as running:
        with sync.connect(running.url) as bus:
            rpm = Parameter("f64", unit="1/min", limits=AlarmLimits(high=50))
            jet = bus.declare("jet", {"rpm": rpm, "gear": "bool", "a,b&c": "text"}, qos=1)
            now_ns = time.time_ns()
            for at in range(60):
                time_ns = now_ns - (60 - at) * 3 * 10**9
                jet.write({"rpm": float(at), "gear": at > 30, "a,b&c": f"t{at}"}, time_ns=time_ns)
            jet.flush()
        yield running


def filled(url: str, names: tuple[str, ...] = NAMES) -> str:
    """The address as Grafana asks it, with its variables replaced."""
    now_ms = time.time() * 1e3
    values = {
        "${__from}": str(int(now_ms - 300_000)),
        "${__to}": str(int(now_ms)),
        "${name:queryparam}": urlencode([("var-name", name) for name in names]),
        "${filter:percentencode}": quote("#", safe=""),
    }
    for variable, value in values.items():
        url = url.replace(variable, value)
    assert "$" not in url, f"a variable of {url} has no value here"
    return url


def questions() -> list[dict[str, Any]]:
    targets = [one for panel in DASHBOARD["panels"] for one in panel["targets"]]
    variables = [one["query"] for one in DASHBOARD["templating"]["list"]]
    asked = [one["infinityQuery"] for one in variables if isinstance(one, dict)]
    return [*asked, *(one for one in targets if one["datasource"]["type"] == INFINITY)]


def rows_of(broker: RunningBroker, url: str, root: str = "") -> list[dict[str, Any]]:
    answer = httpx.get(f"{broker.console}{url}", timeout=PATIENCE_S)
    assert answer.status_code == 200, (url, answer.text)
    told = answer.json()
    told = told[root] if root else told
    return told if isinstance(told, list) else [told]


@pytest.mark.parametrize("question", questions(), ids=lambda one: one["url"].partition("?")[0])
def test_each_question_is_answered_with_the_fields_of_its_columns(
    flying: RunningBroker, question: dict[str, Any]
) -> None:
    rows = rows_of(flying, filled(question["url"]), question["root_selector"])
    kinds = {"number": (int, float), "timestamp_epoch": (int, float), "string": (str, float, bool)}
    if "alarms" not in question["url"]:
        assert rows
    for row in rows:
        for column in question["columns"]:
            value = row[column["selector"]]
            is_text = "gear" in str(row.get("name")) or "a,b" in str(row.get("name"))
            assert value is None or is_text or isinstance(value, kinds[column["type"]]), column


def test_a_series_has_the_samples_of_each_parameter_in_time(flying: RunningBroker) -> None:
    url = "/api/grafana/series?${name:queryparam}&from=${__from}&to=${__to}&width=4000"
    rows = rows_of(flying, filled(url))
    found = {name: [row for row in rows if row["name"] == name] for name in NAMES}
    assert [row["value"] for row in found["jet/rpm"]][-3:] == [57.0, 58.0, 59.0]
    assert all(row["min"] <= row["value"] <= row["max"] for row in found["jet/rpm"])
    assert found["jet/a,b&c"][-1]["value"] == "t59"
    assert found["jet/a,b&c"][-1]["min"] is None
    for some in found.values():
        times = [row["time"] for row in some]
        assert times == sorted(times)


def test_a_long_time_has_no_more_points_than_are_asked_for(flying: RunningBroker) -> None:
    url = "/api/grafana/series?name=jet/rpm&from=${__from}&to=${__to}&width=10"
    assert 1 < len(rows_of(flying, filled(url))) <= 10


def test_a_parameter_that_is_not_there_is_left_out(flying: RunningBroker) -> None:
    url = filled("/api/grafana/series?${name:queryparam}", ("jet/rpm", "no/such"))
    assert {row["name"] for row in rows_of(flying, url)} == {"jet/rpm"}
    assert rows_of(flying, "/api/grafana/series?name=no/such") == []


@pytest.mark.parametrize(
    "query",
    [
        "",
        "name=a%23",
        "name=a&from=x",
        "name=a&from=2000&to=1000",
        "name=a&width=0",
        "&".join(f"name=a{at}" for at in range(25)),
        "name=a&to=99999999999999",
    ],
)
def test_a_question_that_makes_no_sense_is_refused_in_words(
    flying: RunningBroker, query: str
) -> None:
    answer = httpx.get(f"{flying.console}/api/grafana/series?{query}", timeout=PATIENCE_S)
    assert answer.status_code == 400
    assert answer.text.endswith("\n")


def test_current_values_have_units_and_qualities(flying: RunningBroker) -> None:
    (rpm,) = rows_of(flying, "/api/grafana/values?filter=jet/rpm")
    assert (rpm["value"], rpm["unit"]) == (59.0, "1/min")
    assert rpm["quality"] in ("good", "stale")
    assert len(rows_of(flying, "/api/grafana/values?most=2")) == 2


def test_the_metrics_that_it_draws_are_there(flying: RunningBroker) -> None:
    told = httpx.get(f"{flying.console}/metrics", timeout=PATIENCE_S).text
    families = set(re.findall(r"^# TYPE (\S+)", told, re.MULTILINE))
    drawn = re.findall(r"slipring_[a-z_]+", json.dumps(DASHBOARD["panels"]))
    assert drawn
    assert set(drawn) <= families


def test_who_may_watch_some_parameters_is_told_of_these_though_others_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grafana, "VALUES_SHOWN", 2)
    table = FakeTable("a/1", "a/2", "a/3", "b/1", "a/4", "b/2")
    broker: Any = SimpleNamespace(engine=SimpleNamespace(ask_table=table.ask))
    visitor: Any = SimpleNamespace(may_watch_each=lambda names: [one[0] == "b" for one in names])
    rows = grafana._listed(broker, visitor, "#", 2)
    assert [row["name"] for row in rows] == ["b/1", "b/2"]
    assert [row["name"] for row in grafana._listed(broker, visitor, "#", 1)] == ["b/1"]


def test_each_of_a_thousand_parameters_has_its_value(flying: RunningBroker) -> None:
    names = [f"p{at}" for at in range(1_000)]
    with sync.connect(flying.url) as bus:
        many = bus.declare("many/of/them", dict.fromkeys(names, "f64"), qos=1)
        many.write(dict.fromkeys(names, 1.5))
        many.flush()
        rows = rows_of(flying, "/api/grafana/values?filter=many/%23")
        assert [row["value"] for row in rows] == [1.5] * 1_000


def test_a_text_too_large_for_an_answer_leaves_the_other_values(flying: RunningBroker) -> None:
    with sync.connect(flying.url) as bus:
        text = bus.declare("large/text", {"note": "text"}, qos=1)
        text.write({"note": "\x01" * 2_000_000})
        text.flush()
        number = bus.declare("large/number", {"x": "f64"}, qos=1)
        number.write({"x": 2.5})
        number.flush()
        rows = rows_of(flying, "/api/grafana/values?filter=large/%23")
        assert {row["name"]: row["value"] for row in rows} == {
            "large/text/note": None,
            "large/number/x": 2.5,
        }
        names = "name=large/text/note&name=large/number/x"
        values = rows_of(flying, f"/api/values?{names}", "values")
        assert [row["value"] for row in values] == [None, 2.5]
