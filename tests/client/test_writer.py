"""The writer: what is gathered arrives as frames, in order, over any network."""

import asyncio
import contextlib
from array import array
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

import slipring
from slipring.errors import FrameError
from slipring.native import Writer
from tests.client.fake_broker import DISCONNECT, Peer, fake_broker
from tests.client.relay import relay_to
from tests.frames import reference

U32, TEXT, F64 = 4, 12, 11
CONTENT_TYPE = "application/vnd.slipring.frame"
TABLE = 7
INDICES = array("I", [3, 4, 9])


class Read(NamedTuple):
    """What was seen of some frames."""

    sequences: list[int]
    values: list[reference.Value]


@asynccontextmanager
async def writing(bus: slipring.Bus, topic: str, **options: int) -> AsyncIterator[Writer]:
    """A writer that has sent everything when it is left."""
    native = bus._connection.native
    writer = native.writer(topic, TABLE, native.connection, **options)  # type: ignore[arg-type]
    yield writer
    await bus._connection.flushed(writer.close())


def row(writer: Writer, number: int) -> bool:
    return writer.row(U32, INDICES, number, array("I", [number] * 3))


async def write(bus: slipring.Bus, writer: Writer, number: int) -> None:
    await bus._connection.send(lambda: row(writer, number) or None)


async def read(messages: slipring.Subscription, last: int) -> Read:
    """Reads frames until this value is there."""
    seen = Read([], [])
    async for message in messages:
        assert message.content_type == CONTENT_TYPE
        frame = reference.decode(message.payload)
        assert frame.table == TABLE
        seen.sequences.append(frame.sequence)
        seen.values.extend(sample.value for sample in frame.samples if sample.index == 9)
        if last in seen.values:
            break
    return seen


@pytest.mark.parametrize("qos", [0, 1])
@pytest.mark.parametrize("deflate", [False, True])
async def test_rows_of_one_beat_arrive_as_few_frames(
    other_broker_url: str, qos: int, deflate: bool
) -> None:
    topic = f"writer/{qos}/{deflate}"
    async with (
        slipring.connect(other_broker_url) as bus,
        bus.subscribe(topic, qos=qos) as messages,
        writing(bus, topic, qos=qos, deflate=deflate, beat_ms=50) as writer,
    ):
        for number in range(1000):
            assert row(writer, number)
            if number % 100 == 0:
                await asyncio.sleep(0.002)
        seen = await read(messages, 999)
        assert seen.values == list(range(1000))
        assert seen.sequences == list(range(len(seen.sequences)))
        assert len(seen.sequences) < 100
        assert (writer.unsent_bytes, writer.refused) == (0, None)


async def test_without_a_beat_a_row_is_sent_at_once(other_broker_url: str) -> None:
    async with (
        slipring.connect(other_broker_url) as bus,
        bus.subscribe("writer/now") as messages,
        writing(bus, "writer/now", beat_ms=0) as writer,
    ):
        for number in range(20):
            row(writer, number)
            frame = reference.decode((await anext(messages)).payload)
            assert [sample.value for sample in frame.samples] == [number] * 3


async def test_single_samples_of_many_kinds_arrive(other_broker_url: str) -> None:
    samples: list[tuple[int, int, object, int]] = [
        (0, 1, True, 0),
        (1, 2, 255, 64),
        (2, 9, -(1 << 63), 0),
        (3, F64, 12034.5, 0),
        (4, TEXT, "läuft", 0),
        (5, 13, b"\0\xff", 0),
    ]
    async with (
        slipring.connect(other_broker_url) as bus,
        bus.subscribe("writer/single") as messages,
        writing(bus, "writer/single") as writer,
    ):
        writer.set_skew(-5)
        assert writer.samples(samples, 17)
        frame = reference.decode((await anext(messages)).payload)
        assert frame.hops == (0, 0, -5)
        assert {(one.index, one.value, one.quality) for one in frame.samples} == {
            (index, value, quality) for index, _, value, quality in samples
        }
        assert {one.time_ns for one in frame.samples} == {17}


@pytest.mark.parametrize(
    ("kind", "value"), [(2, 256), (2, -1), (1, 2), (F64, "x"), (TEXT, b"x"), (13, "x"), (14, 0)]
)
async def test_a_value_of_another_kind_is_refused_and_nothing_is_taken(
    other_broker_url: str, kind: int, value: object
) -> None:
    async with (
        slipring.connect(other_broker_url) as bus,
        writing(bus, "writer/kinds", beat_ms=10_000) as writer,
    ):
        with pytest.raises(FrameError):
            writer.samples([(0, 2, 1, 0), (1, kind, value, 0)], 0)
        assert writer.unsent_bytes == 0


@pytest.mark.parametrize(
    ("indices", "values", "quality", "words"),
    [
        ([1, 1], [1, 2], 0, "ascend"),
        ([2, 1], [1, 2], 0, "ascend"),
        ([1, 2], [1], 0, "4 bytes are not 2 values of u32"),
        ([], [], 0, "nothing"),
        ([1, 2], [1, 2], b"\0", "1 qualities for 2 samples"),
        ([(1 << 32) - 1], [1], 0, "no index"),
    ],
)
async def test_arrays_that_do_not_fit_together_are_refused(
    other_broker_url: str, indices: list[int], values: list[int], quality: int, words: str
) -> None:
    async with slipring.connect(other_broker_url) as bus, writing(bus, "writer/wrong") as writer:
        with pytest.raises(FrameError, match=words):
            writer.row(U32, array("I", indices), 0, array("I", values), quality)
        with pytest.raises(FrameError, match=r"32|4 bytes"):
            writer.row(U32, b"abc", 0, array("I", values), quality)
        assert writer.unsent_bytes == 0


async def test_a_writer_cannot_be_made_with_a_beat_or_quality_there_is_not(
    other_broker_url: str,
) -> None:
    async with slipring.connect(other_broker_url) as bus:
        native = bus._connection.native
        with pytest.raises(ValueError, match="1 to 10000 ms"):
            native.writer("a", 1, 1, beat_ms=10_001)
        with pytest.raises(ValueError, match="QoS 0 or 1"):
            native.writer("a", 1, 1, qos=2)
        with pytest.raises(slipring.InvalidTopic):
            native.writer("a/#", 1, 1)


async def test_at_qos_1_nothing_is_lost_over_a_bad_network(other_broker_url: str) -> None:
    async with (
        slipring.connect(other_broker_url) as reader,
        reader.subscribe("writer/bad", qos=1) as messages,
        relay_to(other_broker_url) as relay,
        slipring.connect(relay.url) as bus,
        writing(bus, "writer/bad", qos=1, beat_ms=1) as writer,
    ):
        seen = asyncio.ensure_future(read(messages, 499))
        changes = bus.changes()
        for number in range(500):
            await write(bus, writer, number)
            await asyncio.sleep(0.001)
            if number % 100 == 50:
                relay.cut()
                while not (await anext(changes)).connected:
                    await write(bus, writer, number)
                writer.resume(TABLE, bus._connection.native.connection)
        found = await seen
        first = sorted(set(found.values), key=found.values.index)
        assert first == list(range(500)), "what is sent twice is sent in order"
        assert writer.refused is None


async def test_on_another_connection_it_waits_to_be_let_on(other_broker_url: str) -> None:
    async with (
        slipring.connect(other_broker_url) as reader,
        reader.subscribe("writer/held") as messages,
        relay_to(other_broker_url) as relay,
        slipring.connect(relay.url) as bus,
        writing(bus, "writer/held", beat_ms=1) as writer,
    ):
        changes = bus.changes()
        relay.cut()
        while not (await anext(changes)).connected:
            row(writer, 1)
        row(writer, 2)
        with contextlib.suppress(TimeoutError):
            frame = await asyncio.wait_for(anext(messages), 0.1)
            pytest.fail(f"sent before it was let on: {frame}")
        assert writer.unsent_bytes > 0
        assert writer.resume(TABLE, bus._connection.native.connection) == 0
        assert set((await read(messages, 2)).values) == {1, 2}


async def test_a_full_writer_says_so_and_goes_on_when_there_is_room() -> None:
    going = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        await going.wait()
        while (await peer.packet())[0] != DISCONNECT:
            pass

    indices = array("I", range(100_000))
    values = array("I", bytes(400_000))
    async with (
        fake_broker(talk) as url,
        slipring.connect(url) as bus,
        writing(bus, "a", beat_ms=1) as writer,
    ):
        count = 0
        while writer.row(U32, indices, 0, values):
            count += 1
        assert count >= (16 << 20) // 400_100
        waiting = bus._connection.send(lambda: writer.row(U32, indices, 0, values) or None)
        going.set()
        assert await waiting


async def test_frames_that_the_broker_refuses_are_told_with_its_words() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        words = b"\x1f\x00\x0cnot declared"
        for _ in range(3):
            body = await peer.expect(0x32)
            at = 2 + int.from_bytes(body[:2], "big")
            puback = body[at : at + 2] + b"\x99" + bytes([len(words)]) + words
            await peer.send(bytes([0x40, len(puback)]) + puback)
        await peer.expect(DISCONNECT)

    told = 0

    def tell() -> None:
        nonlocal told
        told += 1

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        async with writing(bus, "a", qos=1, beat_ms=0) as writer:
            bus._connection.watch(writer.identity, tell)
            for number in range(2):
                row(writer, number)
                await bus._connection.flushed(writer.flush())
            assert writer.refused is not None
            count, code, text = writer.refused
            assert (count, code, told) == (2, 0x99, 2)
            assert "not declared" in text
            bus._connection.unwatch(writer.identity)
        with pytest.raises(slipring.PublishRefused, match="not declared"):
            await bus.publish("a", 1, qos=1)


async def test_a_closed_writer_takes_nothing_more(other_broker_url: str) -> None:
    async with slipring.connect(other_broker_url) as bus:
        async with writing(bus, "a") as writer:
            pass
        with pytest.raises(slipring.ConnectionLost, match="closed"):
            row(writer, 1)
