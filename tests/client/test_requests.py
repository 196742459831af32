"""Requests to the broker: answered to this client alone, sent again if the answer was lost."""

import asyncio
import struct
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

import slipring
from slipring import ConnectionChange
from slipring.client.changes import Changes
from slipring.client.connection import ClientConnection
from slipring.client.desk import Desk
from slipring.client.requests import ANSWERS, OPEN_MAX
from slipring.errors import NoAnswer
from tests.client.fake_broker import DISCONNECT, Peer, fake_broker
from tests.client.relay import relay_to
from tests.journal_messages import write_messages
from tests.running_broker import RunningBroker, broker_in

PUBLISH_KEPT = 0x32


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker whose journal has some messages."""
    folder = tmp_path_factory.mktemp("recorded")
    write_messages(folder / "data" / "journal", 100)
    with broker_in(folder, "--console", "off") as running:
        yield running


def offsets(answer: bytes) -> tuple[int, int]:
    """The first and the end offset of an answer to about."""
    first, end = struct.unpack_from("<QQ", answer, 20)
    return first, end


def question(body: bytes) -> tuple[bytes, bytes]:
    """The acknowledgement of a question, and its correlation data."""
    topic_end = 2 + int.from_bytes(body[:2], "big")
    at = body.index(b"\x09\x00\x08", topic_end) + 3
    return b"\x40\x02" + body[topic_end : topic_end + 2], body[at : at + 8]


def answer(correlation: bytes, payload: bytes) -> bytes:
    properties = b"\x09\x00\x08" + correlation
    topic = len(ANSWERS).to_bytes(2, "big") + ANSWERS.encode()
    body = topic + bytes([len(properties)]) + properties + payload
    return bytes([0x30, len(body)]) + body


async def test_the_broker_answers(recorded: RunningBroker) -> None:
    async with slipring.connect(recorded.url) as bus:
        assert offsets(await bus._connection.ask("journal/about", b"")) == (0, 100)


async def test_more_questions_than_the_broker_takes_wait_for_their_turn(
    recorded: RunningBroker,
) -> None:
    async with slipring.connect(recorded.url) as bus:
        asked = [bus._connection.ask("journal/about", b"") for _ in range(20)]
        assert {offsets(one) for one in await asyncio.gather(*asked)} == {(0, 100)}


async def test_a_topic_that_is_no_request_is_refused(recorded: RunningBroker) -> None:
    async with slipring.connect(recorded.url) as bus:
        with pytest.raises(slipring.PublishRefused) as refused:
            await bus._connection.ask("nothing/here", b"")
        assert refused.value.code == 0x87


async def test_questions_go_on_over_a_bad_network(recorded: RunningBroker) -> None:
    async with relay_to(recorded.url) as relay, slipring.connect(relay.url) as bus:

        async def cut() -> None:
            changes = bus.changes()
            for _ in range(5):
                relay.cut()
                while not (await anext(changes)).connected:
                    pass

        cutting = asyncio.ensure_future(cut())
        count = 0
        while not cutting.done():
            assert offsets(await bus._connection.ask("journal/about", b"", 60.0)) == (0, 100)
            count += 1
        await cutting
        assert count


async def test_no_more_than_two_are_open_at_once() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        first = [question(await peer.expect(PUBLISH_KEPT)) for _ in range(OPEN_MAX)]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peer.reader.read(1), 0.1)
        for acknowledgement, correlation in first:
            await peer.send(acknowledgement + answer(correlation, b"first"))
        acknowledgement, correlation = question(await peer.expect(PUBLISH_KEPT))
        # The answer may come before the acknowledgement, and an unknown one is nobody's.
        await peer.send(answer(b"\xff" * 8, b"?") + answer(correlation, b"last"))
        await peer.send(acknowledgement)
        await peer.expect(DISCONNECT)

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        asked = [asyncio.ensure_future(bus._connection.ask("x", b"")) for _ in range(OPEN_MAX + 1)]
        assert await asyncio.gather(*asked) == [b"first", b"first", b"last"]


async def test_a_question_whose_answer_was_lost_is_asked_again() -> None:
    async def first(peer: Peer) -> None:
        await peer.accept()
        await peer.send(question(await peer.expect(PUBLISH_KEPT))[0])

    async def second(peer: Peer) -> None:
        await peer.accept()
        acknowledgement, correlation = question(await peer.expect(PUBLISH_KEPT))
        await peer.send(acknowledgement + answer(correlation, b"there"))
        await peer.expect(DISCONNECT)

    async with fake_broker(first, second) as url, slipring.connect(url) as bus:
        assert await bus._connection.ask("x", b"") == b"there"


async def test_a_broker_that_does_not_answer_is_given_up_in_time() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.send(question(await peer.expect(PUBLISH_KEPT))[0])
        await peer.expect(DISCONNECT)

    async with fake_broker(talk) as url, slipring.connect(url) as bus:
        with pytest.raises(NoAnswer, match=r"\$slipring/x within 0.1 s.*Slipring broker"):
            await bus._connection.ask("x", b"", 0.1)


async def test_a_question_ends_with_its_connection() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        await peer.send(question(await peer.expect(PUBLISH_KEPT))[0])

    async with fake_broker(talk) as url, slipring.connect(url, reconnect_s=0) as bus:
        with pytest.raises(slipring.ConnectionLost):
            await bus._connection.ask("x", b"")


class Flapping:
    """A broker that is late the first time, and reached by another connection then."""

    is_open = True

    def __init__(self, *connections: int) -> None:
        self._connections = list(connections)
        self.asked = 0

    @property
    def native(self) -> SimpleNamespace:
        return SimpleNamespace(connection=self._connections[0], url="mqtt://flapping")

    def changes(self) -> Changes[ConnectionChange]:
        return Changes()

    async def ask(self, _topic: str, _body: bytes) -> bytes:
        self.asked += 1
        if len(self._connections) == 1:
            return b'{"found": 1}'
        self._connections.pop(0)
        raise NoAnswer("it was late")


def desk(connection: Flapping) -> Desk[Any]:
    return Desk(cast("ClientConnection", connection), "table")


@pytest.mark.parametrize("before", [0, 1], ids=["away", "another"])
async def test_a_question_has_its_time_on_the_connection_that_came_back(before: int) -> None:
    connection = Flapping(before, 2)
    assert await desk(connection).ask("find", {}) == {"found": 1}
    assert connection.asked == 2


async def test_a_broker_that_was_there_all_the_time_has_not_answered() -> None:
    with pytest.raises(NoAnswer, match="it was late"):
        await desk(Flapping(2, 2)).ask("find", {})
