"""What the broker says of requests that this client's services compute: nobody waits any more."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from slipring.client.incoming import Incoming
from slipring.client.request_terms import STATUS
from slipring.model import Message

if TYPE_CHECKING:
    from slipring.client.connection import ClientConnection

CANCELLED = "$slipring/cancelled"
"""Where the broker tells a service that nobody waits for an answer any more."""


class Cancels:
    """What the broker says of requests that the services of one client compute."""

    def __init__(self, connection: "ClientConnection") -> None:
        self._running: dict[str, Callable[[str], None]] = {}
        """By answer topic."""
        self._told = Incoming(connection, self._receive)
        self._subscribing: asyncio.Task[None] | None = None

    async def subscribe(self) -> None:
        """Subscribes once, for all services of this client."""
        if self._subscribing is None:
            subscribing = self._told.subscribe([CANCELLED], 1)
            self._subscribing = asyncio.get_running_loop().create_task(subscribing)
        await asyncio.shield(self._subscribing)

    def watch(self, answer_topic: str, cancel: Callable[[str], None]) -> None:
        """Calls `cancel` with the end of this request, if there is one before its answer."""
        self._running[answer_topic] = cancel

    def unwatch(self, answer_topic: str) -> None:
        """The request has its answer."""
        self._running.pop(answer_topic, None)

    def end_session(self, _cause: str) -> None:
        """The broker has given the requests to other services, or ended them."""
        for cancel in list(self._running.values()):
            cancel("lost")

    def _receive(self, message: Message) -> None:
        cancel = self._running.get(message.response_topic or "")
        if cancel is not None:
            cancel(dict(message.properties).get(STATUS, "cancelled"))
