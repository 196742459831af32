"""`slipring replay` of parameters and streams to another real broker: declared, sent, received."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import slipring
from slipring import AlarmLimits, Parameter, Quality, Reason, Status
from tests.cli.commands import refused
from tests.cli.commands import slipring as command
from tests.running_broker import PATIENCE_S, RunningBroker

START_NS = 1_767_323_045_000_000_000
RPM = Parameter(
    "f64", unit="1/min", description="Shaft speed", limits=AlarmLimits(high=18_000.0), rate_hz=50
)
PARAMETERS = {
    "engine/rpm": RPM,
    "engine/on": Parameter("bool"),
    "engine/mode": Parameter("enum", labels={0: "off", 1: "run"}),
    "cabin/note": Parameter("text"),
}
NOTE = "all is well " * 10
BAD = Quality(Status.BAD, Reason.SENSOR_FAILED)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[RunningBroker]:
    """The broker that it is replayed into; its table has other indices."""
    running = RunningBroker.start(tmp_path / "other")

    async def occupy() -> None:
        async with slipring.connect(running.url) as bus:
            await bus.declare("before", {f"p{number}": "f64" for number in range(7)})

    asyncio.run(occupy())
    yield running
    code, errors = running.stop()
    assert code == 0, errors


@pytest.fixture
def flight(broker: RunningBroker) -> Path:
    """A recording of parameters, a plain sample, a stream and a plain message."""

    async def record() -> None:
        async with slipring.connect(broker.url) as bus:
            jet = await bus.declare("jet", PARAMETERS, qos=1)
            for number in range(20):
                time_ns = START_NS + number
                row: dict[str, float | str] = {"engine/rpm": 1000.0 + number}
                row |= {"engine/on": True, "engine/mode": "run"}
                jet.write(row, time_ns=time_ns, quality=BAD if number == 7 else Quality())
                jet.write({"cabin/note": NOTE * number}, time_ns=time_ns)
                await jet.flush()
            await bus.publish("jet/engine/rpm", "1234.5", qos=1)
            await bus.publish("jet/landed", "yes", qos=1)
            sound = await bus.declare_stream("jet/sound", media="audio/pcm", qos=1)
            await sound.write(b"beep", time_ns=START_NS)

    asyncio.run(record())
    code, errors = broker.stop()
    assert code == 0, errors
    return broker.data


def test_another_broker_gets_definitions_samples_streams_and_messages(
    flight: Path, other: RunningBroker
) -> None:
    async def receive() -> None:
        async with (
            slipring.connect(other.url) as bus,
            bus.select("again/jet/#") as frames,
            bus.stream("again/#") as chunks,
            bus.subscribe("again/jet/landed") as messages,
        ):
            arguments = ("--speed", "max", "--to-topic", "again/{topic}", "--url", other.url)
            done = await asyncio.to_thread(command, "replay", flight, *arguments)
            assert " with 81 samples of 4 parameters in " in done.stdout
            assert done.stdout.endswith("; 0 not acknowledged\n")
            found = []
            async for frame in frames:
                found += [one for name, one in frame.each() if name == "again/jet/engine/rpm"]
                # The broker itself tells at the end that nobody publishes it any more.
                found = [one for one in found if one.quality.status is not Status.STALE]
                if len(found) == 21:
                    break
            assert [one.value for one in found] == [1000.0 + at for at in range(20)] + [1234.5]
            assert [one.time_ns for one in found[:20]] == [START_NS + at for at in range(20)]
            assert [one.quality for one in found[6:9]] == [Quality(), BAD, Quality()]
            table = await bus.table()
            assert table["again/jet/engine/rpm"].parameter == RPM
            assert table["again/jet/engine/mode"].parameter.labels == {0: "off", 1: "run"}
            assert (await bus.current("again/#"))["again/jet/cabin/note"].value == NOTE * 19
            chunk = await anext(chunks)
            assert (chunk.payload, chunk.media, chunk.time_ns) == (b"beep", "audio/pcm", START_NS)
            assert (await anext(aiter(messages))).payload == b"yes"

    asyncio.run(asyncio.wait_for(receive(), PATIENCE_S))


def test_a_filter_chooses_among_parameters(flight: Path, other: RunningBroker) -> None:
    arguments = ("--filter", "jet/engine/rpm", "--speed", "max", "--url", other.url)
    done = command("replay", flight, *arguments)
    assert done.stdout.startswith("21 messages with 21 samples of 1 parameter in ")

    async def names() -> list[str]:
        async with slipring.connect(other.url) as bus:
            return [name for name in await bus.table() if name.startswith("jet/")]

    assert asyncio.run(names()) == ["jet/engine/rpm"]


def test_a_filter_that_nothing_matches_is_a_mistake(flight: Path, other: RunningBroker) -> None:
    told = refused("replay", flight, "--filter", "jet/engine/oil", "--url", other.url)
    assert "matches 'jet/engine/oil': neither a topic nor a parameter" in told


def test_a_parameter_that_is_another_there_is_told(flight: Path, other: RunningBroker) -> None:
    async def clash() -> None:
        async with slipring.connect(other.url) as bus:
            await bus.declare("jet/engine", {"rpm": Parameter("f32", unit="rad/s")})

    asyncio.run(clash())
    told = refused("replay", flight, "--url", other.url, "--speed", "max")
    assert "cannot declare the recorded parameters" in told
    assert "declared as f32 in rad/s" in told


def test_a_refused_sample_is_not_acknowledged(tmp_path: Path, flight: Path) -> None:
    config = tmp_path / "strict.toml"
    config.write_text("[limits]\nparameter_bytes = 1024\n")
    strict = RunningBroker.start(tmp_path / "strict", "--config", str(config))
    done = command("replay", flight, "--url", strict.url, "--speed", "max", code=1)
    strict.stop()
    told = done.stderr.splitlines()[-1]
    assert "refused message number" in told
    assert "limits.parameter_bytes" in told
    assert told.endswith("at least 1 not acknowledged")
