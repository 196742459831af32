"""A connection to a broker: publish, subscribe, declare, select. Belongs to one event loop.

Modules that need numpy are imported when they are used: a program without them starts quickly.
"""

import asyncio
import contextlib
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from slipring.client.changes import Changes
from slipring.client.chunks import Chunks
from slipring.client.clock import Clock
from slipring.client.connection import ClientConnection
from slipring.client.granted import GrantedTerms
from slipring.client.hearing import HearingFace
from slipring.client.notices import topic_of
from slipring.client.payload import Value, encode
from slipring.client.publisher import Publisher, Row
from slipring.client.request_face import RequestFace
from slipring.client.streams import Streams, StreamWriter
from slipring.client.subscription import Subscription
from slipring.errors import ConnectionLost
from slipring.model import ConnectionChange, Entry, Parameter, Refusal, Sample, Stream, TableChange

if TYPE_CHECKING:
    from slipring.client.declared import Declared
    from slipring.client.parameters import Parameters
    from slipring.client.selection import Selection
    from slipring.frames.table import Table

PUBLISHED_PER_TURN = 256
"""Messages published before other tasks of the loop get a turn."""

NOTHING_GIVEN = (None, None, None, None)
"""No content type, response topic, correlation data or expiry."""


class Bus(HearingFace, RequestFace):
    """An open connection. `slipring.connect` makes one."""

    def __init__(self, connection: ClientConnection, terms: GrantedTerms) -> None:
        self._connection = connection
        self._native = connection.native
        self._terms = terms
        self._published = 0
        self._is_closed = False
        self._parameters: Parameters | None = None
        self._streams: Streams | None = None
        self._clock = Clock(lambda timeout_s: connection.ask("ping", b"", timeout_s))

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
        return self._connection.is_open

    def changes(self) -> Changes[ConnectionChange]:
        """What happens to the connection from now on: `async for change in bus.changes()`."""
        return self._connection.changes()

    @property
    def unsent_bytes(self) -> int:
        """Bytes accepted by `publish` and not sent."""
        return self._native.unsent_bytes

    @property
    def unread_bytes(self) -> int:
        """Bytes received and not fetched by a subscription."""
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
        the broker refuses it.

        Text is sent as UTF-8, numbers and truth values as text (`12034.5`, `true`), bytes as they
        are. Raises InvalidTopic, Refused, or ConnectionLost.
        """
        payload = value if type(value) is bytes else encode(value)
        given = (content_type, response_topic, correlation_data, expiry_s)
        details = None
        if properties or given != NOTHING_GIVEN:
            details = (list(properties.items()) if properties else [], *given)
        identity = self._native.publish(topic, payload, qos, retain, details)
        if identity is None:
            identity = await self._connection.send(
                lambda: self._native.publish(topic, payload, qos, retain, details)
            )
        if qos:
            await self._connection.acknowledged(identity)
            return
        self._published += 1
        if self._published % PUBLISHED_PER_TURN == 0:
            await asyncio.sleep(0)

    def publisher(self, *, qos: int = 1) -> Publisher:
        """Messages in bulk: `async with bus.publisher() as publisher: await publisher.send(...)`.

        Keeps as many in flight as the broker takes; leaving the block waits for the broker to
        acknowledge them all.
        """
        return Publisher(self._connection, qos)

    async def publish_many(self, messages: Iterable[Row], *, qos: int = 1) -> int:
        """Publishes messages, and returns how many, once the broker has acknowledged them all.

        A message is a `Message`, or a tuple of its first fields: (topic, payload). Raises
        PublishRefused, whose `index` is that of the first message that the broker refused; later
        ones may have been accepted.
        """
        async with self.publisher(qos=qos) as publisher:
            await publisher.send(messages)
        return publisher.settled

    def subscribe(
        self, *filters: str, qos: int = 0, properties: Mapping[str, str] | None = None
    ) -> Subscription:
        """The messages of these topic filters: `async with bus.subscribe("a/#") as messages`.

        They come at this QoS at most. Above QoS 0 a message is acknowledged when its reader comes
        back for the next one. Properties are sent to the broker: with `deliver`, `rate` or another
        need, a Slipring broker sends samples of parameters, and nothing else.
        """
        return Subscription(self._connection, filters, qos, tuple((properties or {}).items()))

    async def unsubscribe(self, *filters: str) -> None:
        """Unsubscribes from filters that an earlier program of this session left at the broker.

        Messages that came for them are dropped. Filters that a subscription uses now stay.
        """
        await self._connection.send(lambda: self._native.give_up(filters))

    async def declare(
        self,
        prefix: str,
        parameters: Mapping[str, Parameter | str],
        *,
        beat_ms: int = 20,
        qos: int = 0,
        deflate: bool = False,
    ) -> "Declared":
        """Declares parameters below a prefix, to write samples of them.

        `engine = await bus.declare("gripen/39-7/engine", {"rpm": Parameter("f64", unit="1/min")})`,
        or with a type alone, `{"rpm": "f64"}`.

        The broker accepts all or none: raises DeclareRefused, whose `problems` name every parameter
        that it refuses, such as one that is declared with another type or unit. Samples are
        gathered for `beat_ms` (0 sends at once) and sent as one frame, compressed with `deflate`.
        """
        from slipring.client.declaration import Declaration
        from slipring.client.declared import FrameOptions

        declaration = Declaration(prefix, parameters)
        return await self._table_desk().declare(declaration, FrameOptions(beat_ms, qos, deflate))

    def select(
        self,
        *filters: str,
        names: Iterable[str] | str | None = None,
        rate_hz: float | None = None,
        deadband: float | str | None = None,
        change: bool = False,
        beat_ms: int | None = None,
    ) -> "Selection":
        """Frames of parameters: `async with bus.select("gripen/#", rate_hz=10) as frames`.

        Chooses by filters, or by a list of names; names that are not there are in the selection's
        `missing`. With `rate_hz` the newest samples at that rate, else every sample, gathered for
        `beat_ms`. With `deadband` (`0.5` or `"2%"`) only numbers that moved further than that, with
        `change` only values that differ from those before. The current values come first.
        """
        from slipring.client.choice import ParameterChoice
        from slipring.client.needs import Needs
        from slipring.client.selection import Selection

        needs = Needs(rate_hz=rate_hz, deadband=deadband, change=change, beat_ms=beat_ms)
        return Selection(self._table_desk(), ParameterChoice(filters, names), needs)

    async def table(self) -> "Table":
        """The parameters of the broker, by name and index; kept up to date by itself."""
        return await self._table_desk().table()

    async def remembered(self) -> tuple[int, list[Entry]]:
        """The table's identity, and its parameters with those that were removed, by index.

        Frames in the journal may be about any of them. A name may be there several times.
        """
        found = await self._table_desk().mirror.remembered()
        return found.identity, found.entries

    async def table_changes(self) -> Changes[TableChange]:
        """Changes of the table from now on: `async for change in await bus.table_changes()`."""
        await self._table_desk().table()
        return self._table_desk().mirror.changes()

    async def current(self, names: Iterable[str] | str = "#") -> dict[str, Sample]:
        """The current samples of these names, or of what a filter matches.

        A parameter that never had a sample is not among them.
        """
        from slipring.client.choice import ParameterChoice

        return await self._table_desk().current(
            ParameterChoice([names], None) if isinstance(names, str) else ParameterChoice([], names)
        )

    async def newest(self, name: str) -> Sample:
        """The current sample of one parameter; raises KeyError that says why there is none."""
        return await self._table_desk().newest(name)

    async def refusals(self) -> Changes[Refusal]:
        """What the broker refuses of this client's samples from now on; also in the log."""
        return await self._table_desk().refusals()

    async def declare_stream(
        self,
        name: str,
        *,
        media: str,
        description: str | None = None,
        buffer_bytes: int | None = None,
        source: str | None = None,
        qos: int = 0,
    ) -> StreamWriter:
        """Declares a stream, to write chunks of bytes into it: `await writer.write(chunk)`.

        The broker keeps the last `buffer_bytes` of it (by default 1 MiB) for later readers. Raises
        DeclareRefused.
        """
        said = {"description": description, "buffer_bytes": buffer_bytes, "source": source}
        given = {key: value for key, value in said.items() if value is not None}
        return await self._stream_desk().declare(name, {"name": name, "media": media, **given}, qos)

    async def streams(self, chosen: str = "#") -> list[Stream]:
        """The streams whose names this filter matches."""
        return await self._stream_desk().list(chosen)

    def stream(self, *filters: str, newest: bool = False) -> Chunks:
        """Chunks of streams: `async with bus.stream("gripen/+/cockpit/sound") as chunks`.

        Chunks that the broker keeps come first; with `newest`, only those from now on.
        """
        return Chunks(self._connection, filters, newest=newest)

    async def ping(self) -> float:
        """The round trip to the broker in seconds; waits behind what was published before."""
        return await self._connection.ping()

    @property
    def clock(self) -> Clock:
        """The broker's clock: `await bus.clock.measure()`, then `bus.clock.offset_ns`."""
        return self._clock

    async def notify(self, role: str, value: Value = b"", *, qos: int = 1) -> None:
        """Sends a notice to every connected node of a role that reads notices.

        The role is `all`, `publishers`, `subscribers`, `brokers`, or `node/` and a client id.
        Raises PublishRefused if there were too many at once, or it is too large.
        """
        await self.publish(topic_of(role), value, qos=qos)

    async def close(self) -> None:
        """Sends what was accepted, then ends the connection; closing twice is fine.

        Raises ConnectionLost if something that was accepted could not be sent.
        """
        self._is_closed, samples = True, 0
        try:
            await self._connection.asking.close()
            if self._parameters is not None:
                samples = await self._parameters.close()
        finally:
            if self._streams is not None:
                self._streams.close()
            self._native.close()
        end = await self._connection.over()
        unsent, end.unsent_bytes = end.unsent_bytes + samples, 0
        if unsent and (end.cause or samples):
            cause = end.cause or "it was closed meanwhile"
            raise self._connection.lost(f"{cause} ({unsent} accepted bytes were not sent)")

    def _stream_desk(self) -> Streams:
        if self._streams is None:
            self._streams = Streams(self._connection)
        return self._streams

    def _table_desk(self) -> "Parameters":
        if self._parameters is None:
            from slipring.client.parameters import Parameters

            self._parameters = Parameters(self._connection, self.clock)
        return self._parameters

    async def __aenter__(self) -> "Bus":
        return self

    async def __aexit__(self, _: object, error: BaseException | None, *__: object) -> None:
        if error is None:
            await self.close()
        else:
            # The error of the block matters more than what could not be sent after it.
            with contextlib.suppress(ConnectionLost):
                await self.close()

    def __del__(self) -> None:
        if not self._is_closed and self._connection.end is None:
            text = f"the bus to {self.url} was not closed"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)
            self._native.close()
