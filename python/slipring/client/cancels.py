"""Requests that this client's services compute, and what the broker says of them: nobody waits."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from slipring.client.incoming import Incoming
from slipring.client.request_terms import RETRY, STATUS
from slipring.model import Message

if TYPE_CHECKING:
    from slipring.client.connection import ClientConnection

ANSWERS = "$slipring/answer/"
"""What the answer topic of a request begins with; its key follows, which no other request has."""
CANCELLED = "$slipring/cancelled"
"""Where the broker tells a service that nobody waits for an answer any more."""
ENDED_MAX = 4_096
"""Requests that are remembered after their end: a broker has no more of them without an
acknowledgement, and sends no others again."""

Cancel = Callable[[str], None]
"""Ends what computes a request, with the broker's word for why."""


class Cancels:
    """What the broker says of requests that the services of one client compute."""

    def __init__(self, connection: "ClientConnection") -> None:
        self._running: dict[str, tuple[int, Cancel]] = {}
        """By answer topic; with the last connection on which the request can have come."""
        self._ended: OrderedDict[str, None] = OrderedDict()
        """Answer topics of the last requests that have ended, the oldest first."""
        self._told = Incoming(connection, self._receive)
        self._subscribing: asyncio.Task[None] | None = None

    async def subscribe(self) -> None:
        """Subscribes once, for all services of this client."""
        if self._subscribing is None or _has_failed(self._subscribing):
            subscribing = self._told.subscribe([CANCELLED], 1)
            self._subscribing = asyncio.get_running_loop().create_task(subscribing)
        await asyncio.shield(self._subscribing)

    def is_known(self, request: Message, connection: int) -> bool:
        """Whether this request came before, and is not to be computed a second time.

        In a kept session the broker sends it again if the connection was lost before the
        acknowledgement came. If it is computed at this moment, its answer is for both.
        """
        answer_topic = request.response_topic or ""
        if not answer_topic.startswith(ANSWERS):
            return False
        if answer_topic in self._running:
            self._running[answer_topic] = connection, self._running[answer_topic][1]
            return True
        # Without a retry a request is given to one service, once.
        return answer_topic in self._ended and RETRY not in dict(request.properties)

    def watch(self, answer_topic: str, connection: int, cancel: Cancel) -> None:
        """Calls `cancel` with the end of this request, if there is one before its answer."""
        self._running[answer_topic] = connection, cancel

    def unwatch(self, answer_topic: str) -> None:
        """The request has its answer, unless it has been cancelled."""
        if self._running.pop(answer_topic, None) is None:
            return
        self._ended[answer_topic] = None
        if len(self._ended) > ENDED_MAX:
            self._ended.popitem(last=False)

    def end_session(self, _cause: str, last: int) -> None:
        """The broker has given the requests to other services, or ended them."""
        for answer_topic, (connection, cancel) in list(self._running.items()):
            if connection <= last:
                del self._running[answer_topic]
                cancel("lost")

    def _receive(self, message: Message) -> None:
        answer_topic = message.response_topic or ""
        found = self._running.get(answer_topic)
        if found is not None:
            self.unwatch(answer_topic)
            found[1](dict(message.properties).get(STATUS, "cancelled"))


def _has_failed(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
