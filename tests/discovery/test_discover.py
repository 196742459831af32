"""`slipring.discover` with real brokers that share a port."""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

import slipring
from slipring.control.discovery import Discovery, DiscoverySection
from slipring.discovery.answering import HERE, Responder, listen
from slipring.discovery.question import encode_question
from tests.console_answer import answer
from tests.discovery.brokers import TOLD, free_udp_port, start_broker
from tests.running_broker import RunningBroker

WAIT_S = 60
Started: TypeAlias = Callable[..., RunningBroker]


@pytest.fixture(scope="module")
def port() -> int:
    return free_udp_port()


@pytest.fixture
def started(tmp_path: Path, port: int) -> Iterator[Started]:
    """Starts brokers that answer on the port."""
    with ExitStack() as stack:

        def start(name: str, **options: str) -> RunningBroker:
            running = start_broker(tmp_path / name, port, name=name, **options)
            stack.callback(running.stop)
            return running

        yield start


async def found(port: int, *names: str) -> list[slipring.FoundBroker]:
    """Looks until all of these brokers are found."""
    async with asyncio.timeout(WAIT_S):
        while True:
            brokers = await slipring.discover(timeout_s=0.3, port=port, mdns=False)
            if [one.name for one in brokers] == sorted(names):
                return brokers


async def test_brokers_of_one_machine_are_all_found(started: Started, port: int) -> None:
    first, second = started("first"), started("second")
    brokers = await found(port, "first", "second")
    assert [one.url for one in brokers] == [first.url, second.url]
    assert [one.console for one in brokers] == [first.console, second.console]
    assert len({one.id for one in brokers}) == 2
    assert all(one.version == slipring.__version__ for one in brokers)
    assert all(one.found_by == ("udp",) for one in brokers)


async def test_one_program_is_a_client_of_two_brokers_at_once(started: Started, port: int) -> None:
    started("first")
    started("second")
    first, second = await found(port, "first", "second")
    async with (
        slipring.connect(first.url) as one,
        slipring.connect(second.url) as other,
        one.subscribe("#") as ones,
        other.subscribe("#") as others,
    ):
        await one.publish("rpm", 1)
        await other.publish("rpm", 2)
        assert ((await anext(ones)).payload, (await anext(others)).payload) == (b"1", b"2")


async def test_each_broker_has_its_own_table(started: Started, port: int) -> None:
    started("first")
    started("second")
    for broker, kind in zip(await found(port, "first", "second"), ("f64", "text"), strict=True):
        wish = {"parameters": [{"name": "gripen/rpm", "type": kind}]}
        async with slipring.connect(broker.url) as bus:
            answer = json.loads(
                await bus._connection.ask("table/declare", json.dumps(wish).encode())
            )
        assert (answer["table"], answer["indices"]) == (broker.table, [0])


async def test_a_broker_keeps_its_id_over_a_restart(
    started: Started, port: int, tmp_path: Path
) -> None:
    running = started("first")
    [before] = await found(port, "first")
    running.stop()
    config = str(tmp_path / "first" / "broker.toml")
    again = RunningBroker.start(tmp_path / "first" / "data", "--config", config)
    [after] = await found(port, "first")
    again.stop()
    assert after.id == before.id


async def test_every_listener_is_told_with_what_it_speaks(
    started: Started, port: int, tmp_path: Path
) -> None:
    listeners = f"""
[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true
[[listener]]
name = "local"
listen = "unix:{tmp_path}/s"
"""
    running = started("first", more=listeners)
    [broker] = await found(port, "first")
    web, local = running.further["web"], running.further["local"]
    assert broker.urls == (running.url, f"ws://{web}/mqtt", local)
    for url in broker.urls:
        async with slipring.connect(url) as bus:
            assert await bus.ping() > 0


def outcomes(running: RunningBroker) -> dict[str, float]:
    name = "slipring_discovery_datagrams_total"
    _, text = answer(f"{running.console}/metrics")
    rows = [line for line in text.splitlines() if line.startswith(f"{name}{{")]
    return {line.split('"')[1]: float(line.split()[-1]) for line in rows}


async def test_hostile_datagrams_are_counted_and_harm_nobody(started: Started, port: int) -> None:
    running = started("first")
    await found(port, "first")
    before = outcomes(running)
    noise = [b"", b"\0", b"slipring?1", b"slipring?2".ljust(1200), os.urandom(1400), bytes(60_000)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(WAIT_S)
        for one in noise:
            sender.sendto(one, ("127.0.0.1", port))
        for _ in range(200):
            sender.sendto(encode_question("flood"), ("127.0.0.1", port))
        assert b'"nonce":"flood"' in sender.recv(2000)
    async with slipring.connect(running.url) as bus:
        assert await bus.ping() > 0
    async with asyncio.timeout(WAIT_S):
        while (after := await asyncio.to_thread(outcomes, running))["limited"] == before["limited"]:
            pass
    assert after["malformed"] - before["malformed"] == 5
    assert after["short"] - before["short"] == 1
    assert await found(port, "first")


async def test_a_forged_answer_is_ignored(port: int) -> None:
    """Who does not see the question cannot answer it."""
    forged = Responder(lambda: TOLD)
    true_answer = forged.answer

    def answer(datagram: bytes, source: str, now_s: float) -> bytes | None:
        made = true_answer(datagram, source, now_s)
        return made and made.replace(b'"nonce":"', b'"nonce":"x')

    forged.answer = answer  # type: ignore[method-assign]
    sockets = await listen(forged, HERE, port)
    async with asyncio.timeout(WAIT_S):
        while not forged.counts["answered"]:
            assert await slipring.discover(timeout_s=0.3, port=port, mdns=False) == []
    for one in sockets:
        one.close()


async def test_a_host_is_asked_over_ipv6_too(port: int) -> None:
    sockets = await listen(Responder(lambda: TOLD), ("::1",), port)
    brokers: list[slipring.FoundBroker] = []
    async with asyncio.timeout(WAIT_S):
        while not brokers:
            brokers = await slipring.discover("::1", timeout_s=0.3, port=port, mdns=False)
    for one in sockets:
        one.close()
    assert [one.url for one in brokers] == ["mqtt://[::1]:1883"]


async def test_a_port_that_is_taken_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        taken = other.getsockname()[1]
        here = replace(TOLD, endpoints=TOLD.endpoints[2:])
        discovery = Discovery(DiscoverySection(port=taken), lambda: here)
        await discovery.open()
        await discovery.close()
    assert f"no answers on UDP port {taken}" in caplog.text


def test_discovery_that_is_switched_off_opens_nothing(tmp_path: Path) -> None:
    running = start_broker(tmp_path / "off", free_udp_port(), more="udp = false\n")
    code, errors = running.stop()
    assert (code, "discovery:" in errors) == (0, False)
