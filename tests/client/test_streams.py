"""Streams: chunks in order, what is kept, then what is live; gaps are seen and counted (G5)."""

import asyncio
import itertools
import json
import re
from typing import Any

import pytest
from paho.mqtt import client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import slipring
import slipring.sync
from slipring import Chunk, Chunks, DeclareRefused, PublishRefused, RequestFailed
from tests.client.relay import relay_to
from tests.client.table_broker import TableBroker
from tests.configured_broker import Configured
from tests.limited_broker import Limited
from tests.running_broker import RunningBroker

WAIT_S = 60
PCM = "audio/pcm;rate=48000"
INBOX = 1 << 20
"""What a client that reads slowly takes before it is read."""
SENT = 120
numbers = itertools.count()


@pytest.fixture
def name() -> str:
    """A stream of its own on the broker that all share."""
    return f"plane/{next(numbers)}/sound"


async def some(chunks: Chunks, count: int) -> list[Chunk]:
    async with asyncio.timeout(WAIT_S):
        return [await anext(chunks) for _ in range(count)]


async def told(changes: slipring.Subscription, event: str, *names: str) -> None:
    """Until this is told of these streams; what others have left behind may be told before."""
    waiting = set(names)
    async with asyncio.timeout(WAIT_S):
        async for message in changes:
            change = json.loads(message.payload)
            if change["event"] == event:
                waiting -= set(change["names"])
                if not waiting:
                    return
    raise AssertionError("the changes ended")


async def test_what_is_kept_comes_first_then_what_is_live(table_url: str, name: str) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        writer = await bus.declare_stream(name, media=PCM, description="the cockpit", qos=1)
        for number in range(3):
            await writer.write(b"%d" % number, time_ns=1_000 + number)
        async with (
            other.stream(name.replace("sound", "+")) as chunks,
            other.stream(name, newest=True) as late,
        ):
            await writer.write(b"live")
            found = [chunk for chunk in await some(chunks, 4) if chunk.topic == name]
            assert [(one.sequence, one.payload) for one in found] == [
                (0, b"0"),
                (1, b"1"),
                (2, b"2"),
                (3, b"live"),
            ]
            assert [one.time_ns for one in found[:3]] == [1_000, 1_001, 1_002]
            assert {(one.media, one.lost) for one in found} == {(PCM, 0)}
            (only,) = await some(late, 1)
            assert (only.sequence, only.payload) == (3, b"live")
        (listed,) = await other.streams(name)
        assert (listed.index, listed.media, listed.next) == (writer.index, PCM, 4)
        assert (listed.live, listed.description, listed.bytes) == (True, "the cockpit", 256)


async def test_a_buffer_larger_than_an_outbox_is_read_without_a_gap(
    table_url: str, name: str
) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        writer = await bus.declare_stream(name, media="video/raw", buffer_bytes=24 << 20, qos=1)
        for _ in range(48):
            await writer.write(bytes(500_000))
        async with other.stream(name) as chunks:
            found = await some(chunks, 48)
            assert [one.sequence for one in found] == list(range(48))
            await writer.write(b"live")
            (last,) = await some(chunks, 1)
        assert (last.payload, last.lost) == (b"live", 0)
        await writer.remove()


async def test_only_who_declared_a_stream_may_write_to_it(table_url: str, name: str) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        await bus.declare_stream(name, media=PCM, buffer_bytes=1024)
        with pytest.raises(PublishRefused, match="has not declared it") as refused:
            await other.publish(name, b"noise", qos=1)
        assert refused.value.code == 0x87
        with pytest.raises(PublishRefused, match="1025 bytes"):
            await bus.publish(name, bytes(1025), qos=1)
        with pytest.raises(PublishRefused, match="nanoseconds"):
            await bus.publish(name, b"", qos=1, properties={"time": "now"})
        assert (await bus.streams(name))[0].next == 0


async def test_a_plain_subscription_gets_chunks_as_messages(table_url: str, name: str) -> None:
    async with slipring.connect(table_url) as bus, bus.subscribe(name) as messages:
        writer = await bus.declare_stream(name, media=PCM)
        await writer.write(b"abc")
        async with asyncio.timeout(WAIT_S):
            message = await anext(messages)
        assert (message.payload, message.content_type, message.properties) == (b"abc", None, ())


async def test_a_publisher_that_goes_leaves_its_stream_silent(table_url: str, name: str) -> None:
    async with slipring.connect(table_url) as other:
        changes = other.subscribe("$slipring/streams/changes")
        async with changes:
            async with slipring.connect(table_url) as bus:
                writer = await bus.declare_stream(name, media=PCM, qos=1)
                await writer.write(b"last words")
                await told(changes, "added", name)
            await told(changes, "silent", name)
            (listed,) = await other.streams(name)
            assert (listed.live, listed.next) == (False, 1)
            again = await other.declare_stream(name, media=PCM)
            await told(changes, "live", name)
            assert again.index == listed.index
            await again.remove()
            await told(changes, "removed", name)
            assert await other.streams(name) == []


async def test_a_reader_that_comes_back_goes_on_where_it_was(table_url: str, name: str) -> None:
    async with slipring.connect(table_url) as bus, relay_to(table_url) as relay:
        writer = await bus.declare_stream(name, media=PCM, buffer_bytes=1024, qos=1)
        async with slipring.connect(relay.url) as other, other.stream(name) as chunks:
            await writer.write(bytes(100))
            assert (await some(chunks, 1))[0].sequence == 0
            relay.cut()
            for _ in range(20):
                await writer.write(bytes(100))
            found = await some(chunks, 1)
            while found[-1].sequence < 20:
                found += await some(chunks, 1)
            sequences = [one.sequence for one in found]
            assert sequences == sorted(set(sequences))
            assert len(found) + sum(one.lost for one in found) == 20
            assert chunks.lost == sum(one.lost for one in found)


async def test_a_writer_that_lost_its_connection_declares_again(table_url: str, name: str) -> None:
    async with (
        slipring.connect(table_url) as other,
        relay_to(table_url) as relay,
        slipring.connect(relay.url) as bus,
        other.stream(name) as chunks,
    ):
        writer = await bus.declare_stream(name, media=PCM, qos=1)
        await writer.write(b"before")
        relay.cut()
        await writer.write(b"after")
        assert [one.payload for one in await some(chunks, 2)] == [b"before", b"after"]


async def test_a_stream_that_is_refused_does_not_keep_others_from_being_declared_again(
    table_url: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        slipring.connect(table_url) as other,
        other.subscribe("$slipring/streams/changes") as changes,
        relay_to(table_url) as relay,
        slipring.connect(relay.url) as bus,
    ):
        names = [f"{name}/{number}" for number in range(4)]
        for one in names:
            await bus.declare_stream(one, media=PCM)
        async with relay.held():
            relay.cut()
            while (await other.streams(f"{name}/#"))[0].live:
                pass
            await other.declare_stream(names[0], media="video/h264")
        await told(changes, "live", *names)
        assert "another client publishes it as video/h264" in caplog.text


async def test_definitions_survive_a_restart_and_buffers_do_not(
    broker_of_its_own: TableBroker,
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus, bus.stream("a/#") as chunks:
        first = await bus.declare_stream("a/1", media=PCM, source="microphone", qos=1)
        await (await bus.declare_stream("a/2", media=PCM)).remove()
        await first.write(b"one")
        assert (await some(chunks, 1))[0].payload == b"one"
        broker_of_its_own.restart()
        await first.write(b"two")
        (chunk,) = await some(chunks, 1)
        assert (chunk.sequence, chunk.payload, chunk.lost) == (0, b"two", 0)
        (listed,) = await bus.streams()
        assert (listed.index, listed.source, listed.next) == (first.index, "microphone", 1)
        assert (await bus.declare_stream("a/3", media=PCM)).index == 2


async def test_a_session_that_is_kept_reads_again_when_it_comes_back(
    table_url: str, name: str
) -> None:
    async with slipring.connect(table_url) as bus:
        writer = await bus.declare_stream(name, media=PCM, qos=1)
        await writer.write(b"kept")
        heard: asyncio.Queue[Any] = asyncio.Queue()
        for _ in range(2):
            reader = paho_reader(table_url, "stays", heard, expiry_s=60)
            if heard.empty():
                reader.subscribe(name, properties=said(PacketTypes.SUBSCRIBE, deliver="stream"))
            async with asyncio.timeout(WAIT_S):
                assert (await heard.get()).payload == b"kept"
            ended(reader)


async def test_a_slow_reader_sees_the_gap_and_it_is_counted(configured: Configured) -> None:
    broker = configured("")
    url = broker.running.url
    async with slipring.connect(url) as bus, slipring.connect(url, inbox_bytes_max=INBOX) as other:
        writer = await bus.declare_stream("eye", media="video/raw", buffer_bytes=1 << 20, qos=1)
        async with other.stream("eye") as chunks:
            # Much more than sockets and inbox hold, while nobody reads.
            for _ in range(SENT):
                await writer.write(bytes(500_000))
            found = await some(chunks, 1)
            while found[-1].sequence < SENT - 1:
                found += await some(chunks, 1)
        lost = sum(one.lost for one in found)
        assert lost > 0
        assert len(found) + lost == SENT
        assert chunks.lost == lost
    counted = 0
    while counted < lost:
        line = broker.line("it does not keep up")
        counted += int(re.findall(r"(\d+) messages?: ", line)[0])
    assert counted == lost


async def test_a_small_outbox_makes_a_reader_wait_and_does_not_end_it(limited: Limited) -> None:
    broker = limited(outbox_bytes=4096, qos0_full="disconnect")
    url = broker.running.url
    async with slipring.connect(url) as bus, slipring.connect(url, reconnect_s=0) as other:
        writer = await bus.declare_stream("eye", media="video/raw", qos=1)
        for size in (1_500, 1_500, 1_500, 5_000, 1_500, 1_500):
            await writer.write(bytes(size))
        async with other.stream("eye") as chunks:
            found = await some(chunks, 5)
    assert [(one.sequence, one.lost) for one in found] == [(0, 0), (1, 0), (2, 0), (4, 1), (5, 0)]


async def test_streams_a_further_one_is_refused_and_counted(limited: Limited) -> None:
    broker = limited(streams=1)
    async with slipring.connect(broker.running.url) as bus:
        await bus.declare_stream("one", media=PCM)
        assert broker.reached("streams") == 0
        with pytest.raises(DeclareRefused, match=r"room for 1 \(limits.streams\)"):
            await bus.declare_stream("two", media=PCM)
        await bus.declare_stream("one", media=PCM, description="again")
        assert broker.reached("streams") == 1


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (("declare", b"\xff\xfe"), "malformed"),
        (("declare", b"[" * 10_000), "malformed"),
        (("declare", b'{"streams": 7}'), "malformed"),
        (("list", b'{"filter": "a/#/b"}'), "filter"),
        (("list", b'{"from": -1}'), "malformed"),
        (("remove", b'{"names": ["nowhere"]}'), "unknown"),
        (("explode", b"{}"), "request"),
    ],
)
async def test_a_hostile_request_is_answered_with_a_code(
    table_url: str, request_: tuple[str, bytes], code: str
) -> None:
    topic, body = request_
    async with slipring.connect(table_url) as bus:
        answer = json.loads(await bus._connection.ask(f"streams/{topic}", body))
        assert answer["error"] == code
        assert answer["message"]


async def test_wrong_declarations_and_subscriptions_say_what_is_wrong(
    table_url: str, name: str
) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        with pytest.raises(DeclareRefused, match="media type") as refused:
            await bus.declare_stream(name, media="pcm", buffer_bytes=1)
        assert [one["code"] for one in refused.value.problems] == ["media", "buffer"]
        await bus.declare_stream(name, media=PCM)
        with pytest.raises(DeclareRefused, match="another client publishes it"):
            await other.declare_stream(name, media="video/h264")
        with pytest.raises(RequestFailed, match="another client publishes it"):
            await other._stream_desk().ask("remove", {"names": [name]})
        await bus.declare(f"{name}/x", {"rpm": slipring.Parameter("f64")})
        with pytest.raises(DeclareRefused, match="a parameter has this name"):
            await bus.declare_stream(f"{name}/x/rpm", media=PCM)
        wrong = slipring.Subscription(
            other._connection, (name,), 0, (("deliver", "stream"), ("rate", "1"))
        )
        with pytest.raises(slipring.Refused, match="about parameters"):
            await wrong.__aenter__()


def test_the_blocking_face_writes_and_reads(table_url: str, name: str) -> None:
    with slipring.sync.connect(table_url) as bus, bus.stream(name) as chunks:
        writer = bus.declare_stream(name, media=PCM, qos=1)
        writer.write(b"sound", time_ns=7)
        chunk = next(chunks)
        assert (chunk.payload, chunk.time_ns, chunk.sequence, chunks.lost) == (b"sound", 7, 0, 0)
        assert [one.name for one in bus.streams(name)] == [name]
        writer.remove()


def said(kind: int, **pairs: str) -> Properties:
    properties = Properties(kind)  # type: ignore[no-untyped-call]
    properties.UserProperty = list(pairs.items())
    return properties


def paho_reader(
    url: str, client_id: str, heard: "asyncio.Queue[Any]", expiry_s: int = 0
) -> paho.Client:
    loop = asyncio.get_running_loop()
    client = paho.Client(
        CallbackAPIVersion.VERSION2, client_id, protocol=MQTTProtocolVersion.MQTTv5
    )

    def on_message(_client: object, _userdata: object, message: paho.MQTTMessage) -> None:
        loop.call_soon_threadsafe(heard.put_nowait, message)

    client.on_message = on_message
    host, port = url.removeprefix("mqtt://").rsplit(":", 1)
    connect = said(PacketTypes.CONNECT)
    connect.SessionExpiryInterval = expiry_s
    client.connect(host, int(port), clean_start=not expiry_s, properties=connect)
    client.loop_start()
    return client


def ended(client: paho.Client) -> None:
    client.disconnect()
    client.loop_stop()


async def test_paho_declares_writes_and_reads_with_user_properties(broker: RunningBroker) -> None:
    heard: asyncio.Queue[Any] = asyncio.Queue()
    other = paho_reader(broker.url, "other", heard)
    try:
        async with asyncio.timeout(WAIT_S):
            ask = said(PacketTypes.PUBLISH)
            ask.ResponseTopic = "answers/other"
            body = {"prefix": "van/1", "streams": [{"name": "eye", "media": "video/h264"}]}
            other.publish("$slipring/streams/declare", json.dumps(body), 1, properties=ask)
            answer = await heard.get()
            assert json.loads(answer.payload)["indices"] == [0]
            other.publish("van/1/eye", b"I", 1, properties=said(PacketTypes.PUBLISH, time="99"))
            other.subscribe("van/#", properties=said(PacketTypes.SUBSCRIBE, deliver="stream"))
            chunk = await heard.get()
            pairs = dict(chunk.properties.UserProperty)
            assert (chunk.topic, chunk.payload) == ("van/1/eye", b"I")
            assert (pairs["seq"], pairs["time"]) == ("0", "99")
            assert chunk.properties.ContentType == "video/h264"
    finally:
        ended(other)
