"""`bus.clock` and `slipring ping`, with a real broker and with clocks that differ and jump."""

import asyncio
import json
import signal
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import slipring
from slipring.client.clock import Clock
from slipring.errors import NoAnswer, PublishRefused
from tests.client.conftest import run_mosquitto
from tests.client.fake_broker import PINGREQ, Peer, fake_broker
from tests.client.test_command_line import SLIPRING, run
from tests.raw_mqtt import V5, RawPeer, properties
from tests.running_broker import RunningBroker

WAIT_S = 60
PINGRESP = b"\xd0\x00"
HOUR_NS = 3600 * 10**9


class OtherTimes:
    """A machine whose clock is wrong by as much as one likes."""

    def __init__(self) -> None:
        self.wrong_ns = 0

    def wall_ns(self) -> int:
        return time.time_ns() + self.wrong_ns

    def steady_ns(self) -> int:
        return time.monotonic_ns()


def clock_of(bus: slipring.Bus, times: OtherTimes) -> Clock:
    return Clock(lambda timeout_s: bus._link.ask("ping", b"", timeout_s), times)


async def test_a_clock_on_the_same_machine_does_not_differ(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        before = bus.clock.offset_ns
        assert before is None
        await bus.clock.measure(8)
        offset, uncertainty = bus.clock.offset_ns, bus.clock.uncertainty_ns
        assert offset is not None
        assert uncertainty is not None
        assert abs(offset) <= uncertainty
        assert bus.clock.round_trip_ns
        assert await bus.ping() > 0


async def test_a_clock_that_differs_and_jumps_is_known(broker: RunningBroker) -> None:
    times = OtherTimes()
    async with slipring.connect(broker.url) as bus:
        clock = clock_of(bus, times)
        for wrong_ns in (0, HOUR_NS, -HOUR_NS, 7):
            times.wrong_ns = wrong_ns
            await clock.measure(4)
            offset, uncertainty = clock.offset_ns, clock.uncertainty_ns
            assert offset is not None
            assert uncertainty is not None
            assert abs(offset + wrong_ns) <= uncertainty


async def test_a_clock_is_kept_fresh_while_somebody_needs_it(broker: RunningBroker) -> None:
    times, told = OtherTimes(), asyncio.Queue[int]()
    async with slipring.connect(broker.url) as bus, asyncio.timeout(WAIT_S):
        clock = clock_of(bus, times)
        with clock.kept(), clock.kept(told.put_nowait):
            first = await told.get()
            assert first == clock.offset_ns
            times.wrong_ns = HOUR_NS
            while await told.get() > -HOUR_NS // 2:
                pass
        assert clock._keeping
        await asyncio.wait([clock._keeping])
        with clock.kept(told.put_nowait):
            while not told.empty():
                told.get_nowait()
            times.wrong_ns = 0
            assert abs(await told.get()) < HOUR_NS // 2


async def test_a_clock_that_is_kept_ends_with_its_connection(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        with bus.clock.kept():
            await bus.close()
            assert bus.clock._keeping
            await asyncio.wait_for(bus.clock._keeping, WAIT_S)


async def test_an_answer_without_times_is_none() -> None:
    async def ask(_timeout_s: float) -> bytes:
        return b"short"

    with pytest.raises(NoAnswer):
        await Clock(ask).measure()


def test_the_answer_comes_at_once_with_what_was_sent(broker: RunningBroker) -> None:
    given = properties(response_topic="answers", correlation_data=b"7")
    with RawPeer(broker.host, broker.port) as peer:
        peer.connect("raw")
        before = time.time_ns()
        peer.send(V5.publish("$slipring/ping", bytes(range(64)), properties=given))
        answer = peer.packet()
        after = time.time_ns()
    assert (answer.topic, answer.qos) == ("answers", 0)
    read_ns, written_ns = struct.unpack("<qq", answer.payload[:16])
    assert before <= read_ns <= written_ns <= after
    assert answer.payload[16:] == bytes(range(64))


async def test_a_ping_that_is_too_long_is_refused(broker: RunningBroker) -> None:
    async with slipring.connect(broker.url) as bus:
        with pytest.raises(PublishRefused, match="0x99"):
            await bus._link.ask("ping", bytes(65))


def test_pings_without_a_way_back_and_floods_harm_nobody(broker: RunningBroker) -> None:
    given = properties(response_topic="answers")
    with RawPeer(broker.host, broker.port) as peer:
        peer.connect("raw")
        peer.send(V5.publish("$slipring/ping", b"x"), V5.publish("$slipring/ping/x", b"x"))
        assert peer.quiet()
        peer.send(*(V5.publish("$slipring/ping", b"x", properties=given) for _ in range(1000)))
        answers = [peer.packet() for _ in range(1000)]
        assert {answer.topic for answer in answers} == {"answers"}
        assert peer.quiet()


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
