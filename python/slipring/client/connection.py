"""One native client on one event loop: what it reports becomes results of futures and set events.

The native client's thread only writes a byte to a descriptor; everything here runs on the loop.
"""

import asyncio
import contextlib
import itertools
import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from slipring.client.asking import Asking
from slipring.client.cancels import Cancels
from slipring.client.changes import Changes, Followers
from slipring.client.granted import ConnectionEnd, GrantedTerms, Readable, SessionFollower
from slipring.client.requests import BrokerRequests
from slipring.errors import ConnectError, ConnectionLost, PublishRefused, Refused
from slipring.model import ConnectionChange
from slipring.native import Client

Sent = TypeVar("Sent")

ANSWER_S = 10.0
"""How long a request waits for the broker's answer."""
UNCLAIMED_S = 10.0
"""How long messages of a session may wait for their subscription before a warning."""

SELECTION = "$selection/"
"""What the filters of selections begin with."""
NAMED = re.compile(r"\$selection/[0-9]+/")

log: logging.Logger = logging.getLogger("slipring.client")


class ClientConnection:
    """A client's connection, made again when it is lost. Every wait can be cancelled."""

    def __init__(
        self, native: Client, *, is_durable: bool, report_arrivals_s: float | None = None
    ) -> None:
        self.native = native
        self.is_durable = is_durable
        """Whether the session is meant to outlive its connection."""
        self.report_arrivals_s = report_arrivals_s
        """How often arrivals at selections are reported; None for never."""
        self.end: ConnectionEnd | None = None
        self.is_open: bool = False
        self.heard: int = 0
        """The number of the newest connection that this loop has heard of."""
        self.refused: dict[int, Refused] = {}
        """Subscriptions that the broker refused when they were made again."""
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Event()
        self._over = asyncio.Event()
        self._connected: asyncio.Future[GrantedTerms] = self._loop.create_future()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._pings: dict[int, int] = {}
        """The connection that each was sent on."""
        self._readable: dict[int, Readable] = {}
        self._batches: dict[int, asyncio.Event] = {}
        self._writers: dict[int, Callable[[], None]] = {}
        self._requests = BrokerRequests(self)
        self.asking: Asking = Asking(self)
        """The requests to services."""
        self.cancels: Cancels = Cancels(self)
        """What this client's services compute."""
        self._session_followers: tuple[SessionFollower, ...] = (self.asking, self.cancels)
        self._names = itertools.count(1)
        self._followers: Followers[ConnectionChange] = Followers()
        self._fd = native.fileno()
        self._loop.add_reader(self._fd, self._look)

    async def connected(self) -> GrantedTerms:
        """What the broker granted, once it has accepted the connection."""
        try:
            return await self._connected
        except asyncio.CancelledError:
            self.native.close()
            raise

    async def over(self) -> ConnectionEnd:
        """How the connection ended, once it has."""
        await self._over.wait()
        assert self.end is not None
        return self.end

    async def send(self, call: Callable[[], Sent | None]) -> Sent:
        """Calls until the result is not None: there is room in the outbox, and a connection."""
        while (sent := call()) is None:
            self._room.clear()
            await self._room.wait()
        return sent

    def newest(self) -> int:
        """The connection of what was just sent or taken; a blocked loop has not heard of it yet."""
        return self.native.connection or self.heard  # if there is none, whichever it was is lost

    def changes(self) -> Changes[ConnectionChange]:
        """What happens to the connection from now on."""
        changes = self._followers.follow()
        if self.end is not None:
            changes.tell(None)
        return changes

    def new_name(self) -> str:
        """A prefix for the filters of a selection, so that no other subscription has the same ones.

        A connection has one subscription for a filter; under another name it can have it twice.
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

    def listen(self, topics: Sequence[str], readable: Readable, qos: int) -> int:
        """The id by which to take the answers that come on these topics, up to this QoS."""
        identity = self.native.listen(topics, qos)
        self._readable[identity] = readable
        return identity

    def unsubscribe(self, identity: int) -> None:
        """Ends a subscription at once."""
        self._forget(identity)
        self.native.unsubscribe(identity)

    async def retire(self, identity: int) -> None:
        """Ends a subscription at the broker; returns when its last message has come."""
        self.native.retire(identity)
        if not self.is_open:
            return  # the broker hears of it with the next connection
        with contextlib.suppress(TimeoutError, ConnectionLost):
            async with asyncio.timeout(ANSWER_S):
                await self._answer(identity)

    def detach(self, identity: int) -> None:
        """Stops reading a subscription, which stays with the session."""
        self._forget(identity)
        self.native.detach(identity)

    def _forget(self, identity: int) -> None:
        self._readable.pop(identity, None)
        self.refused.pop(identity, None)

    async def ping(self) -> float:
        """Seconds to the broker and back."""
        identity = await self.send(self.native.ping)
        self._pings[identity] = self.newest()
        try:
            seconds: float = await self._answer(identity)
        finally:
            del self._pings[identity]
        return seconds

    async def ask(self, name: str, body: bytes, timeout_s: float = ANSWER_S) -> bytes:
        """The broker's answer to a request. Raises NoAnswer, Refused or ConnectionLost."""
        return await self._requests.ask(name, body, timeout_s)

    async def flushed(self, identity: int) -> None:
        """Waits for what `Writer.flush` or `Writer.close` has begun."""
        await self._answer(identity)

    def watch(self, writer: int, refused: Callable[[], None]) -> None:
        """Calls `refused` whenever the broker has refused frames of this writer."""
        self._writers[writer] = refused

    def unwatch(self, writer: int) -> None:
        """Undoes `watch`."""
        self._writers.pop(writer, None)

    async def acknowledged(self, identity: int) -> None:
        """Returns once the broker has a message; raises PublishRefused if it refuses it."""
        fault: tuple[int, str] | None = await self._answer(identity)
        if fault is not None:
            code, text = fault
            raise self.fault(code, f"refused: {text}")

    def fault(self, code: int, text: str, index: int = 0) -> PublishRefused | ConnectionLost:
        """The exception for a message that the broker refused, or may not have."""
        if code == 0:
            return self.lost(text)
        return PublishRefused(f"the broker at {self.native.url} {text}", code=code, index=index)

    def open_batch(self) -> int:
        """The id of a new batch of messages."""
        identity = self.native.open_batch()
        self._batches[identity] = asyncio.Event()
        return identity

    async def tallied(self, identity: int) -> None:
        """Waits until the tally of a batch has changed."""
        if self.end is not None:
            raise self.lost(self.end.cause or "it was closed")
        self._batches[identity].clear()
        await self._batches[identity].wait()

    def close_batch(self, identity: int) -> None:
        """Forgets a batch."""
        del self._batches[identity]
        self.native.close_batch(identity)

    def lost(self, cause: str) -> ConnectionLost:
        """The exception for a connection that was open and has ended."""
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
        for kind, identity, detail in self.native.events():
            match kind:
                case "readable":
                    _set(self._readable.get(identity))
                case "room":
                    self._room.set()
                case "published" if identity not in self._answers:
                    if detail is not None:
                        self.asking.fault(identity, *detail)
                case "pong" | "published" | "flushed" | "unsubscribed":
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
                self._open(GrantedTerms(*detail))
            case "away":
                self._away(*detail)
            case "unclaimed":
                self._loop.call_later(UNCLAIMED_S, self._warn_of_unclaimed)
            case "closed":
                self._finish(ConnectionEnd(None, 0))
            case "lost":
                self._finish(ConnectionEnd(*detail))

    def _open(self, terms: GrantedTerms) -> None:
        self.is_open = True
        if not terms.session_present:
            self._end_session("the broker had not kept the session")
        self.heard += 1
        if not self._connected.done():
            self._connected.set_result(terms)
            return
        self._room.set()
        self._requests.connected()
        session = "goes on" if terms.session_present else "is a new one"
        log.info("connected to %s again; the session %s", self.native.url, session)
        change = ConnectionChange(connected=True, session_present=terms.session_present)
        self._followers.tell(change)

    def _away(self, cause: str, unsent_bytes: int, retry_s: float) -> None:
        level = logging.WARNING if self.is_open else logging.INFO
        what = "lost the connection to" if self.is_open else "cannot yet connect to"
        unsent = f" ({unsent_bytes} accepted bytes were not sent)" if unsent_bytes else ""
        log.log(level, "%s %s: %s%s; trying again", what, self.native.url, cause, unsent)
        self.is_open = False
        if not self.is_durable:
            self._end_session(cause)
        for identity, connection in self._pings.items():
            if connection <= self.heard:
                _fail(self._answers[identity], self.lost(cause))
        self._followers.tell(ConnectionChange(False, cause, retry_s, unsent_bytes))

    def _end_session(self, cause: str) -> None:
        for one in self._session_followers:
            one.end_session(cause, self.heard)

    def _warn_of_unclaimed(self) -> None:
        count, topic = self.native.unclaimed()
        if count and self.end is None:
            log.warning(
                "%d messages of the session at %s wait for a subscription, the first on %r; "
                "subscribe to it, or unsubscribe from its filter with Bus.unsubscribe()",
                *(count, self.native.url, topic),
            )

    def _subscribed(self, identity: int, refused: list[tuple[str, str]]) -> None:
        if identity in self._answers:
            self._resolve(identity, refused)
        elif refused and identity in self._readable:
            self.refused[identity] = self._refusal(refused)
            self._readable[identity].set()

    def _resolve(self, identity: int, answer: Any) -> None:
        """Gives an answer to its waiter, unless that was cancelled meanwhile."""
        waiter = self._answers.get(identity)
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)

    def _refusal(self, refused: Sequence[tuple[str, str]]) -> Refused:
        pairs = ((NAMED.sub("", name), reason) for name, reason in refused)
        filters = ", ".join(f"{name!r} ({reason})" for name, reason in pairs)
        return Refused(f"the broker at {self.native.url} refused the subscription to {filters}")

    def _finish(self, end: ConnectionEnd) -> None:
        self._loop.remove_reader(self._fd)
        self.end = end
        self.is_open = False
        cause = end.cause or "it was closed"
        _fail(self._connected, ConnectError(f"cannot connect to {self.native.url}: {cause}"))
        for answer in self._answers.values():
            _fail(answer, self.lost(cause))
        self._requests.end(self.lost(cause))
        self._end_session(cause)
        for event in (self._room, self._over, *self._readable.values(), *self._batches.values()):
            event.set()
        if end.cause is not None:
            self._followers.tell(ConnectionChange(False, end.cause, None, end.unsent_bytes))
        self._followers.tell(None)


def _set(event: Readable | None) -> None:
    if event is not None:
        event.set()


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
