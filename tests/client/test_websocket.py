"""The client over WebSocket: what it carries, how it comes back, and what is not a WebSocket."""

import asyncio

import pytest

import slipring
from tests.client.fake_broker import Peer, fake_broker
from tests.client.relay import relay_to
from tests.configured_broker import Configured
from tests.running_broker import RunningBroker

WAIT_S = 60
WEB = """
[[listener]]
name = "web"
listen = "127.0.0.1:0"
websocket = true
"""


@pytest.fixture
def web(configured: Configured) -> str:
    """The address of a broker's WebSocket, without its scheme."""
    return configured(WEB).running.further["web"]


async def test_messages_of_all_sizes_and_qualities_go_both_ways(web: str) -> None:
    async with slipring.connect(f"ws://{web}") as bus, bus.subscribe("#", qos=2) as messages:
        assert bus.url == f"ws://{web}/mqtt"
        for qos in (0, 1, 2):
            for size in (0, 125, 126, 65_535, 65_536, 900_000):
                await bus.publish("echo", bytes([qos]) * size, qos=qos)
                async with asyncio.timeout(WAIT_S):
                    message = await anext(messages)
                assert (message.qos, message.payload) == (qos, bytes([qos]) * size)


async def test_a_connection_that_is_lost_is_made_again(web: str) -> None:
    async with relay_to(f"mqtt://{web}") as relay:
        url = relay.url.replace("mqtt://", "ws://")
        async with slipring.connect(url) as bus:
            await bus.publish("before", b"1", qos=1)
            relay.cut()
            await bus.publish("after", b"2", qos=1)
        assert relay.connections == 2


async def test_a_port_without_websocket_is_told(broker: RunningBroker) -> None:
    with pytest.raises(slipring.ConnectError, match="no WebSocket there"):
        await slipring.connect(broker.url.replace("mqtt://", "ws://"))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 404 Not Found\r\n\r\nno such path\n", "404 Not Found no such path"),
        (b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "not prove"),
        (b"SSH-2.0-OpenSSH_9.9\r\n", "not HTTP"),
    ],
)
async def test_what_is_no_websocket_is_told_in_its_own_words(answer: bytes, words: str) -> None:
    async def talk(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.send(answer)
        await peer.reader.read()

    async with fake_broker(talk) as url:
        with pytest.raises(slipring.ConnectError, match=f"no WebSocket there.*{words}"):
            await slipring.connect(url.replace("mqtt://", "ws://"))
