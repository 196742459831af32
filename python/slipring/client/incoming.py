"""Messages that the client itself reads: the broker's answers, and what it announces unasked."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from slipring.model import Message

if TYPE_CHECKING:
    from slipring.client.connection import ClientConnection

BATCH_COUNT_MAX = 1024
BATCH_BYTES_MAX = 16 << 20

log: logging.Logger = logging.getLogger("slipring.client")


class Incoming:
    """Calls a function with each message, as soon as the loop hears of it. Never waits."""

    def __init__(self, connection: "ClientConnection", receive: Callable[[Message], None]) -> None:
        self._connection = connection
        self._receive = receive
        self._identity: int | None = None
        self._qos = 0
        """Above 0, messages are acknowledged when they have been heard."""

    async def subscribe(self, filters: Sequence[str], qos: int = 0) -> None:
        """Subscribes; raises Refused. Messages that come before the broker's answer are kept."""
        self._qos = qos
        self._identity = await self._connection.subscribe(filters, qos, self)
        self.set()

    def listen(self, topics: Sequence[str], qos: int = 0) -> None:
        """Listens for answers on these topics, up to this QoS. Does so once."""
        if self._identity is None:
            self._identity = self._connection.listen(topics, self, qos)
            self.set()

    def set(self) -> None:
        """Takes all messages that wait."""
        while self._identity is not None:
            rows = self._connection.native.take(self._identity, BATCH_COUNT_MAX, BATCH_BYTES_MAX)
            if not rows:
                return
            for row in rows:
                self._hear(Message(*row))
            if self._qos:
                self._connection.native.done(self._identity, len(rows))

    def _hear(self, message: Message) -> None:
        """Logs what cannot be read: other brokers let any client publish on these topics."""
        try:
            self._receive(message)
        except (ValueError, TypeError, KeyError):
            log.warning("a message on %s cannot be read: %r", message.topic, message.payload[:200])
