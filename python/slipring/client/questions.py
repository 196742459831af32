"""Requests to the broker itself: a message asks, and the answer comes to this client alone."""

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

from slipring.errors import ConnectionLost, NoAnswer

if TYPE_CHECKING:
    from slipring.client.link import Link

TOPIC = "$slipring/"
"""What the topics of requests begin with."""
ANSWERS = "$slipring/answer"
"""Where answers come. Only the broker can send on it, and it sends to who asked."""
OPEN_MAX = 2
"""Questions that a broker answers at once for one client; others wait here."""


class Questions:
    """The questions of one connection that have no answer yet."""

    def __init__(self, link: "Link") -> None:
        self.identity: int | None = None
        """By which answers are taken; None before the first question."""
        self._link = link
        self._turn = asyncio.Semaphore(OPEN_MAX)
        self._numbers = count()
        self._open: dict[bytes, asyncio.Future[bytes]] = {}
        self._connection = self._new()

    async def ask(self, name: str, body: bytes, timeout_s: float) -> bytes:
        """The answer to a request. Asking twice does no harm, so it is done where that may help."""
        try:
            async with asyncio.timeout(timeout_s), self._turn:
                return await self._ask(TOPIC + name, body)
        except TimeoutError:
            text = f"{self._link.native.url} did not answer {TOPIC + name} within {timeout_s} s"
            raise NoAnswer(f"{text}; check that it is a Slipring broker, and how busy") from None

    def take(self) -> None:
        """Hands out the answers that came."""
        while self.identity is not None:
            rows = self._link.native.take(self.identity, 64, 1 << 24)
            if not rows:
                return
            for row in rows:
                answer = self._open.get(row[7])
                if answer is not None and not answer.done():
                    answer.set_result(row[1])

    def connected(self) -> None:
        """There is another connection: what was asked on the one before is not answered."""
        self._connection.set_result(b"")
        self._connection = self._new()

    def end(self, error: ConnectionLost) -> None:
        """There will be no answers any more."""
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(error)

    async def _ask(self, topic: str, body: bytes) -> bytes:
        if self.identity is None:
            self.identity = self._link.native.listen([ANSWERS])
            self.take()
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
        """Asks once; returns with the answer, or when there is another connection to ask on."""
        link, other = self._link, self._connection
        extras = ((), None, ANSWERS, number, None)
        identity = await link.send(lambda: link.native.publish(topic, body, 1, False, extras))
        taken = asyncio.ensure_future(link.acknowledged(identity))
        try:
            either: set[asyncio.Future[Any]] = {answer, taken}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                taken.result()
                await asyncio.wait({answer, other}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            taken.cancel()

    def _new(self) -> "asyncio.Future[bytes]":
        return asyncio.get_running_loop().create_future()
