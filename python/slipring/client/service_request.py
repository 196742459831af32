"""A request as its handler sees it, in a task or in a thread."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slipring.client.payload import Value, encode
from slipring.client.request_terms import TIMEOUT
from slipring.model import Answer, Message

AnswerValue = Value | Answer | None


_Send = Callable[["Request", Answer], Awaitable[None]]
"""Sends a part; waits while there is no room or no connection."""


class Request:
    """What a handler of `Bus.serve` gets."""

    def __init__(self, message: Message, send: _Send, now_s: Callable[[], float]) -> None:
        self.message = message
        """The message that asks, with all its properties."""
        self.ended_as: str | None = None
        """Why nobody waits for the answer any more: `cancelled`, `timed-out`, `dropped`, `lost`."""
        self._send = send
        self._now_s = now_s
        self._end_by_s = _end_by_s(message, now_s())

    @property
    def topic(self) -> str:
        """The topic it was sent to."""
        return self.message.topic

    @property
    def payload(self) -> bytes:
        """What is asked."""
        return self.message.payload

    @property
    def text(self) -> str:
        """The payload as UTF-8 text; raises UnicodeDecodeError if it is not."""
        return self.message.payload.decode()

    @property
    def properties(self) -> tuple[tuple[str, str], ...]:
        """The asker's user properties, among them the terms of the request."""
        return self.message.properties

    @property
    def content_type(self) -> str | None:
        """What the payload is, in the asker's words."""
        return self.message.content_type

    @property
    def time_left_s(self) -> float | None:
        """Seconds until the request times out, at most: it may have waited for this service.

        None if the asker gave no time-out.
        """
        return None if self._end_by_s is None else max(0.0, self._end_by_s - self._now_s())

    async def part(
        self,
        value: Value,
        *,
        content_type: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Sends a part of the answer, or shows life, before the final answer.

        Waits while there is no room or no connection. Does nothing once the request has ended.
        """
        user = tuple(properties.items()) if properties else ()
        await self._send(self, Answer(encode(value), content_type, user, is_part=True))


class ThreadRequest:
    """What a handler gets that runs in a thread; the same without asyncio."""

    def __init__(self, request: Request, loop: asyncio.AbstractEventLoop) -> None:
        self._request = request
        self._loop = loop
        self.message: Message = request.message
        self.topic: str = request.message.topic
        self.payload: bytes = request.message.payload
        self.properties: tuple[tuple[str, str], ...] = request.message.properties
        self.content_type: str | None = request.message.content_type

    @property
    def text(self) -> str:
        """The payload as UTF-8 text; raises UnicodeDecodeError if it is not."""
        return self.payload.decode()

    @property
    def time_left_s(self) -> float | None:
        """Seconds until the request times out, at most; None if the asker gave no time-out."""
        return self._request.time_left_s

    @property
    def ended_as(self) -> str | None:
        """Why nobody waits for the answer any more; look at it now and then in a long handler."""
        return self._request.ended_as

    def part(
        self,
        value: Value,
        *,
        content_type: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """Sends a part of the answer before the final answer."""
        sent = self._request.part(value, content_type=content_type, properties=properties)
        asyncio.run_coroutine_threadsafe(sent, self._loop).result()


def as_answer(value: Any) -> Answer:
    """What a handler returned; raises TypeError for what cannot be sent."""
    if isinstance(value, Answer):
        return value._replace(is_part=False)  # what is returned is the end
    return Answer(b"" if value is None else encode(value))


def _end_by_s(message: Message, now_s: float) -> float | None:
    told = dict(message.properties).get(TIMEOUT)
    try:
        return None if told is None else now_s + float(told)
    except ValueError:
        return None
