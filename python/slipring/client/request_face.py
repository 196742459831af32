"""What a bus offers for requests: ask a service, ask many at once, take parts, be a service."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Unpack

from slipring.client.asking import OpenRequest
from slipring.client.connection import ClientConnection
from slipring.client.parts import Parts
from slipring.client.payload import Value, encode
from slipring.client.request_terms import (
    TIMEOUT_S,
    Balance,
    Priority,
    RequestOptions,
    RequestTerms,
)
from slipring.client.serving import Handler, Service
from slipring.errors import RequestEnded
from slipring.model import Answer

BEGUN_PER_TURN = 256
"""Requests of a bulk sent before other tasks of the loop get a turn."""


class RequestFace:
    """The part of `Bus` that asks and serves."""

    _connection: ClientConnection

    async def request(  # noqa: PLR0913 (every option has its name at the call)
        self,
        topic: str,
        value: Value = b"",
        *,
        timeout_s: float = TIMEOUT_S,
        wait: bool = False,
        priority: Priority | None = None,
        retry: int = 0,
        balance: Balance | None = None,
        qos: int = 1,
        properties: Mapping[str, str] | None = None,
        content_type: str | None = None,
    ) -> Answer:
        """Asks the service of a topic, and returns its answer.

        The broker gives the request to one service. With `wait` it keeps the request until there is
        a service; `retry` is how many other services may try when one dies; `balance` is how the
        broker chooses among several.

        Raises ServiceFailed, RequestTimedOut, RequestNotDelivered, RequestCancelled,
        RequestDropped, RequestRefused or RequestLost, which are all RequestEnded. If this call is
        cancelled, as by an `asyncio.timeout` around it, so is the request: the service is told.
        """
        user = tuple(properties.items()) if properties else ()
        terms = RequestTerms(timeout_s, wait, priority, retry, balance, qos, user, content_type)
        payload = value if type(value) is bytes else encode(value)
        asking = self._connection.asking
        number, one = await asking.begin(topic, payload, terms)
        try:
            end = await one.end
        except asyncio.CancelledError:
            asking.cancel(number)
            raise
        if type(end) is Answer:
            return end
        assert isinstance(end, RequestEnded)
        raise end

    async def request_many(
        self, requests: Iterable[tuple[str, Value]], **options: Unpack[RequestOptions]
    ) -> list[Answer | RequestEnded]:
        """Asks many requests at once, each a topic and a value, and returns how each ended.

        In their order: an Answer, or the exception that `request` would raise. All are sent without
        waiting for each other; if this call is cancelled, so are those that are open. Takes the
        options of `request`.
        """
        asking, terms = self._connection.asking, RequestTerms.of(options)
        send_by = asyncio.get_running_loop().time() + terms.timeout_s
        begun = list[tuple[bytes, OpenRequest] | RequestEnded]()
        try:
            for topic, value in requests:
                payload = value if type(value) is bytes else encode(value)
                try:
                    begun.append(await asking.begin(topic, payload, terms, send_by=send_by))
                except RequestEnded as end:
                    begun.append(end)
                if len(begun) % BEGUN_PER_TURN == 0:
                    await asyncio.sleep(0)
            return [one if isinstance(one, RequestEnded) else await one[1].end for one in begun]
        except BaseException:
            for one in begun:
                if not isinstance(one, RequestEnded):
                    asking.cancel(one[0])
            raise

    def ask_parts(self, topic: str, value: Value = b"", **options: Unpack[RequestOptions]) -> Parts:
        """Asks, and returns what the service sends: `async for part in bus.ask_parts(...)`.

        Each is an Answer. Those before the last have `is_part`; the last is the final answer. Takes
        the options of `request`, and raises the same. Leaving the loop early cancels the request.
        """
        return Parts(self._connection.asking, topic, encode(value), RequestTerms.of(options))

    def serve(
        self, topic_filter: str, handler: Handler, *, concurrency: int = 1, qos: int = 1
    ) -> Service:
        """Answers requests: `async with bus.serve("solver/#", solve, concurrency=4): ...`.

        The handler gets a Request, and what it returns is the answer: bytes, text, a number, an
        Answer, or None for an empty one. If it raises an exception, the request fails with its
        words. A coroutine function runs as a task, which is cancelled when the request is; any
        other function runs in a thread. The broker sends at most `concurrency` requests at once.

        `await bus.serve(...).forever()` serves until it is cancelled or the connection is over.
        """
        return Service(self._connection, topic_filter, handler, concurrency, qos)
