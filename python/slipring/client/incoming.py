"""Messages that the client itself reads: answers of the broker, and what it tells by itself."""

import logging
from collections.abc import Callable, Sequence

from slipring.client.link import Link
from slipring.model import Message

BATCH_COUNT_MAX = 1024
BATCH_BYTES_MAX = 16 << 20

log = logging.getLogger("slipring.client")


class Incoming:
    """Calls a function with each message, as soon as the loop hears of it. Never waits."""

    def __init__(self, link: Link, receive: Callable[[Message], None]) -> None:
        self._link = link
        self._receive = receive
        self._identity: int | None = None

    async def subscribe(self, filters: Sequence[str]) -> None:
        """To these filters; raises Refused. Messages that came before its answer are not lost."""
        self._identity = await self._link.subscribe(filters, 0, self)
        self.set()

    def set(self) -> None:
        """There is something to take."""
        while self._identity is not None:
            rows = self._link.native.take(self._identity, BATCH_COUNT_MAX, BATCH_BYTES_MAX)
            if not rows:
                return
            for row in rows:
                self._hear(Message(*row))

    def _hear(self, message: Message) -> None:
        """A broker of another make lets anybody say anything in its name."""
        try:
            self._receive(message)
        except (ValueError, TypeError, KeyError):
            log.warning("what %s says cannot be read: %r", message.topic, message.payload[:200])
