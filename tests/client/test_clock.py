"""`bus.clock` and `slipring ping`, with a real broker and with clocks that differ and jump."""

import asyncio
import struct
import time

import pytest

import slipring
from slipring.client.clock import Clock, SystemClocks
from slipring.errors import NoAnswer, PublishRefused
from tests.raw_mqtt import V5, RawPeer, properties
from tests.running_broker import RunningBroker

WAIT_S = 60
PINGRESP = b"\xd0\x00"
HOUR_NS = 3600 * 10**9


class OtherTimes(SystemClocks):
    """A machine whose clock is wrong by as much as one likes."""

    def __init__(self) -> None:
        self.wrong_ns = 0

    def wall_ns(self) -> int:
        return time.time_ns() + self.wrong_ns


def clock_of(bus: slipring.Bus, times: OtherTimes) -> Clock:
    return Clock(lambda timeout_s: bus._connection.ask("ping", b"", timeout_s), times)


async def test_a_clock_on_the_same_machine_does_not_differ(shared_broker: RunningBroker) -> None:
    async with slipring.connect(shared_broker.url) as bus:
        before = bus.clock.offset_ns
        assert before is None
        await bus.clock.measure(8)
        offset, uncertainty = bus.clock.offset_ns, bus.clock.uncertainty_ns
        assert offset is not None
        assert uncertainty is not None
        assert abs(offset) <= uncertainty
        assert bus.clock.round_trip_ns
        assert await bus.ping() > 0


async def test_a_clock_that_differs_and_jumps_is_known(shared_broker: RunningBroker) -> None:
    times = OtherTimes()
    async with slipring.connect(shared_broker.url) as bus:
        clock = clock_of(bus, times)
        for wrong_ns in (0, HOUR_NS, -HOUR_NS, 7):
            times.wrong_ns = wrong_ns
            await clock.measure(4)
            offset, uncertainty = clock.offset_ns, clock.uncertainty_ns
            assert offset is not None
            assert uncertainty is not None
            assert abs(offset + wrong_ns) <= uncertainty


async def test_a_clock_is_kept_fresh_while_somebody_needs_it(shared_broker: RunningBroker) -> None:
    times, told = OtherTimes(), asyncio.Queue[int]()
    async with slipring.connect(shared_broker.url) as bus, asyncio.timeout(WAIT_S):
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


async def test_a_clock_that_is_kept_ends_with_its_connection(shared_broker: RunningBroker) -> None:
    async with slipring.connect(shared_broker.url) as bus:
        with bus.clock.kept():
            await bus.close()
            assert bus.clock._keeping
            await asyncio.wait_for(bus.clock._keeping, WAIT_S)


async def test_an_answer_without_times_is_none() -> None:
    async def ask(_timeout_s: float) -> bytes:
        return b"short"

    with pytest.raises(NoAnswer):
        await Clock(ask).measure()


def test_the_answer_comes_at_once_with_what_was_sent(shared_broker: RunningBroker) -> None:
    given = properties(response_topic="answers", correlation_data=b"7")
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        peer.connect("raw")
        before = time.time_ns()
        peer.send(V5.publish("$slipring/ping", bytes(range(64)), properties=given))
        answer = peer.packet()
        after = time.time_ns()
    assert (answer.topic, answer.qos) == ("answers", 0)
    read_ns, written_ns = struct.unpack("<qq", answer.payload[:16])
    assert before <= read_ns <= written_ns <= after
    assert answer.payload[16:] == bytes(range(64))


async def test_a_ping_that_is_too_long_is_refused(shared_broker: RunningBroker) -> None:
    async with slipring.connect(shared_broker.url) as bus:
        with pytest.raises(PublishRefused, match="0x99"):
            await bus._connection.ask("ping", bytes(65))


def test_pings_without_a_way_back_and_floods_harm_nobody(shared_broker: RunningBroker) -> None:
    given = properties(response_topic="answers")
    with RawPeer(shared_broker.host, shared_broker.port) as peer:
        peer.connect("raw")
        peer.send(V5.publish("$slipring/ping", b"x"), V5.publish("$slipring/ping/x", b"x"))
        assert peer.quiet()
        peer.send(*(V5.publish("$slipring/ping", b"x", properties=given) for _ in range(1000)))
        answers = [peer.packet() for _ in range(1000)]
        assert {answer.topic for answer in answers} == {"answers"}
        assert peer.quiet()
