"""Messages received at QoS 1 and 2: acknowledged when the reader is done with them."""

import asyncio
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

import slipring
from tests.client.fake_broker import DISCONNECT, SUBSCRIBE, Peer, fake_broker
from tests.running_broker import RunningBroker

COUNT = 5000


def arriving(packet_id: int, payload: bytes = b"x", first: int = 0x32) -> bytes:
    body = b"\0\x01a" + packet_id.to_bytes(2, "big") + b"\0" + payload
    return bytes([first, len(body)]) + body


@pytest.mark.parametrize("qos", [1, 2])
async def test_messages_arrive_at_the_quality_asked_for(broker_url: str, qos: int) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("q/#", qos=qos) as messages:
        for published in (0, 1, 2):
            await bus.publish("q/a", published, qos=published)
        seen = {message.payload: message.qos for message in [await anext(messages) for _ in "123"]}
    assert seen == {b"0": 0, b"1": 1, b"2": qos}


@pytest.mark.parametrize("qos", [1, 2])
async def test_many_messages_all_arrive_once_and_in_order(broker_url: str, qos: int) -> None:
    async with (
        slipring.connect(broker_url) as reader,
        slipring.connect(broker_url) as writer,
        reader.subscribe("many", qos=qos) as messages,
    ):
        rows = (("many", number) for number in range(COUNT))
        task = asyncio.create_task(writer.publish_many(rows, qos=qos))
        numbers = [int((await anext(messages)).payload) for _ in range(COUNT // 2)]
        async for batch in messages.batches():
            numbers.extend(int(message.payload) for message in batch)
            if len(numbers) == COUNT:
                break
        await task
    assert numbers == list(range(COUNT))


async def test_what_a_message_carries_is_seen(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("carry", qos=1) as messages:
        await bus.publish(
            "carry",
            "{}",
            qos=1,
            properties={"unit": "rpm"},
            content_type="application/json",
            response_topic="answers/7",
            correlation_data=b"\x00\x01",
            expiry_s=3600,
        )
        message = await anext(messages)
        await bus.publish_many([message._replace(payload=b"again")])
        again = await anext(messages)
    assert message == slipring.Message(
        "carry",
        b"{}",
        properties=(("unit", "rpm"),),
        qos=1,
        content_type="application/json",
        response_topic="answers/7",
        correlation_data=b"\x00\x01",
        expiry_s=message.expiry_s,
    )
    assert message.expiry_s is not None
    assert 3500 < message.expiry_s <= 3600
    assert again._replace(expiry_s=None) == message._replace(payload=b"again", expiry_s=None)


async def test_a_message_of_another_client_is_seen_with_its_properties(broker_url: str) -> None:
    other = Client(CallbackAPIVersion.VERSION2, protocol=5)  # type: ignore[arg-type]
    host, port = broker_url.removeprefix("mqtt://").split(":")
    other.connect(host, int(port))
    other.loop_start()
    given = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    given.ResponseTopic = "answers"
    given.CorrelationData = b"7"
    async with slipring.connect(broker_url) as bus, bus.subscribe("other", qos=2) as messages:
        other.publish("other", "hello", qos=2, properties=given)
        message = await anext(messages)
    other.disconnect()
    other.loop_stop()
    assert message[1:7] == (b"hello", False, (), 2, None, "answers")
    assert message.correlation_data == b"7"


async def test_a_message_is_acknowledged_when_the_reader_comes_back() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription(1)
        await peer.send(arriving(1, b"1") + arriving(2, b"2"))
        assert await peer.packet() == (0xC0, b"")
        await peer.send(b"\xd0\0")
        assert await peer.packet() == (0x40, b"\0\1")
        assert await peer.packet() == (0xC0, b"")
        await peer.send(b"\xd0\0")
        assert await peer.packet() == (0x40, b"\0\2")
        assert (await peer.packet())[0] == 0xA2

    async with (
        fake_broker(talk) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a", qos=1) as messages,
    ):
        assert (await anext(messages)).payload == b"1"
        await bus.ping()
        assert (await anext(messages)).payload == b"2"
        await bus.ping()
        waiting = asyncio.create_task(anext(messages))
        await asyncio.sleep(0)
        waiting.cancel()


async def test_a_batch_is_acknowledged_when_the_reader_comes_back() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.accept_subscription(1)
        await peer.send(arriving(7) + arriving(8))
        assert await peer.packet() == (0xC0, b"")
        await peer.send(b"\xd0\0" + arriving(9))
        for number in (7, 8, 9):
            assert await peer.packet() == (0x40, bytes([0, number]))

    async with (
        fake_broker(talk) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a", qos=1) as messages,
    ):
        count = 0
        async for batch in messages.batches():
            count += len(batch)
            if count == 2:
                await bus.ping()
            if count == 3:
                break


async def test_a_reader_that_stops_holds_up_the_broker_at_the_window() -> None:
    async def talk(peer: Peer) -> None:
        body = await peer.expect(0x10)
        assert b"\x21\x10\x00" in body, "receive maximum 4096"
        await peer.send(b"\x20\x03\x00\x00\x00")
        await peer.accept_subscription(1)
        for number in range(1, 4097):
            peer.writer.write(arriving(number))
        await peer.writer.drain()
        acknowledged = [await peer.packet() for _ in range(4096)]
        assert acknowledged == [(0x40, number.to_bytes(2, "big")) for number in range(1, 4097)]

    async with (
        fake_broker(talk) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a", qos=1) as messages,
    ):
        for _ in range(4096):
            await anext(messages)


async def test_two_subscriptions_to_one_filter_keep_the_better_quality(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        bus.subscribe("better", qos=1) as first,
        bus.subscribe("better") as second,
    ):
        for number in range(3000):
            await bus.publish("better", number, qos=1)
            assert (await anext(first)).qos == 1
            assert (await anext(second)).payload == b"%d" % number


async def test_a_quality_that_is_none_is_refused(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus:
        with pytest.raises(ValueError, match="QoS is 0, 1 or 2"):
            async with bus.subscribe("a", qos=3):
                pass


async def test_nothing_stays_in_flight_at_the_broker(tmp_path: Path) -> None:
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    async with slipring.connect(broker.url) as bus:
        async with bus.subscribe("left", qos=2) as messages:
            for number in range(100):
                await bus.publish("left", number, qos=2)
            await anext(messages)
        async with bus.subscribe("left/over", qos=2) as messages:
            for number in range(3000):
                await bus.publish("left/over", number, qos=2)
                assert (await anext(messages)).payload == b"%d" % number
    assert broker.stop()[0] == 0


async def test_the_quality_is_asked_of_the_broker() -> None:
    repeated = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.accept()
        body = await peer.expect(SUBSCRIBE)
        assert body[-1] == 2
        await peer.send(b"\x90\x04" + body[:2] + b"\0\2")
        await peer.send(arriving(5, first=0x34))
        assert await peer.packet() == (0x50, b"\0\5")
        await peer.send(arriving(5, first=0x3C) + b"\x62\2\0\5")
        assert await peer.packet() == (0x50, b"\0\5")
        assert await peer.packet() == (0x70, b"\0\5")
        repeated.set()
        await peer.expect(0xA2)
        await peer.expect(DISCONNECT)

    async with (
        fake_broker(talk) as url,
        slipring.connect(url) as bus,
        bus.subscribe("a", qos=2) as messages,
    ):
        await anext(messages)
        reading = asyncio.create_task(anext(messages))
        await repeated.wait()
        done, _ = await asyncio.wait([reading], timeout=0.1)
        assert not done, "the second is the first again"
        reading.cancel()
