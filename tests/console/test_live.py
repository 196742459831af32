"""Live messages over WebSocket, from a real broker (T16)."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from paho.mqtt import publish
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from tests.console_answer import overview
from tests.running_broker import PATIENCE_S, RunningBroker


def live(broker: RunningBroker, origin: str | None = None, query: str = "") -> connect:
    url = broker.console.replace("http", "ws") + "/api/live" + query
    headers = {"Origin": origin or broker.console}
    return connect(url, additional_headers=headers, open_timeout=PATIENCE_S)


async def until(socket: ClientConnection, wanted: str) -> dict[str, Any]:
    """Read messages until one holds a value of this topic."""
    async for message in socket:
        for value in json.loads(message)["values"]:
            if value["topic"] == wanted:
                return dict(value)
    raise AssertionError("the console closed the connection")


async def drained(socket: ClientConnection) -> None:
    """Read until the console closes the connection."""
    while True:
        await socket.recv()


async def test_a_new_value_arrives_without_asking(broker: RunningBroker) -> None:
    async with live(broker) as socket:
        first = json.loads(await socket.recv())
        assert first["values"] == []
        publish.single("demo/hello", "42", hostname=broker.host, port=broker.port)
        value = await until(socket, "demo/hello")
        assert (value["text"], value["bytes"], value["count"]) == ("42", 2, 1)


async def test_only_what_changed_is_sent_again(broker: RunningBroker) -> None:
    for topic in ("a", "b"):
        publish.single(topic, "1", hostname=broker.host, port=broker.port)
    async with live(broker) as socket:
        shown: set[str] = set()
        while shown != {"a", "b"}:
            shown |= {value["topic"] for value in json.loads(await socket.recv())["values"]}
        publish.single("b", "2", hostname=broker.host, port=broker.port)
        changed: list[dict[str, Any]] = []
        while not changed:
            changed = json.loads(await socket.recv())["values"]
        assert [(value["topic"], value["text"]) for value in changed] == [("b", "2")]


async def test_a_page_is_sent_only_the_lists_that_it_shows(broker: RunningBroker) -> None:
    publish.single("a", "1", hostname=broker.host, port=broker.port)
    async with live(broker, query="?parts=clients,nonsense") as socket:
        first = json.loads(await socket.recv())
        assert (first["values"], first["events"], first["topics_total"]) == ([], [], 1)
        await socket.send('{"parts": ["values"]}')
        assert (await until(socket, "a"))["text"] == "1"
        publish.single("a", "2", hostname=broker.host, port=broker.port)
        assert (await until(socket, "a"))["text"] == "2"


@pytest.mark.parametrize(
    "wrong", ["", "{}", '{"parts": ["values", "secrets"]}', '{"parts": [[]]}', '{"parts": "away"}']
)
async def test_a_choice_of_lists_that_is_none_ends_the_connection(
    shared_broker: RunningBroker, wrong: str
) -> None:
    async with live(shared_broker) as socket:
        await socket.send(wrong)
        with pytest.raises(ConnectionClosedError):
            await asyncio.wait_for(drained(socket), PATIENCE_S)
        assert socket.close_code == 1003
        assert "clients" in (socket.close_reason or "")


async def test_a_foreign_page_is_turned_away_cve_2026_67405(shared_broker: RunningBroker) -> None:
    with pytest.raises(InvalidStatus):
        async with live(shared_broker, origin="http://evil.example"):
            pass


async def test_the_overview_shows_clients_totals_and_the_journal(broker: RunningBroker) -> None:
    publish.single("t", "payload", hostname=broker.host, port=broker.port)
    shown: dict[str, Any] = {"totals": {"messages_in": 0}}
    while shown["totals"]["messages_in"] < 1:
        shown = await asyncio.to_thread(overview, broker)
    assert shown["broker"]["mqtt"] == f"{broker.host}:{broker.port}"
    assert shown["broker"]["journal"]["state"] == "ok"
    assert shown["topics_total"] == 1


async def test_every_answer_carries_the_security_headers(shared_broker: RunningBroker) -> None:
    async with httpx.AsyncClient(base_url=shared_broker.console, timeout=PATIENCE_S) as http:
        for path in ("/", "/api/overview", "/no-such-page"):
            headers = (await http.get(path)).headers
            assert "default-src 'self'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
        foreign = await http.get("/", headers={"host": "evil.example"})
        assert foreign.status_code == 403


async def test_pages_that_come_and_go_leave_no_lines_in_the_log(broker: RunningBroker) -> None:
    async with live(broker) as socket:
        await socket.recv()
    _, told = broker.stop()
    assert "journal" in told
    assert "connection" not in told
    assert "/api/live" not in told
