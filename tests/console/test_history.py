"""History over the console's HTTP, from a real broker: series, values, range, CSV, rights."""

import asyncio
import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import slipring
from slipring import Parameter
from slipring.model import Quality
from tests.console.test_login import PASSWORD, USERS, logged_in
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

PLANE = {
    "egt": Parameter("f64", unit="Cel"),
    "on": Parameter("bool"),
    "mode": Parameter("enum", labels={0: "off", 1: "run"}),
    "note": Parameter("text"),
    "raw": Parameter("bytes"),
    "count": Parameter("u64", unit="=cmd()"),
}
Json = dict[str, Any]
STEP_NS = 20_000_000
COUNT = 200


class Flight:
    """A broker, and what was published to it."""

    def __init__(self, broker: RunningBroker) -> None:
        self.broker = broker
        self.start_ns = time.time_ns() - COUNT * STEP_NS
        self.values = [float(number % 37) / 3 for number in range(COUNT)]

    def get(self, path: str, **asked: Any) -> httpx.Response:
        return httpx.get(f"{self.broker.console}{path}", params=asked, timeout=PATIENCE_S)

    def ms(self, number: float) -> str:
        return f"{(self.start_ns + number * STEP_NS) / 1e6:.6f}"

    def series(self, name: str, **asked: Any) -> Json:
        span = {"from_ms": self.ms(-1), "to_ms": self.ms(COUNT + 1)}
        answer = self.get("/api/history", name=name, **(span | asked))
        assert answer.status_code == 200, answer.text
        (found,) = answer.json()["series"]
        return dict(found)


async def publish(flight: Flight) -> None:
    async with slipring.connect(flight.broker.url) as bus:
        plane = await bus.declare("plane", PLANE, qos=1)
        for number, value in enumerate(flight.values):
            at_ns = flight.start_ns + number * STEP_NS
            mode = "run" if number % 50 < 25 else "off"
            plane.write({"egt": value, "on": number % 2 == 0, "mode": mode}, time_ns=at_ns)
        at_ns = flight.start_ns + (COUNT - 1) * STEP_NS
        plane.write({"egt": 9e9}, time_ns=at_ns + 1, quality=Quality.of_byte(0x80))
        plane.write({"note": "=1+1", "raw": b"\x00\xff", "count": 2**63 + 1}, time_ns=at_ns)
        await plane.flush()


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flight]:
    """200 samples of some types, all of them in the journal."""
    with broker_in(tmp_path_factory.mktemp("flight")) as running:
        made = Flight(running)
        asyncio.run(publish(made))
        while made.series("plane/raw")["origin"] != "journal":
            assert time.time_ns() < made.start_ns + PATIENCE_S * 10**9
        yield made


def test_every_sample_comes_where_the_screen_is_wide_enough(flight: Flight) -> None:
    found = flight.series("plane/egt", width=800)
    assert (found["origin"], found["unit"], found["type"]) == ("journal", "Cel", "f64")
    assert (found["step_ms"], found["is_cut"]) == (0, False)
    assert found["last"] == flight.values
    assert int(found["first_ns"]) == flight.start_ns
    assert found["after_ns"] == [number * STEP_NS for number in range(COUNT)]


def test_a_narrow_screen_gets_least_and_greatest_values(flight: Flight) -> None:
    found = flight.series("plane/egt", width=20)
    assert 0 < len(found["t"]) <= 20
    step_ns = found["step_ms"] * 1e6
    groups: dict[float, list[float]] = {}
    for number, value in enumerate(flight.values):
        at_ns = flight.start_ns + number * STEP_NS
        groups.setdefault(at_ns // step_ns * step_ns / 1e6, []).append(value)
    assert found["t"] == [*groups]
    assert found["min"] == [min(some) for some in groups.values()]
    assert found["max"] == [max(some) for some in groups.values()]
    assert found["last"] == [some[-1] for some in groups.values()]


def test_each_type_is_shown_as_people_read_it(flight: Flight) -> None:
    assert flight.series("plane/on")["last"][:3] == [1.0, 0.0, 1.0]
    assert set(flight.series("plane/mode")["last"]) == {"run", "off"}
    assert flight.series("plane/note")["last"] == ["=1+1"]
    assert flight.series("plane/raw")["last"] == ["00ff"]
    assert flight.series("plane/mode")["min"] == []


def test_values_are_those_at_a_time_and_never_later_ones(flight: Flight) -> None:
    names = ["plane/egt", "plane/on", "plane/mode", "plane/count"]
    for number in (0, 17, COUNT - 2):
        answer = flight.get("/api/values", name=names, at_ms=flight.ms(number + 0.5)).json()
        values = {one["name"]: one for one in answer["values"]}
        assert values["plane/egt"]["value"] == flight.values[number]
        assert values["plane/on"]["value"] is (number % 2 == 0)
        assert values["plane/mode"]["value"] == ("run" if number % 50 < 25 else "off")
        assert values["plane/egt"]["time_ms"] == pytest.approx(float(flight.ms(number)), abs=0.01)
    before = flight.get("/api/values", name="plane/egt", at_ms=flight.ms(-5)).json()["values"]
    assert before[0]["value"] is None
    assert "no sample" in before[0]["why"]
    now = flight.get("/api/values", name=names).json()["values"]
    assert [one["name"] for one in now] == names
    assert now[3]["value"] == str(2**63 + 1)
    assert now[0]["quality"] == "stale"  # its publisher has left


def test_the_range_says_what_time_can_be_asked_for(flight: Flight) -> None:
    told = flight.get("/api/range").json()
    assert told["lake"] is None
    assert told["journal"]["from_ms"] <= told["journal"]["to_ms"]
    assert told["from_ms"] == told["journal"]["from_ms"]
    assert told["to_ms"] >= told["journal"]["to_ms"]


@pytest.mark.parametrize("width", [10, 800])
def test_csv_has_the_numbers_of_the_json_and_no_formula(flight: Flight, width: int) -> None:
    names = ["plane/egt", "plane/note", "plane/count", "plane/mode"]
    span = {"from_ms": flight.ms(-1), "to_ms": flight.ms(COUNT + 1), "width": width}
    told = flight.get("/api/history", name=names, **span).json()["series"]
    answer = flight.get("/api/history.csv", name=names, **span)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    rows = [*csv.DictReader(io.StringIO(answer.text))]
    cells = [float(row["plane/egt [Cel]"]) for row in rows if row["plane/egt [Cel]"]]
    assert cells == told[0]["last"]
    assert [float(row["time_ms"]) for row in rows if row["plane/egt [Cel]"]] == told[0]["t"]
    if width == 10:
        least = [float(row["plane/egt [Cel] min"]) for row in rows if row["plane/egt [Cel]"]]
        assert least == told[0]["min"]
    assert [row["plane/note"] for row in rows if row["plane/note"]] == ["'=1+1"]
    for row in rows:
        assert not any(cell.startswith(("=", "+", "@")) for cell in row.values())


HOSTILE = {
    "name=plane/egt&width=0": 400,
    "name=plane/egt&width=4001": 400,
    "name=plane/egt&width=-1": 400,
    "name=plane/egt&width=1e3": 400,
    "name=plane/egt&from_ms=nan": 400,
    "name=plane/egt&from_ms=inf": 400,
    "name=plane/egt&from_ms=-1": 400,
    "name=plane/egt&from_ms=" + "9" * 5_000: 400,
    "name=plane/egt&from_ms=9999999999999": 400,
    "name=plane/egt&from_ms=5&to_ms=5": 400,
    "name=plane/egt&from_ms=6&to_ms=5": 400,
    "name=plane/egt&from_ms=%E2%91%A0": 400,
    "name=plane/%2B&width=5": 400,
    "name=%23": 400,
    "name=": 400,
    "name=a%00b": 400,
    "name=" + "x" * 9_000: 404,
    "name=__proto__": 404,
    "name=constructor": 404,
    "name=plane/egt&name=nobody": 404,
    "name=plane/egt;DROP": 404,
    "": 400,
    "&".join(f"name=p{number}" for number in range(25)): 400,
    "name=plane/egt&from_ms=0&to_ms=4600000000000&width=1": 200,
    "name=plane/egt&from_ms=0&to_ms=4600000000000&width=4000": 200,
    "name=plane/egt&name=plane/egt": 200,
}


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("path", ["/api/history", "/api/history.csv"])
def test_a_wrong_question_is_answered_with_a_sentence(
    flight: Flight, path: str, query: str
) -> None:
    answer = httpx.get(f"{flight.broker.console}{path}?{query}", timeout=PATIENCE_S)
    assert answer.status_code == HOSTILE[query], answer.text[:200]
    if answer.status_code != 200:
        assert answer.text.endswith("\n")
        assert "Traceback" not in answer.text


def test_values_refuse_thousands_of_names_and_times_that_are_none(flight: Flight) -> None:
    url = f"{flight.broker.console}/api/values"
    many = "&".join(f"name={number}" for number in range(501))
    for query in (many, "", "name=plane/egt&at_ms=nan", "name=plane/%23"):
        assert httpx.get(f"{url}?{query}", timeout=PATIENCE_S).status_code == 400, query
    assert httpx.get(f"{url}?name=__proto__", timeout=PATIENCE_S).status_code == 404


def test_a_question_that_many_ask_at_once_is_read_once(flight: Flight) -> None:
    async def ask_all() -> list[bytes]:
        async with httpx.AsyncClient(base_url=flight.broker.console, timeout=PATIENCE_S) as http:
            asked = {"name": "plane/egt", "from_ms": flight.ms(0), "to_ms": flight.ms(100)}
            answers = await asyncio.gather(
                *(http.get("/api/history", params=asked) for _ in range(100))
            )
        assert {one.status_code for one in answers} == {200}
        return [one.content for one in answers]

    assert len(set(asyncio.run(ask_all()))) == 1


def test_who_may_watch_some_topics_is_told_nothing_of_others(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async def declare(url: str) -> None:
        async with slipring.connect(url, user="anna", password=PASSWORD) as bus:
            for prefix in ("own", "other"):
                (await bus.declare(prefix, {"rpm": "f64"})).write({"rpm": 1.0})

    with broker_in(tmp_path_factory.mktemp("narrow"), config=USERS) as running:
        asyncio.run(declare(running.url))
        with logged_in(running.console, "narrow") as client:
            for path in ("/api/history", "/api/history.csv", "/api/values"):
                assert client.get(path, params={"name": "own/rpm"}).status_code == 200
                told = [client.get(path, params={"name": one}) for one in ("other/rpm", "absent")]
                assert [one.status_code for one in told] == [404, 404]
                assert told[0].text == told[1].text.replace("absent", "other/rpm")
        with logged_in(running.console, "vera") as client:
            assert client.get("/api/history", params={"name": "other/rpm"}).status_code == 200


def test_damage_in_the_journal_is_passed_over_and_said(tmp_path: Path) -> None:
    with broker_in(tmp_path) as running:
        flight = Flight(running)
        asyncio.run(publish(flight))
        while flight.series("plane/raw")["origin"] != "journal":
            assert time.time_ns() < flight.start_ns + PATIENCE_S * 10**9
        asyncio.run(publish(later := Flight(running)))
        while later.series("plane/raw")["t"] == flight.series("plane/raw")["t"]:
            assert time.time_ns() < flight.start_ns + PATIENCE_S * 10**9
        segment = min((tmp_path / "data" / "journal").glob("*.seg"))
        content = bytearray(segment.read_bytes())
        content[content.index(b"SRF") + 100] ^= 1
        segment.write_bytes(content)
        time_ms = {"from_ms": flight.ms(-2), "to_ms": later.ms(COUNT + 2), "width": 4_000}
        answer = flight.get("/api/history", name="plane/egt", **time_ms).json()
        assert answer["series"][0]["last"] == later.values
        assert "damage" in json.dumps(answer["damage"])


def test_what_is_not_journaled_is_shown_as_far_as_the_table_knows_it(tmp_path: Path) -> None:
    async def write(url: str) -> None:
        async with slipring.connect(url) as bus:
            declared = await bus.declare("plane", {"egt": PLANE["egt"]}, qos=1)
            declared.write({"egt": 7.5})
            await declared.flush()

    with broker_in(tmp_path, config="[journal]\ntopics = []\n") as running:
        asyncio.run(write(running.url))
        flight = Flight(running)
        answer = flight.get("/api/history", name="plane/egt").json()
        (found,) = answer["series"]
        assert (found["origin"], found["last"]) == ("table", [7.5])
        assert answer["oldest_ms"] is None
        assert flight.get("/api/range").json()["journal"] is None
        past = {"name": "plane/egt", "at_ms": flight.ms(-1_000)}
        assert flight.get("/api/values", **past).json()["values"][0]["value"] is None
