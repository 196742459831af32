"""A connection to a broker: publish, subscribe, ping, close. Belongs to one event loop."""

import asyncio
import contextlib
import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType

from slipring.client.changes import Changes
from slipring.client.clock import Clock
from slipring.client.link import Link, Terms
from slipring.client.notices import Notices, topic_of
from slipring.client.payload import Value, encode
from slipring.client.publisher import Publisher, Row
from slipring.client.subscription import Subscription
from slipring.errors import ConnectionLost

PUBLISHED_PER_TURN = 256
"""Messages published before other tasks of the loop get a turn."""

NOTHING_GIVEN = (None, None, None, None)
"""No content type, response topic, correlation data or expiry."""


class Bus:
    """An open connection. `slipring.connect` makes one."""

    def __init__(self, link: Link, terms: Terms) -> None:
        self._link = link
        self._native = link.native
        self._terms = terms
        self._published = 0
        self._clock = Clock(lambda timeout_s: link.ask("ping", b"", timeout_s))

    @property
    def url(self) -> str:
        """The broker's address."""
        return self._native.url

    @property
    def client_id(self) -> str:
        """The name the broker knows this connection by."""
        return self._terms.client_id

    @property
    def session_present(self) -> bool:
        """Whether the broker had kept a session of this client when the bus was opened."""
        return self._terms.session_present

    @property
    def session_expiry_s(self) -> int:
        """How long the broker keeps the session without a connection; it may grant less."""
        return self._terms.session_expiry_s

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._link.is_open

    def changes(self) -> Changes:
        """What happens to the connection from now on: `async for change in bus.changes()`."""
        return self._link.changes()

    @property
    def unsent_bytes(self) -> int:
        """Accepted by `publish` and not sent yet."""
        return self._native.unsent_bytes

    @property
    def unread_bytes(self) -> int:
        """Received and not yet fetched by a subscription."""
        return self._native.unread_bytes

    async def publish(  # noqa: PLR0913 (every option has its name at the call)
        self,
        topic: str,
        value: Value = b"",
        *,
        qos: int = 0,
        retain: bool = False,
        properties: Mapping[str, str] | None = None,
        content_type: str | None = None,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
        expiry_s: int | None = None,
    ) -> None:
        """Publishes a message.

        At QoS 0 it is accepted to be sent; this waits only while the outbox is full. At QoS 1
        and 2 this returns when the broker has acknowledged it, and raises PublishRefused when
        the broker does not take it.

        Text travels as UTF-8, numbers and truth values as text (`12034.5`, `true`), bytes as they
        are. Raises InvalidTopic, Refused, or ConnectionLost.
        """
        payload = value if type(value) is bytes else encode(value)
        given = (content_type, response_topic, correlation_data, expiry_s)
        extras = None
        if properties or given != NOTHING_GIVEN:
            extras = (list(properties.items()) if properties else [], *given)
        identity = self._native.publish(topic, payload, qos, retain, extras)
        if identity is None:
            identity = await self._link.send(
                lambda: self._native.publish(topic, payload, qos, retain, extras)
            )
        if qos:
            await self._link.acknowledged(identity)
            return
        self._published += 1
        if self._published % PUBLISHED_PER_TURN == 0:
            await asyncio.sleep(0)

    def publisher(self, *, qos: int = 1) -> Publisher:
        """Messages in bulk: `async with bus.publisher() as publisher: await publisher.send(...)`.

        Keeps as many on their way as the broker takes; leaving the block waits for the broker to
        acknowledge them all.
        """
        return Publisher(self._link, qos)

    async def publish_many(self, messages: Iterable[Row], *, qos: int = 1) -> int:
        """Publishes messages, and returns how many, once the broker has acknowledged them all.

        A message is a `Message`, or a tuple of its first fields: (topic, payload). Raises
        PublishRefused, whose `index` tells the first message that the broker did not take; later
        ones may have been taken.
        """
        async with self.publisher(qos=qos) as publisher:
            await publisher.send(messages)
        return publisher.settled

    def subscribe(self, *filters: str, qos: int = 0) -> Subscription:
        """The messages of these topic filters: `async with bus.subscribe("a/#") as messages`.

        They come at this quality at most. Above QoS 0 a message is acknowledged when its reader
        comes back for the next one.
        """
        return Subscription(self._link, filters, qos)

    async def unsubscribe(self, *filters: str) -> None:
        """Gives up at the broker what an earlier subscription of this session has left there.

        With it go the messages that came for it. Filters that a subscription uses now stay.
        """
        await self._link.send(lambda: self._native.give_up(filters))

    async def ping(self) -> float:
        """The round trip to the broker in seconds, behind what was published before."""
        return await self._link.ping()

    @property
    def clock(self) -> Clock:
        """The broker's clock: `await bus.clock.measure()`, then `bus.clock.offset_ns`."""
        return self._clock

    def notices(self) -> Notices:
        """What others say to this node: `async with bus.notices() as notices`."""
        return Notices(self._link)

    async def notify(self, role: str, value: Value = b"", *, qos: int = 1) -> None:
        """Says something to every connected node of a role that reads notices.

        The role is `all`, `publishers`, `subscribers`, `brokers`, or `node/` and a client id. At
        QoS 1 this returns when the broker has passed it on. Raises PublishRefused where there were
        too many at once, or it is too large.
        """
        await self.publish(topic_of(role), value, qos=qos)

    async def close(self) -> None:
        """Sends what was accepted, says goodbye and ends the connection; twice is fine.

        Raises ConnectionLost if something that was accepted could not be sent.
        """
        self._native.close()
        end = await self._link.over()
        unsent, end.unsent_bytes = end.unsent_bytes, 0
        if end.cause and unsent:
            raise self._link.lost(f"{end.cause} ({unsent} accepted bytes were not sent)")

    async def __aenter__(self) -> "Bus":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            await self.close()
        else:
            # What went wrong in the block matters more than what could not be sent after it.
            with contextlib.suppress(ConnectionLost):
                await self.close()

    def __del__(self) -> None:
        if self._link.end is None:
            text = f"the bus to {self.url} was not closed"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)
            self._native.close()
