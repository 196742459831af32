"""An open connection without asyncio; `slipring.client` documents its calls."""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any, Self, Unpack

from slipring.client import bus as client_bus
from slipring.client.payload import Value
from slipring.client.request_terms import RequestOptions
from slipring.client.serving import Handler
from slipring.model import Answer, ConnectionChange, Refusal, TableChange
from slipring.sync.declared import Declared
from slipring.sync.readers import Chunks, Losses, Notices, Selection, Subscription
from slipring.sync.waiting import all_of, called, like_method, loop_of, run, waiting
from slipring.sync.writers import Clock, Publisher, Service, StreamWriter


class Bus:
    """An open connection. Any thread may call; each call waits only for itself."""

    def __init__(self, inner: client_bus.Bus) -> None:
        self._inner = inner

    @waiting(client_bus.Bus.publish)
    def publish(self) -> None: ...

    @waiting(client_bus.Bus.publish_many)
    def publish_many(self) -> None: ...

    @waiting(client_bus.Bus.request)
    def request(self) -> None: ...

    @waiting(client_bus.Bus.request_many)
    def request_many(self) -> None: ...

    @waiting(client_bus.Bus.unsubscribe)
    def unsubscribe(self) -> None: ...

    @waiting(client_bus.Bus.table)
    def table(self) -> None: ...

    @waiting(client_bus.Bus.remembered)
    def remembered(self) -> None: ...

    @waiting(client_bus.Bus.current)
    def current(self) -> None: ...

    @waiting(client_bus.Bus.newest)
    def newest(self) -> None: ...

    @waiting(client_bus.Bus.streams)
    def streams(self) -> None: ...

    @waiting(client_bus.Bus.notify)
    def notify(self) -> None: ...

    @waiting(client_bus.Bus.ping)
    def ping(self) -> None: ...

    @waiting(client_bus.Bus.close)
    def close(self) -> None: ...

    @property
    def url(self) -> str:
        """The broker's address."""
        return self._inner.url

    @property
    def client_id(self) -> str:
        """The name the broker knows this connection by."""
        return self._inner.client_id

    @property
    def session_present(self) -> bool:
        """Whether the broker had kept a session of this client when the bus was opened."""
        return self._inner.session_present

    @property
    def session_expiry_s(self) -> int:
        """How long the broker keeps the session without a connection; it may grant less."""
        return self._inner.session_expiry_s

    @property
    def unsent_bytes(self) -> int:
        """Bytes accepted by `publish` and not sent."""
        return self._inner.unsent_bytes

    @property
    def unread_bytes(self) -> int:
        """Bytes received and not fetched by a subscription."""
        return self._inner.unread_bytes

    @property
    def clock(self) -> Clock:
        """The broker's clock: `bus.clock.measure()`, then `bus.clock.offset_ns`."""
        return Clock(self._inner.clock)

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._inner.is_connected

    def changes(self) -> Iterator[ConnectionChange]:
        """What happens to the connection from now on; see `slipring.Bus.changes`."""
        return all_of(run(called(self._inner.changes)))

    def publisher(self, *, qos: int = 1) -> Publisher:
        """Messages in bulk: `with bus.publisher() as publisher: publisher.send(...)`."""
        return Publisher(self._inner.publisher(qos=qos))

    @like_method(client_bus.Bus.subscribe)
    def subscribe(self, *filters: Any, **options: Any) -> Subscription:
        """The messages of these filters: `with bus.subscribe("a/#", qos=1) as messages`."""
        return Subscription(self._inner.subscribe(*filters, **options))

    def ask_parts(
        self, topic: str, value: Value = b"", **options: Unpack[RequestOptions]
    ) -> Iterator[Answer]:
        """Asks, and yields the parts and then the final answer; see `slipring.Bus.ask_parts`."""
        parts = run(called(lambda: self._inner.ask_parts(topic, value, **options)))
        try:
            yield from all_of(parts)
        finally:
            # The garbage collector may do this in the loop's own thread, which must not wait.
            loop_of(os.getpid()).call_soon_threadsafe(parts.close)

    def serve(
        self, topic_filter: str, handler: Handler, *, concurrency: int = 1, qos: int = 1
    ) -> Service:
        """Answers requests: `with bus.serve("solver/#", solve): ...`; see `slipring.Bus.serve`.

        The handler runs in a thread of its own, and gets a `slipring.ThreadRequest`.
        """
        serve = partial(self._inner.serve, concurrency=concurrency, qos=qos)
        return Service(run(called(lambda: serve(topic_filter, handler))))

    @like_method(client_bus.Bus.declare)
    def declare(self, *args: Any, **options: Any) -> Declared:
        """Declares parameters; see `slipring.Bus.declare`."""
        return Declared(run(self._inner.declare(*args, **options)))

    @like_method(client_bus.Bus.select)
    def select(self, *filters: Any, **options: Any) -> Selection:
        """Frames of parameters: `with bus.select("gripen/#", rate_hz=10) as frames`."""
        return Selection(run(called(lambda: self._inner.select(*filters, **options))))

    @like_method(client_bus.Bus.declare_stream)
    def declare_stream(self, *args: Any, **options: Any) -> StreamWriter:
        """Declares a stream; see `slipring.Bus.declare_stream`."""
        return StreamWriter(run(self._inner.declare_stream(*args, **options)))

    def stream(self, *filters: str, newest: bool = False) -> Chunks:
        """Chunks of streams: `with bus.stream("gripen/+/cockpit/sound") as chunks`."""
        return Chunks(run(called(lambda: self._inner.stream(*filters, newest=newest))))

    def table_changes(self) -> Iterator[TableChange]:
        """What happens to the table from now on; see `slipring.Bus.table_changes`."""
        return all_of(run(self._inner.table_changes()))

    def refusals(self) -> Iterator[Refusal]:
        """What the broker refuses from now on; see `slipring.Bus.refusals`."""
        return all_of(run(self._inner.refusals()))

    def notices(self) -> Notices:
        """Notices to this node: `with bus.notices() as notices`."""
        return Notices(self._inner.notices())

    def losses(self) -> Losses:
        """Stored messages of this client that were dropped: `with bus.losses() as losses`."""
        return Losses(self._inner.losses())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        run(self._inner.__aexit__(*raised))
