"""`slipring ping`: round trips and the broker's clock (G2)."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import SLIPRING, run
from tests.client.conftest import run_mosquitto
from tests.client.fake_broker import PINGREQ, Peer, fake_broker
from tests.running_broker import RunningBroker

PINGRESP = b"\xd0\x00"


async def test_the_command_prints_round_trips_and_the_clock(broker: RunningBroker) -> None:
    code, out, _ = await run("ping", "--count", "3", "--interval", "0", "--url", broker.url)
    assert code == 0
    first, trips, clock = out.decode().splitlines()
    assert first == f"{broker.url}: 3 pings"
    assert [word for word in trips.split() if word.isalnum() and word != "ms"] == [
        *("round", "trip", "min", "mean", "p99", "max")
    ]
    assert clock.startswith("clock       the broker's is ")
    _, out, _ = await run(
        "ping", "--json", "--count", "100", "--interval", "0", "--url", broker.url
    )
    told = json.loads(out)
    assert told["min_ms"] <= told["mean_ms"] <= told["max_ms"]
    assert told["p99_ms"] <= told["max_ms"]
    assert abs(told["offset_ms"]) <= told["uncertainty_ms"]


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[str]:
    yield from run_mosquitto(tmp_path)


async def test_a_broker_of_another_maker_is_pinged_without_its_clock(mosquitto: str) -> None:
    code, out, _ = await run("ping", "--count", "2", "--json", "--url", mosquitto)
    told = json.loads(out)
    assert (code, told["count"], told["offset_ms"]) == (0, 2, None)
    assert told["min_ms"] > 0


async def test_pings_that_are_interrupted_tell_what_there_was() -> None:
    is_pinged = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        for number in range(3):
            while (await peer.packet())[0] != PINGREQ:
                pass  # the question for the clock, which this broker does not know
            await peer.send(PINGRESP)
            if number == 2:
                is_pinged.set()
        await peer.reader.read()

    async with fake_broker(talk) as url:
        process = await asyncio.create_subprocess_exec(
            *(SLIPRING, "ping", "--count", "1000", "--url", url), stdout=asyncio.subprocess.PIPE
        )
        await is_pinged.wait()
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    assert process.returncode == 130
    first, trips, _ = out.decode().splitlines()
    assert first.removeprefix(f"{url}: ") in {"2 pings", "3 pings"}
    assert trips.startswith("round trip  min ")
