"""One native client on one event loop: its notices become futures and events.

The background thread only writes a byte to a descriptor; everything here runs on the loop.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from slipring.errors import ConnectError, ConnectionLost, PublishRefused, Refused
from slipring.native import Client

Sent = TypeVar("Sent")


@dataclass(slots=True)
class End:
    """How a connection ended."""

    cause: str | None
    """Why it was lost; None where it was closed as asked."""
    unsent_bytes: int


class Link:
    """Waits for what the native client tells; every wait can be cancelled."""

    def __init__(self, native: Client) -> None:
        self.native = native
        self.end: End | None = None
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Event()
        self._over = asyncio.Event()
        self._connected: asyncio.Future[str] = self._loop.create_future()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._readable: dict[int, asyncio.Event] = {}
        self._batches: dict[int, asyncio.Event] = {}
        self._fd = native.fileno()
        self._loop.add_reader(self._fd, self._look)

    async def connected(self) -> str:
        """The client id, once the broker has accepted the connection."""
        try:
            return await self._connected
        except asyncio.CancelledError:
            self.native.close()
            raise

    async def over(self) -> End:
        """How the connection ended, once it has."""
        await self._over.wait()
        assert self.end is not None
        return self.end

    async def send(self, call: Callable[[], Sent | None]) -> Sent:
        """Calls until the outbox has room for it."""
        while (sent := call()) is None:
            self._room.clear()
            await self._room.wait()
        return sent

    async def subscribe(self, filters: Sequence[str], qos: int, readable: asyncio.Event) -> int:
        """The subscription's id, once the broker has accepted every filter."""
        identity = await self.send(lambda: self.native.subscribe(filters, qos))
        self._readable[identity] = readable
        try:
            _check(self.native.url, await self._answer(identity))
        except BaseException:
            self.unsubscribe(identity)
            raise
        return identity

    def unsubscribe(self, identity: int) -> None:
        """Gives a subscription up at once."""
        self._readable.pop(identity, None)
        self.native.unsubscribe(identity)

    async def ping(self) -> float:
        """Seconds to the broker and back."""
        seconds: float = await self._answer(await self.send(self.native.ping))
        return seconds

    async def acknowledged(self, identity: int) -> None:
        """Returns once the broker has a message; raises PublishRefused if it does not take it."""
        fault: tuple[int, str] | None = await self._answer(identity)
        if fault is not None:
            code, text = fault
            raise PublishRefused(f"the broker at {self.native.url} refused: {text}", code=code)

    def open_batch(self) -> int:
        """The id of a new batch of messages."""
        identity = self.native.open_batch()
        self._batches[identity] = asyncio.Event()
        return identity

    async def tallied(self, identity: int) -> None:
        """Waits for news of a batch."""
        if self.end is not None:
            raise self.lost(self.end.cause or "it was closed")
        self._batches[identity].clear()
        await self._batches[identity].wait()

    def close_batch(self, identity: int) -> None:
        """Forgets a batch."""
        del self._batches[identity]
        self.native.close_batch(identity)

    def lost(self, cause: str) -> ConnectionLost:
        """The exception for a connection that was open and is no more."""
        return ConnectionLost(f"lost the connection to {self.native.url}: {cause}")

    async def _answer(self, identity: int) -> Any:
        if self.end is not None:
            raise self.lost(self.end.cause or "it was closed")
        answer = self._answers[identity] = self._loop.create_future()
        try:
            return await answer
        finally:
            del self._answers[identity]

    def _look(self) -> None:
        for kind, identity, detail in self.native.notices():
            match kind:
                case "readable":
                    self._wake(identity)
                case "room":
                    self._room.set()
                case "subscribed" | "pong" | "published":
                    self._resolve(identity, detail)
                case "tallied":
                    self._note(identity)
                case "connected":
                    _settle(self._connected, detail)
                case "closed":
                    self._finish(End(None, 0))
                case "lost":
                    self._finish(End(*detail))

    def _wake(self, identity: int) -> None:
        if readable := self._readable.get(identity):
            readable.set()

    def _note(self, batch: int) -> None:
        if news := self._batches.get(batch):
            news.set()

    def _resolve(self, identity: int, answer: Any) -> None:
        if waiter := self._answers.get(identity):
            _settle(waiter, answer)

    def _finish(self, end: End) -> None:
        self._loop.remove_reader(self._fd)
        self.end = end
        cause = end.cause or "it was closed"
        if not self._connected.done():
            self._connected.set_exception(
                ConnectError(f"cannot connect to {self.native.url}: {cause}")
            )
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self.lost(cause))
        for event in (self._room, self._over, *self._readable.values(), *self._batches.values()):
            event.set()


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    """Unless its waiter was cancelled meanwhile."""
    if not future.done():
        future.set_result(result)


def _check(url: str, refused: Sequence[tuple[str, str]]) -> None:
    if refused:
        filters = ", ".join(f"{name!r} ({reason})" for name, reason in refused)
        raise Refused(f"the broker at {url} refused the subscription to {filters}")
