"""`slipring replay` into a broker that asks for rights: it takes `replay`, instead of `publish`."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import slipring
from slipring import sync
from slipring.errors import PublishRefused
from tests.auth.scram import verifier
from tests.cli.commands import refused
from tests.cli.commands import slipring as command
from tests.recording.messages import record
from tests.running_broker import RunningBroker, broker_in

CONFIG = f"""
[[user]]
name = "anna"
password = "{verifier("pencil")}"

[[access.rule]]
who = ["user:anna"]
allow = ["publish", "retain", "declare"]
topics = ["#"]

[[access.rule]]
who = ["user:anna"]
allow = ["replay"]
topics = ["again/#"]
"""
ANNA: dict[str, Any] = {"user": "anna", "password": "pencil"}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """Anna may publish anything, and play recordings again under `again/`."""
    folder = tmp_path_factory.mktemp("asking")
    with broker_in(folder, "--console", "off", config=CONFIG) as broker:
        yield broker


@pytest.fixture
def as_anna(asking: RunningBroker, tmp_path: Path) -> tuple[str | Path, ...]:
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text("pencil")
    options = ("--speed", "max", "--user", "anna", "--password-file", file)
    return ("--url", asking.url, *options)


@pytest.fixture
def flight(tmp_path: Path) -> Path:
    rows = [(at, "plane", f"a/{at}", at % 3, b"", b"%d" % at) for at in range(1, 10)]
    record(tmp_path / "flight", rows)
    return tmp_path / "flight"


def test_it_is_played_where_the_right_is(flight: Path, as_anna: tuple[str | Path, ...]) -> None:
    done = command("replay", flight, *as_anna, "--to-topic", "again/{topic}")
    assert done.stdout.startswith("9 messages in ")


def test_without_the_right_the_error_says_what_gives_it(
    flight: Path, as_anna: tuple[str | Path, ...]
) -> None:
    told = refused("replay", flight, *as_anna)
    assert "needs the right `replay` on 'a/1'; " in told
    assert "slipring access grant user:anna replay a/1; " in told


def test_samples_need_it_on_their_parameters(
    broker: RunningBroker, as_anna: tuple[str | Path, ...]
) -> None:
    async def fly() -> None:
        async with slipring.connect(broker.url) as bus:
            jet = await bus.declare("jet", {"rpm": "f64", "oil": "f64"}, qos=1)
            jet.write({"rpm": 1.0, "oil": 2.0})
            await jet.flush()

    asyncio.run(fly())
    broker.stop()
    done = command("replay", broker.data, *as_anna, "--to-topic", "again/{topic}")
    assert "with 2 samples of 2 parameters" in done.stdout
    told = command("replay", broker.data, *as_anna, code=1).stderr.splitlines()[-1]
    assert "slipring access grant user:anna replay 'jet/#'; " in told


async def test_a_program_says_that_it_replays(asking: RunningBroker) -> None:
    async with slipring.connect(asking.url, **ANNA, replaying=True) as bus:
        await bus.publish("again/a", "1", qos=1)
        with pytest.raises(PublishRefused, match="not authorized"):
            await bus.publish("a", "1", qos=1)


def test_a_program_without_asyncio_says_it_too(asking: RunningBroker) -> None:
    with sync.connect(asking.url, **ANNA, replaying=True) as bus:
        bus.publish("again/a", "1", qos=1)
        with pytest.raises(PublishRefused, match="not authorized"):
            bus.publish("a", "1", qos=1)
