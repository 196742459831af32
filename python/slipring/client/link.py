"""One native client on one event loop: its notices become futures and events.

The background thread only writes a byte to a descriptor; everything here runs on the loop.
"""

import asyncio
import itertools
import logging
import re
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from slipring.client.changes import Changes
from slipring.client.questions import Questions
from slipring.errors import ConnectError, ConnectionLost, PublishRefused, Refused
from slipring.model import ConnectionChange
from slipring.native import Client

Sent = TypeVar("Sent")

ANSWER_S = 10.0
"""How long the broker's answer to a request is waited for."""
UNCLAIMED_S = 10.0
"""How long messages of a session may wait for their subscription before a warning."""

SELECTION = "$selection/"
"""What the filters of selections begin with."""
NAMED = re.compile(r"\$selection/[0-9]+/")

log = logging.getLogger("slipring.client")


@dataclass(slots=True)
class End:
    """How a connection ended."""

    cause: str | None
    """Why it was lost; None where it was closed as asked."""
    unsent_bytes: int


class Terms(NamedTuple):
    """What the broker granted."""

    client_id: str
    session_present: bool
    session_expiry_s: int


class Readable(Protocol):
    """Is told when there is something to take for a subscription: an event, or a call."""

    def set(self) -> None:
        """There is something, or it is over."""


class Link:
    """Waits for what the native client tells; every wait can be cancelled."""

    def __init__(self, native: Client, *, durable: bool) -> None:
        self.native = native
        self.durable = durable
        """Whether the session is meant to outlive its connection."""
        self.end: End | None = None
        self.is_open = False
        self.refused: dict[int, Refused] = {}
        """Subscriptions that the broker did not take again."""
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Event()
        self._over = asyncio.Event()
        self._connected: asyncio.Future[Terms] = self._loop.create_future()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._pings: set[int] = set()
        self._readable: dict[int, Readable] = {}
        self._batches: dict[int, asyncio.Event] = {}
        self._writers: dict[int, Callable[[], None]] = {}
        self._questions = Questions(self)
        self._names = itertools.count(1)
        self._followers: weakref.WeakSet[Changes[ConnectionChange]] = weakref.WeakSet()
        self._fd = native.fileno()
        self._loop.add_reader(self._fd, self._look)

    async def connected(self) -> Terms:
        """The broker's terms, once it has accepted the connection."""
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
        """Calls until there is room for it, and a connection."""
        while (sent := call()) is None:
            self._room.clear()
            await self._room.wait()
        return sent

    def changes(self) -> Changes[ConnectionChange]:
        """What happens to the connection from now on."""
        changes: Changes[ConnectionChange] = Changes()
        self._followers.add(changes)
        if self.end is not None:
            changes.tell(None)
        return changes

    def new_name(self) -> str:
        """What to put before the filters of a selection, so that they are its own.

        A connection has one subscription for a filter; with a name, it has the same filter again.
        """
        return f"{SELECTION}{next(self._names)}/"

    async def subscribe(
        self,
        filters: Sequence[str],
        qos: int,
        readable: Readable,
        properties: Sequence[tuple[str, str]] = (),
    ) -> int:
        """The subscription's id, once the broker has accepted every filter."""
        identity = await self.send(lambda: self.native.subscribe(filters, qos, properties))
        self._readable[identity] = readable
        try:
            refused = await self._answer(identity)
        except BaseException:
            self.unsubscribe(identity)
            raise
        if refused:
            self.unsubscribe(identity)
            raise self._refusal(refused)
        return identity

    def unsubscribe(self, identity: int) -> None:
        """Gives a subscription up at once."""
        self._readable.pop(identity, None)
        self.refused.pop(identity, None)
        self.native.unsubscribe(identity)

    def detach(self, identity: int) -> None:
        """Ends the reading of a subscription, which stays with the session."""
        self._readable.pop(identity, None)
        self.refused.pop(identity, None)
        self.native.detach(identity)

    async def ping(self) -> float:
        """Seconds to the broker and back."""
        identity = await self.send(self.native.ping)
        self._pings.add(identity)
        try:
            seconds: float = await self._answer(identity)
        finally:
            self._pings.discard(identity)
        return seconds

    async def ask(self, name: str, body: bytes, timeout_s: float = ANSWER_S) -> bytes:
        """The broker's answer to a request. Raises NoAnswer, Refused or ConnectionLost."""
        return await self._questions.ask(name, body, timeout_s)

    async def flushed(self, identity: int) -> None:
        """Waits for what `Writer.flush` or `Writer.close` has begun."""
        await self._answer(identity)

    def watch(self, writer: int, refused: Callable[[], None]) -> None:
        """Calls when the broker has refused frames of a writer."""
        self._writers[writer] = refused

    def unwatch(self, writer: int) -> None:
        """Ends that."""
        self._writers.pop(writer, None)

    async def acknowledged(self, identity: int) -> None:
        """Returns once the broker has a message; raises PublishRefused if it does not take it."""
        fault: tuple[int, str] | None = await self._answer(identity)
        if fault is not None:
            code, text = fault
            raise self.fault(code, f"refused: {text}")

    def fault(self, code: int, text: str, index: int = 0) -> PublishRefused | ConnectionLost:
        """The exception for a message that the broker does not have, or may not have."""
        if code == 0:
            return self.lost(text)
        return PublishRefused(f"the broker at {self.native.url} {text}", code=code, index=index)

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
                case "readable" if identity == self._questions.identity:
                    self._questions.take()
                case "readable":
                    _set(self._readable.get(identity))
                case "room":
                    self._room.set()
                case "pong" | "published" | "flushed":
                    self._resolve(identity, detail)
                case "tallied":
                    _set(self._batches.get(identity))
                case "refused" if identity in self._writers:
                    self._writers[identity]()
                case "subscribed":
                    self._subscribed(identity, detail)
                case _:
                    self._change(kind, detail)

    def _change(self, kind: str, detail: Any) -> None:
        match kind:
            case "connected":
                self._open(Terms(*detail))
            case "away":
                self._away(*detail)
            case "unclaimed":
                self._loop.call_later(UNCLAIMED_S, self._warn_of_unclaimed)
            case "closed":
                self._finish(End(None, 0))
            case "lost":
                self._finish(End(*detail))

    def _open(self, terms: Terms) -> None:
        self.is_open = True
        if not self._connected.done():
            self._connected.set_result(terms)
            return
        self._room.set()
        self._questions.connected()
        session = "goes on" if terms.session_present else "is a new one"
        log.info("connected to %s again; the session %s", self.native.url, session)
        self._tell(ConnectionChange(connected=True, session_present=terms.session_present))

    def _away(self, cause: str, unsent_bytes: int, retry_s: float) -> None:
        level = logging.WARNING if self.is_open else logging.INFO
        what = "lost the connection to" if self.is_open else "cannot yet connect to"
        unsent = f" ({unsent_bytes} accepted bytes were not sent)" if unsent_bytes else ""
        log.log(level, "%s %s: %s%s; trying again", what, self.native.url, cause, unsent)
        self.is_open = False
        for identity in self._pings:
            _fail(self._answers[identity], self.lost(cause))
        self._tell(ConnectionChange(False, cause, retry_s, unsent_bytes))

    def _warn_of_unclaimed(self) -> None:
        count, topic = self.native.unclaimed()
        if count and self.end is None:
            log.warning(
                "%d messages of the session at %s wait for a subscription, the first for %r; "
                "subscribe to it, or give its filter up with Bus.unsubscribe()",
                *(count, self.native.url, topic),
            )

    def _subscribed(self, identity: int, refused: list[tuple[str, str]]) -> None:
        if identity in self._answers:
            self._resolve(identity, refused)
        elif refused and identity in self._readable:
            self.refused[identity] = self._refusal(refused)
            self._readable[identity].set()

    def _resolve(self, identity: int, answer: Any) -> None:
        """Unless its waiter was cancelled meanwhile."""
        waiter = self._answers.get(identity)
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)

    def _refusal(self, refused: Sequence[tuple[str, str]]) -> Refused:
        pairs = ((NAMED.sub("", name), reason) for name, reason in refused)
        filters = ", ".join(f"{name!r} ({reason})" for name, reason in pairs)
        return Refused(f"the broker at {self.native.url} refused the subscription to {filters}")

    def _tell(self, change: ConnectionChange | None) -> None:
        for follower in self._followers:
            follower.tell(change)

    def _finish(self, end: End) -> None:
        self._loop.remove_reader(self._fd)
        self.end = end
        self.is_open = False
        cause = end.cause or "it was closed"
        _fail(self._connected, ConnectError(f"cannot connect to {self.native.url}: {cause}"))
        for answer in self._answers.values():
            _fail(answer, self.lost(cause))
        self._questions.end(self.lost(cause))
        for event in (self._room, self._over, *self._readable.values(), *self._batches.values()):
            event.set()
        if end.cause is not None:
            self._tell(ConnectionChange(False, end.cause, None, end.unsent_bytes))
        self._tell(None)


def _set(event: Readable | None) -> None:
    if event is not None:
        event.set()


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
