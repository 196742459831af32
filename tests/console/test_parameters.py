"""Parameters over the console's HTTP and WebSocket, from a real broker."""

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import slipring
from slipring import Parameter
from tests.console_answer import overview
from tests.metrics import Metrics
from tests.running_broker import PATIENCE_S, RunningBroker

ENGINE = {
    "rpm": Parameter("f64", unit="1/min", description="Shaft", rate_hz=0.001),
    "mode": Parameter("enum", labels={0: "off", 1: "running"}),
    "on": Parameter("bool"),
    "hours": Parameter("u64"),
}
Json = dict[str, Any]


def watch(broker: RunningBroker, query: str = "", origin: str | None = None) -> connect:
    url = broker.console.replace("http", "ws") + f"/api/parameters{query}"
    headers = {"Origin": origin or broker.console}
    return connect(url, additional_headers=headers, open_timeout=PATIENCE_S)


async def ask(broker: RunningBroker, search: dict[str, str], **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=broker.console, timeout=PATIENCE_S) as http:
        return await http.get("/api/parameters", params=search, headers=headers)


async def value_of(socket: ClientConnection, index: int) -> Json:
    """Read until a value of this parameter comes."""
    async for message in socket:
        for value in json.loads(message)["values"]:
            if value["index"] == index:
                return dict(value)
    raise AssertionError("the console closed the connection")


async def rows_of(socket: ClientConnection, search: str, first: int = 0) -> Json:
    """Read until these rows of a search come."""
    async for message in socket:
        told: Json = json.loads(message)
        is_asked = (told["search"], told["first"]) == (search, first)
        if is_asked and told["definitions"]:
            return told
    raise AssertionError("the console closed the connection")


async def end_of(socket: ClientConnection) -> int | None:
    """Read on until the console closes the connection; the code it says."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await socket.recv()
    return socket.close_code


async def test_parameters_are_watched_from_declaration_to_the_end_of_their_publisher(
    broker: RunningBroker,
) -> None:
    async with watch(broker, "?search=jet/engine/%23") as socket:
        first = json.loads(await socket.recv())
        assert (first["parameters"], first["definitions"], first["values"]) == (0, [], [])
        async with slipring.connect(broker.url) as bus:
            engine = await bus.declare("jet/engine", ENGINE)
            rpm = engine.indices.tolist()[0]
            told = await rows_of(socket, "jet/engine/#")
            assert told["matching"] == len(ENGINE)
            shaft = next(one for one in told["definitions"] if one["index"] == rpm)
            assert (shaft["name"], shaft["unit"]) == ("jet/engine/rpm", "1/min")
            assert (shaft["description"], shaft["limits"]) == ("Shaft", None)
            engine.write({"rpm": 12034.5, "mode": "running", "on": True, "hours": 2**64 - 1})
            assert (await value_of(socket, rpm))["value"] == 12034.5
            engine.write({"rpm": 1.5})
            assert (await value_of(socket, rpm))["value"] == 1.5
        gone = await value_of(socket, rpm)
        assert (gone["value"], gone["quality"]) == (1.5, "stale")
        assert gone["why"] == "publisher-gone"
        assert gone["time_ms"] >= gone["received_ms"]
    once = (await ask(broker, {"search": "mode"})).json()
    assert [one["value"] for one in once["values"]] == ["running"]
    assert (once["matching"], once["parameters"]) == (1, 4)


async def test_the_newest_search_counts(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        await bus.declare("many", {f"p/{number}": Parameter("f64") for number in range(300)})
        async with watch(broker) as socket:
            told = await rows_of(socket, "")
            assert (told["matching"], len(told["definitions"])) == (300, 200)
            await socket.send('{"search": "", "first": 275, "count": 50}')
            told = await rows_of(socket, "", first=275)
            assert [one["name"] for one in told["definitions"]][-1] == "many/p/299"
            assert len(told["definitions"]) == 25
            for search in ("p/1", "p/29", "many/p/299"):
                await socket.send(json.dumps({"search": search}))
            told = await rows_of(socket, "many/p/299")
            assert [one["name"] for one in told["definitions"]] == ["many/p/299"]


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "[]",
        "{}",
        '{"search": 7}',
        '{"search": "", "first": -1}',
        '{"search": "", "count": 201}',
        '{"search": "", "count": true}',
        json.dumps({"search": "x" * 1_001}),
        "[" * 10_000,
        "x" * 99_999,
    ],
)
async def test_what_is_no_search_ends_the_connection_and_nothing_else(
    shared_broker: RunningBroker, asked: str
) -> None:
    async with watch(shared_broker) as socket:
        await socket.send(asked)
        assert await end_of(socket) in {1003, 1009}
    async with watch(shared_broker) as socket:
        assert json.loads(await socket.recv())["parameters"] == 0


async def test_a_search_that_is_too_long_is_refused_in_words(shared_broker: RunningBroker) -> None:
    answer = await ask(shared_broker, {"search": "x" * 1_001})
    assert (answer.status_code, answer.text) == (400, "'search' has 0 to 1,000 characters\n")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"sort": "size"}, "'sort' is one of: name"),
        ({"first": "-1"}, "'first' has 0 to"),
        ({"first": "9" * 5_000}, "'first' is a whole number"),
        ({"count": "201"}, "'count' has 0 to 200"),
        ({"count": "²"}, "'count' is a whole number"),
    ],
)
async def test_what_is_no_question_is_refused_in_words(
    shared_broker: RunningBroker, asked: dict[str, str], why: str
) -> None:
    answer = await ask(shared_broker, asked)
    assert answer.status_code == 400
    assert why in answer.text


async def told(broker: RunningBroker, kind: str, **asked: str) -> tuple[int, Any]:
    async with httpx.AsyncClient(base_url=broker.console, timeout=PATIENCE_S) as http:
        answer = await http.get(f"/api/parameters/{kind}", params=asked)
    is_json = answer.headers["content-type"] == "application/json"
    return answer.status_code, answer.json() if is_json else answer.text


async def test_a_parameter_is_told_with_who_publishes_selects_and_subscribes_to_it(
    broker: RunningBroker,
) -> None:
    async with (
        slipring.connect(broker.url, client_id="jet") as jet,
        slipring.connect(broker.url, client_id="plot") as plot,
    ):
        engine = await jet.declare("jet/engine", ENGINE)
        engine.write({"mode": "running"})
        async with plot.select("jet/#", rate_hz=5) as frames, plot.subscribe("jet/engine/+"):
            await anext(frames)
            code, one = await told(broker, "one", name="jet/engine/mode")
            assert code == 200
            assert one["publishers"] == [{"client_id": "jet", "connected": True}]
            selections = [(row["client_id"], row["rate_hz"]) for row in one["selections"]]
            assert (selections, one["selections_total"]) == ([("plot", 5.0)], 1)
            assert [row["filter"] for row in one["subscribers"]] == ["jet/engine/+"]
        assert (one["labels"], one["value"]["value"]) == (["off", "running"], "running")
        assert one["definition"]["type"] == "enum"
        _, other = await told(broker, "one", name="jet/engine/on")
        assert (other["value"], other["selections"]) == (None, [])
    _, gone = await told(broker, "one", name="jet/engine/mode")
    assert [row["connected"] for row in gone["publishers"]] in ([], [False])
    assert (await told(broker, "one", name="nobody/has/it"))[0] == 404
    assert (await told(broker, "one", name="#"))[0] == 404
    assert (await told(broker, "one", name="x" * 1_025))[0] == 400


async def test_branches_and_words_help_to_search(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url, client_id="jet") as bus:
        await bus.declare("jet/engine", ENGINE)
        _, top = await told(broker, "branches")
        branch = {"level": "jet", "parameters": 4, "has_more": True, "is_parameter": False}
        assert top == {"branches": [branch], "total": 1}
        _, below = await told(broker, "branches", path="jet/engine")
        assert [one["level"] for one in below["branches"]] == ["hours", "mode", "on", "rpm"]
        _, words = await told(broker, "words")
        assert words["units"] == [{"word": "1/min", "parameters": 1}]
        assert words["publishers"] == [{"word": "jet", "parameters": 4}]
        once = (await ask(broker, {"search": "publisher:jet unit:1/min"})).json()
        assert [one["name"] for one in once["definitions"]] == ["jet/engine/rpm"]
        once = (await ask(broker, {"search": "state:none", "sort": "-name", "count": "2"})).json()
        assert once["matching"] == 4
        assert [one["name"] for one in once["definitions"]] == ["jet/engine/rpm", "jet/engine/on"]
    assert (await told(broker, "branches", path="x" * 1_025))[0] == 400


HOSTILE_NAMES = ("a b'c\"d", "$(touch x)`id`", "-t", "ü\u202e\u00a0x", "\\n;rm -rf", "\N{AIRPLANE}")


async def test_the_lines_to_copy_print_the_value_when_they_are_run(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        parameters = {name: Parameter("f64") for name in HOSTILE_NAMES}
        written = await bus.declare("x", parameters)
        values = {name: 1.5 + at for at, name in enumerate(HOSTILE_NAMES)}
        writing = asyncio.create_task(again_and_again(lambda: written.write(values)))
        for name, value in values.items():
            _, one = await told(broker, "one", name=f"x/{name}")
            lines = {line["title"]: line["text"] for line in one["lines"]}
            python = [sys.executable, "-u", "-c", lines["Python"]]
            shell = ["sh", "-c", f"exec {lines['mosquitto_sub']} -C 1"]
            printed = await asyncio.gather(first_line(*python), first_line(*shell))
            assert set(printed) == {f"{value}"}
        writing.cancel()


async def again_and_again(act: Callable[[], None]) -> None:
    """For a reader that is sent only what comes after it has subscribed."""
    while True:
        act()
        await asyncio.sleep(0.1)


async def first_line(*command: str) -> str:
    """The first line that a command prints; then it is ended."""
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE_S)
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    await process.communicate()
    return line.decode().strip()


async def test_a_foreign_page_watches_no_parameters_cve_2026_67405(
    shared_broker: RunningBroker,
) -> None:
    with pytest.raises(InvalidStatus):
        async with watch(shared_broker, origin="http://evil.example"):
            pass
    assert (await ask(shared_broker, {}, origin="http://evil.example")).status_code == 403
    assert (await ask(shared_broker, {}, host="evil.example")).status_code == 403
    ours = await ask(shared_broker, {})
    assert ours.status_code == 200
    assert "default-src 'self'" in ours.headers["content-security-policy"]


async def test_the_table_is_counted_in_the_overview_and_the_metrics(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        engine = await bus.declare("jet/engine", ENGINE)
        async with bus.select("jet/#", rate_hz=10) as frames:
            engine.write({"rpm": 1.0, "on": True})
            await anext(frames)
            metrics = Metrics.when(broker, "slipring_table_samples_total", 2)
            assert metrics["slipring_table_parameters"] == 4
            assert metrics["slipring_table_selections"] == 1
            assert metrics["slipring_table_stale"] == 0
            assert metrics["slipring_table_frames_total"] == 1
            await bus.publish("jet/engine/rpm", "no number")
            metrics = Metrics.when(broker, "slipring_table_refused_total", 1)
    metrics = Metrics.when(broker, "slipring_table_stale", 2)
    table = (await asyncio.to_thread(overview, broker))["table"]
    assert (table["parameters"], table["samples"], table["refused"]) == (4, 2, 1)
    assert {"frames_s", "samples_s", "refused_s"} <= set(table)
