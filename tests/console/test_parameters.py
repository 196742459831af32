"""Parameters over the console's HTTP and WebSocket, from a real broker."""

import asyncio
import contextlib
import json
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


async def rows_of(socket: ClientConnection, search: str) -> Json:
    """Read until the rows of this search come."""
    async for message in socket:
        told: Json = json.loads(message)
        if told["search"] == search and told["definitions"] is not None:
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
