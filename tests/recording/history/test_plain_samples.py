"""A plain message is a sample of the parameter that its topic was when the broker received it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from slipring import Bus, Parameter, connect
from tests.cli.commands import slipring
from tests.running_broker import RunningBroker, broker_in

PLACES = ("folder", "network")


async def say(bus: Bus, value: str) -> None:
    await bus.publish("p/x", value, qos=1)


async def lives(url: str) -> None:
    """Nothing, a number, nothing, a text, nothing, and a number again."""
    async with connect(url) as bus:
        await say(bus, "1")
        for kind, value in (("f64", "2"), ("text", "4"), ("f64", "6")):
            declared = await bus.declare("p", {"x": Parameter(kind)})
            await say(bus, value)
            await declared.remove()
            await say(bus, str(int(value) + 1))


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker whose journal has seven messages to one topic, three of them samples."""
    with broker_in(tmp_path_factory.mktemp("lived")) as running:
        asyncio.run(lives(running.url))
        yield running


def exported(lived: RunningBroker, out: Path, place: str, *options: str) -> Any:
    source = lived.data if place == "folder" else lived.url
    done = slipring("export", source, out, "--parameters", "p/#", *options)
    assert done.stderr.startswith("3 samples")
    assert len(done.stderr.splitlines()) == 1
    return pq.read_table(out).to_pylist()


@pytest.mark.parametrize("place", PLACES)
def test_only_what_was_declared_then_is_a_sample(
    lived: RunningBroker, tmp_path: Path, place: str
) -> None:
    rows = exported(lived, tmp_path / "long.parquet", place)
    found = [(row["value"], row["text"]) for row in rows]
    assert found == [(2.0, None), (None, "4"), (6.0, None)]
    assert len({row["index"] for row in rows}) == 3


@pytest.mark.parametrize("place", PLACES)
def test_each_life_of_a_name_has_its_own_samples_by_time_too(
    lived: RunningBroker, tmp_path: Path, place: str
) -> None:
    rows = exported(lived, tmp_path / "wide.parquet", place, "--wide")
    columns = [name for name in rows[0] if name != "time"]
    found = {name: [row[name] for row in rows if row[name] is not None] for name in columns}
    assert sorted(found.values(), key=str) == [["4"], [2.0], [6.0]]


@pytest.mark.parametrize("place", PLACES)
def test_a_name_that_is_declared_now_was_not_always(
    broker: RunningBroker, tmp_path: Path, place: str
) -> None:
    async def declare_late() -> None:
        async with connect(broker.url) as bus:
            await say(bus, "0")
            await bus.declare("p", {"x": Parameter("f64")})
            for value in ("1", "2", "3"):
                await say(bus, value)

    asyncio.run(declare_late())
    rows = exported(broker, tmp_path / "late.parquet", place)
    assert [row["value"] for row in rows] == [1.0, 2.0, 3.0]
