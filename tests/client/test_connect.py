"""Connecting, and every way it can go wrong."""

import asyncio

import pytest

import slipring
from tests.client.fake_broker import CONNECT, Peer, fake_broker
from tests.running_broker import kept_address


async def test_a_closed_port_is_named_with_what_to_do() -> None:
    with (
        kept_address() as address,
        pytest.raises(slipring.ConnectError, match=rf"{address}.*refused.*slipring serve"),
    ):
        await slipring.connect(f"mqtt://{address}")


async def test_an_unknown_host_is_named() -> None:
    with pytest.raises(slipring.ConnectError, match=r"nowhere\.invalid.*check the host name"):
        await slipring.connect("mqtt://nowhere.invalid")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("wss://broker/a b", "not a path"),
        ("mqtt://me:secret@broker", "no user name in it"),
        ("ws://me:secret@broker", "no user name in it"),
        ("http://broker", "not an MQTT address"),
        ("broker:1883", "no scheme"),
        ("mqtt://broker:x", "not a port"),
    ],
)
async def test_an_address_that_cannot_be_used_says_why(url: str, words: str) -> None:
    with pytest.raises(slipring.ConnectError, match=words):
        await slipring.connect(url)


async def test_a_server_that_is_no_broker_is_recognised() -> None:
    async def talk(peer: Peer) -> None:
        await peer.packet()
        await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await peer.reader.read()

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match="not as an MQTT 5 broker"):
            await slipring.connect(url)


async def test_a_broker_of_an_older_version_is_recognised() -> None:
    async def talk(peer: Peer) -> None:
        await peer.packet()
        await peer.send(b"\x20\x02\x00\x01")

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match="use a broker that speaks MQTT 5"):
            await slipring.connect(url)


async def test_a_broker_that_hangs_up_at_once_is_told() -> None:
    async def talk(peer: Peer) -> None:
        await peer.packet()

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match="closed before it was accepted"):
            await slipring.connect(url)


async def test_a_broker_that_refuses_is_told_with_its_words() -> None:
    async def talk(peer: Peer) -> None:
        await peer.expect(CONNECT)
        await peer.send(b"\x20\x0a\x00\x87\x07\x1f\x00\x04nope")

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match=r"not authorized.*nope.*access"):
            await slipring.connect(url)


async def test_a_silent_server_is_given_up_in_time() -> None:
    async def talk(peer: Peer) -> None:
        await peer.reader.read()
        await peer.reader.read()

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match=r"no answer within 0\.1 s"):
            await slipring.connect(url, timeout_s=0.1)


async def test_a_cancelled_connect_hangs_up() -> None:
    heard = asyncio.Event()

    async def talk(peer: Peer) -> None:
        await peer.expect(CONNECT)
        heard.set()
        assert await peer.reader.read() == b""

    async with fake_broker(talk) as url:
        connecting = asyncio.create_task(slipring.connect(url)._open())
        await heard.wait()
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting


async def test_the_terms_of_the_broker_are_kept() -> None:
    async def talk(peer: Peer) -> None:
        body = await peer.expect(CONNECT)
        assert body[:7] == b"\0\4MQTT\5"
        # Maximum packet size 64, retain not available.
        await peer.send(b"\x20\x0a\x00\x00\x07\x27\x00\x00\x00\x40\x25\x00")
        await peer.reader.read()

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(slipring.Refused, match="limit of 64"):
            await bus.publish("a", bytes(100))
        with pytest.raises(slipring.Refused, match="retain"):
            await bus.publish("a", retain=True)


async def test_connect_can_be_awaited_or_entered(broker_url: str) -> None:
    async with await slipring.connect(broker_url) as bus:
        assert bus.url == broker_url
    with pytest.raises(slipring.ConnectionLost):
        await bus.publish("a")
