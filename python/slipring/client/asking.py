"""The requests of one client that have no end yet: sent, answered, cancelled, lost.

A request costs one message, one future and two look-ups; nothing waits for its acknowledgement.
"""

import asyncio
import logging
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from slipring.client.incoming import Incoming
from slipring.client.request_terms import REASON, STATUS, RequestTerms, user_properties
from slipring.errors import (
    ConnectionLost,
    Refused,
    RequestCancelled,
    RequestDropped,
    RequestEnded,
    RequestLost,
    RequestNotDelivered,
    RequestRefused,
    RequestTimedOut,
    ServiceFailed,
)
from slipring.model import Answer, Message

if TYPE_CHECKING:
    from slipring.client.connection import ClientConnection

TOPIC = "$slipring/answer"
"""The response topic of this client's requests. Nobody subscribes to it: the broker sends the
ends of requests to the client that asked, as it does its own answers."""
CANCEL = "$slipring/cancel"
LATE_S = 10.0
"""How much later than the time-out the broker may tell the end."""
SWEEP_S = 5.0
"""How often requests are looked for whose end never came."""
PARTS_MAX = 4_096
"""Parts that wait for their reader; with one more, the request is cancelled."""
PARTS_BYTES_MAX = 64 << 20
"""Their bytes, likewise."""
NUMBER_BYTES = 8

log: logging.Logger = logging.getLogger("slipring.client")

PART = "part"
ANSWERED = "answered"
ENDS: dict[str, type[RequestEnded]] = {
    "failed": ServiceFailed,
    "cancelled": RequestCancelled,
    "timed-out": RequestTimedOut,
    "not-delivered": RequestNotDelivered,
    "dropped": RequestDropped,
    "refused": RequestRefused,
}
"""The ends that a broker tells, by its word."""


class SentRequest(NamedTuple):
    """How a request was sent."""

    identity: int
    """By which the broker's refusal is told; 0 at QoS 0."""
    connection: int
    """The connection that it was sent on, whose loss ends it unless its session is kept."""


class OpenRequest:
    """A request that has no end yet."""

    __slots__ = ("connection", "end", "end_by", "identity", "parts", "topic")

    def __init__(
        self, topic: str, sent: SentRequest, end_by: float, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.topic: str = topic
        self.identity: int
        self.connection: int
        self.identity, self.connection = sent
        self.end_by: float = end_by
        """When this client gives up waiting for the end, by the loop's clock."""
        self.end: asyncio.Future[Answer | RequestEnded] = loop.create_future()
        self.parts: PartsQueue | None = None

    def finish(self, end: Answer | RequestEnded) -> None:
        """The one end, unless its asker has been cancelled."""
        if not self.end.done():
            self.end.set_result(end)
        if self.parts is not None:
            self.parts.ready.set()


class PartsQueue:
    """Parts that their reader has not taken."""

    __slots__ = ("_waiting_bytes", "ready", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Answer] = deque()
        self.ready: asyncio.Event = asyncio.Event()
        self._waiting_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether the reader is too slow."""
        return len(self.waiting) >= PARTS_MAX or self._waiting_bytes >= PARTS_BYTES_MAX

    def put(self, part: Answer) -> None:
        """Adds a part."""
        self.waiting.append(part)
        self._waiting_bytes += len(part.payload)
        self.ready.set()

    def take(self) -> Answer:
        """The oldest part."""
        part = self.waiting.popleft()
        self._waiting_bytes -= len(part.payload)
        return part


class Asking:
    """The open requests of one client."""

    def __init__(self, connection: "ClientConnection") -> None:
        self._connection = connection
        self._native = connection.native
        self._url = connection.native.url
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._ends = Incoming(connection, self._receive)
        # An earlier program of the same session may have had open requests, and requests to the
        # broker itself count from 0: start anywhere.
        self._newest = int.from_bytes(os.urandom(NUMBER_BYTES - 1))
        self._open: dict[bytes, OpenRequest] = {}
        self._numbers: dict[int, bytes] = {}
        """By the identity of the message that asks."""
        self._unsent: deque[tuple[bytes, int]] = deque()
        """Cancelled while the outbox was full or the connection away; each with its connection."""
        self._cancelling: asyncio.Task[None] | None = None
        self._sweeping: asyncio.TimerHandle | None = None
        if connection.is_durable:
            self._ends.listen([TOPIC], 2)

    async def begin(
        self,
        topic: str,
        payload: bytes,
        terms: RequestTerms,
        *,
        parts: PartsQueue | None = None,
        send_by: float | None = None,
    ) -> tuple[bytes, OpenRequest]:
        """Sends a request. Waits only while there is no room or no connection, until `send_by`.

        Raises RequestEnded if it cannot be sent.
        """
        self._ends.listen([TOPIC], 2)
        user = user_properties(terms)
        self._newest += 1
        number = self._newest.to_bytes(NUMBER_BYTES)
        details = (user, terms.content_type, TOPIC, number, None)
        try:
            sent = self._publish(topic, payload, terms.qos, details)
            if sent is None:
                send_by = send_by or self._loop.time() + terms.timeout_s
                asked = topic, payload, terms.qos, details
                sent = await self._send_later(asked, send_by)
        except Refused as refused:
            raise RequestRefused(str(refused), topic) from None
        except ConnectionLost as lost:
            raise RequestLost(str(lost), topic) from None
        except TimeoutError:
            text = f"it could not be sent to {self._url} within {terms.timeout_s} s"
            raise RequestTimedOut(text, topic) from None
        one = OpenRequest(topic, sent, self._loop.time() + terms.timeout_s + LATE_S, self._loop)
        one.parts = parts
        self._open[number] = one
        if one.identity:
            self._numbers[one.identity] = number
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(SWEEP_S, self._sweep)
        return number, one

    def cancel(self, number: bytes) -> None:
        """Tells the broker that nobody waits any more, if the request is open. Never waits."""
        one = self._forget(number)
        if one is None:
            return
        if self._unsent or self._publish_cancel(number) is None:
            self._unsent.append((number, one.connection))
            if self._cancelling is None or self._cancelling.done():
                self._cancelling = self._loop.create_task(self._cancel_later())

    def cancel_soon(self, number: bytes) -> None:
        """The same from any thread, at once in the loop's own."""
        if threading.get_ident() == self._thread:
            self.cancel(number)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.cancel, number)

    async def close(self) -> None:
        """Cancels what is open, in a session that would go on without its asker."""
        if self._connection.is_durable:
            for number in list(self._open):
                self._open[number].finish(self._lost(self._open[number].topic, "it was closed"))
                self.cancel(number)
        if self._cancelling is not None and self._connection.is_open:
            await asyncio.wait({self._cancelling}, timeout=LATE_S)

    def fault(self, identity: int, code: int, text: str) -> None:
        """The broker refused a request; with code 0 nobody knows whether it has it."""
        number = self._numbers.get(identity)
        one = None if number is None else self._forget(number)
        if one is None:
            if code:  # an answer of a service, or a message whose publisher was cancelled
                log.warning("%s refused a message that nobody waits for: %s", self._url, text)
        elif code == 0:
            one.finish(self._lost(one.topic, text))
        else:
            one.finish(RequestRefused(text, one.topic, code=code))

    def end_session(self, cause: str, last: int) -> None:
        """The session is gone, and the broker has cancelled its requests."""
        self._unsent = deque(pair for pair in self._unsent if pair[1] > last)
        for number, one in list(self._open.items()):
            if one.connection <= last:
                self._forget(number)
                one.finish(self._lost(one.topic, cause))

    def _receive(self, message: Message) -> None:
        """A part or an end. One that nobody waits for is of a cancelled request."""
        number = message.correlation_data or b""
        one = self._open.get(number)
        if one is None:
            return
        told = dict(message.properties)
        status = told.get(STATUS, ANSWERED)
        if status == PART:
            self._add_part(number, one, message)
            return
        self._forget(number)
        if status == ANSWERED:
            one.finish(_answer(message, is_part=False))
            return
        reason = told.get(REASON) or message.payload.decode("utf-8", "replace")
        one.finish(ENDS.get(status, RequestEnded)(reason, one.topic))

    def _add_part(self, number: bytes, one: OpenRequest, message: Message) -> None:
        if one.parts is None:
            return
        if one.parts.is_full:
            text = f"its reader is too slow: {len(one.parts.waiting)} parts wait for it"
            self.cancel(number)
            one.finish(RequestCancelled(text, one.topic))
            return
        one.parts.put(_answer(message, is_part=True))

    def _forget(self, number: bytes) -> OpenRequest | None:
        one = self._open.pop(number, None)
        if one is not None:
            self._numbers.pop(one.identity, None)
        return one

    def _publish(self, topic: str, payload: bytes, qos: int, details: Any) -> SentRequest | None:
        """None while there is no room or no connection."""
        identity = self._native.publish_in_session(topic, payload, qos, details)
        return None if identity is None else SentRequest(identity, self._connection.newest())

    async def _send_later(self, asked: tuple[str, bytes, int, Any], send_by: float) -> SentRequest:
        async with asyncio.timeout_at(send_by):
            return await self._connection.send(lambda: self._publish(*asked))

    def _publish_cancel(self, number: bytes) -> int | None:
        """None while there is no room or no connection."""
        try:
            return self._native.publish_in_session(CANCEL, b"", 1, ((), None, None, number, None))
        except ConnectionLost:
            return 0  # the broker cancels what a session leaves behind
        except Refused as refused:
            log.warning("cannot cancel a request at %s: %s", self._url, refused)
            return 0  # it ends by its time-out

    async def _cancel_later(self) -> None:
        """Sends what waits, unless the session ends meanwhile, which cancels them too."""

        def send_first() -> int | None:
            sent = self._publish_cancel(self._unsent[0][0]) if self._unsent else 0
            if sent is not None and self._unsent:
                self._unsent.popleft()
            return sent

        while self._unsent:
            await self._connection.send(send_first)

    def _sweep(self) -> None:
        """Ends requests whose end never came: the broker is away, or not one of Slipring."""
        self._sweeping = None
        now = self._loop.time()
        for number, one in [pair for pair in self._open.items() if pair[1].end_by < now]:
            text = f"{self._url} did not say how it ended"
            self.cancel(number)
            one.finish(RequestTimedOut(f"{text}; check that it is a Slipring broker", one.topic))
        if self._open:
            self._sweeping = self._loop.call_later(SWEEP_S, self._sweep)

    def _lost(self, topic: str, cause: str) -> RequestLost:
        return RequestLost(f"lost the connection to {self._url}: {cause}", topic)


def _answer(message: Message, *, is_part: bool) -> Answer:
    told = message.properties
    own = told if not told or told[0][0] != STATUS else told[1:]
    if own:
        own = tuple(pair for pair in own if pair[0] not in (STATUS, REASON))
    return Answer(message.payload, message.content_type, own, is_part)
