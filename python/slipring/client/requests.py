"""Requests to the broker itself: a message asks, and the answer comes to this client alone."""

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

from slipring.client.incoming import Incoming
from slipring.errors import ConnectionLost, NoAnswer
from slipring.model import Message

if TYPE_CHECKING:
    from slipring.client.connection import ClientConnection

TOPIC = "$slipring/"
"""What the topics of requests begin with."""
ANSWERS = "$slipring/answer"
"""The topic of answers. Only the broker can publish on it, to the client that asked."""
OPEN_MAX = 2
"""Requests that a broker answers at once for one client; others wait here."""


class BrokerRequests:
    """The requests of one client that have no answer yet."""

    def __init__(self, connection: "ClientConnection") -> None:
        self._connection = connection
        self._answers = Incoming(connection, self._receive)
        self._turn = asyncio.Semaphore(OPEN_MAX)
        self._numbers = count()
        self._open: dict[bytes, asyncio.Future[bytes]] = {}
        self._reconnected = self._new()

    async def ask(self, name: str, body: bytes, timeout_s: float) -> bytes:
        """Sends a request, and again on a new connection, which is harmless; returns the answer."""
        try:
            async with asyncio.timeout(timeout_s), self._turn:
                return await self._ask(TOPIC + name, body)
        except TimeoutError:
            url = self._connection.native.url
            text = f"{url} did not answer {TOPIC + name} within {timeout_s} s"
            raise NoAnswer(
                f"{text}; check that it is a Slipring broker, and how busy it is"
            ) from None

    def connected(self) -> None:
        """Sends open requests again: on a new connection, earlier ones get no answer."""
        self._reconnected.set_result(b"")
        self._reconnected = self._new()

    def end(self, error: ConnectionLost) -> None:
        """Fails every open request: there will be no more answers."""
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(error)

    def _receive(self, message: Message) -> None:
        answer = self._open.get(message.correlation_data or b"")
        if answer is not None and not answer.done():
            answer.set_result(message.payload)

    async def _ask(self, topic: str, body: bytes) -> bytes:
        self._answers.listen([ANSWERS])
        number = next(self._numbers).to_bytes(8)
        answer = self._open[number] = self._new()
        try:
            while not answer.done():
                await self._publish(topic, body, number, answer)
            return answer.result()
        finally:
            del self._open[number]

    async def _publish(
        self, topic: str, body: bytes, number: bytes, answer: "asyncio.Future[bytes]"
    ) -> None:
        """Sends the request once; returns with the answer, or when there is a new connection."""
        connection, reconnected = self._connection, self._reconnected
        properties = ((), None, ANSWERS, number, None)
        identity = await connection.send(
            lambda: connection.native.publish(topic, body, 1, False, properties)
        )
        taken = asyncio.ensure_future(connection.acknowledged(identity))
        try:
            either: set[asyncio.Future[Any]] = {answer, taken}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                taken.result()
                await asyncio.wait({answer, reconnected}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            taken.cancel()

    def _new(self) -> "asyncio.Future[bytes]":
        return asyncio.get_running_loop().create_future()
