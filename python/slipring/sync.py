"""The client without asyncio: every call runs on one event loop, in a thread of its own.

Never decides anything itself. `slipring.client` documents the calls.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack

from slipring.client import bus as client_bus
from slipring.client import connecting
from slipring.client.chunks import Chunks as AsyncChunks
from slipring.client.losses import Loss
from slipring.client.notices import Notice
from slipring.client.payload import Value
from slipring.client.request_terms import RequestOptions
from slipring.client.serving import Handler
from slipring.client.serving import Service as AsyncService
from slipring.client.streams import StreamWriter as AsyncStreamWriter
from slipring.client.subscription import Subscription as AsyncSubscription
from slipring.model import (
    Answer,
    Chunk,
    ConnectionChange,
    Message,
    Parameter,
    Refusal,
    TableChange,
)

if TYPE_CHECKING:
    from slipring.client.declared import Declared as AsyncDeclared
    from slipring.client.selection import Selection as AsyncSelection
    from slipring.frames import Frame

Result = TypeVar("Result")
Item = TypeVar("Item")
Given = ParamSpec("Given")


@cache
def _loop(_process: int) -> asyncio.AbstractEventLoop:
    """The loop of this process; a forked one starts its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="slipring-sync", daemon=True).start()
    return loop


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a call on the loop. Ctrl-C, or any other exception here, cancels the call."""
    future = asyncio.run_coroutine_threadsafe(work, _loop(os.getpid()))
    try:
        return future.result()
    finally:
        future.cancel()


def _waiting(
    call: Callable[Concatenate[Any, Given], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Any, Given], Result]:
    """A method of the client as one that waits for its result."""

    @wraps(call)
    def run(self: Any, /, *args: Given.args, **options: Given.kwargs) -> Result:
        return _run(call(self._inner, *args, **options))

    return run


def connect(url: str = connecting.URL, **options: Any) -> "Bus":
    """Opens a connection, with the options of `slipring.connect`; for `with`, or to be closed."""

    async def opened() -> client_bus.Bus:
        return await connecting.connect(url, **options)

    return Bus(_run(opened()))


class Bus:
    """An open connection. Any thread may call; each call waits only for itself."""

    def __init__(self, inner: client_bus.Bus) -> None:
        self._inner = inner

    publish = _waiting(client_bus.Bus.publish)
    publish_many = _waiting(client_bus.Bus.publish_many)
    request = _waiting(client_bus.Bus.request)
    request_many = _waiting(client_bus.Bus.request_many)
    table = _waiting(client_bus.Bus.table)
    current = _waiting(client_bus.Bus.current)
    newest = _waiting(client_bus.Bus.newest)
    streams = _waiting(client_bus.Bus.streams)
    notify = _waiting(client_bus.Bus.notify)
    ping = _waiting(client_bus.Bus.ping)
    close = _waiting(client_bus.Bus.close)

    @property
    def url(self) -> str:
        """The broker's address."""
        return self._inner.url

    @property
    def client_id(self) -> str:
        """The name the broker knows this connection by."""
        return self._inner.client_id

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._inner.is_connected

    def changes(self) -> Iterator[ConnectionChange]:
        """What happens to the connection from now on; see `slipring.Bus.changes`."""
        return _all(_run(_called(self._inner.changes)))

    def subscribe(self, *filters: str, **options: Any) -> "Subscription":
        """The messages of these filters: `with bus.subscribe("a/#", qos=1) as messages`."""
        return Subscription(self._inner.subscribe(*filters, **options))

    def ask_parts(
        self, topic: str, value: Value = b"", **options: Unpack[RequestOptions]
    ) -> Iterator[Answer]:
        """Asks, and yields the parts and then the final answer; see `slipring.Bus.ask_parts`."""
        parts = _run(_called(lambda: self._inner.ask_parts(topic, value, **options)))
        try:
            yield from _all(parts)
        finally:
            # The garbage collector may do this in the loop's own thread, which must not wait.
            _loop(os.getpid()).call_soon_threadsafe(parts.close)

    def serve(
        self, topic_filter: str, handler: Handler, *, concurrency: int = 1, qos: int = 1
    ) -> "Service":
        """Answers requests: `with bus.serve("solver/#", solve): ...`; see `slipring.Bus.serve`.

        The handler runs in a thread of its own, and gets a `slipring.ThreadRequest`.
        """
        serve = partial(self._inner.serve, concurrency=concurrency, qos=qos)
        return Service(_run(_called(lambda: serve(topic_filter, handler))))

    def declare(
        self, prefix: str, parameters: Mapping[str, Parameter | str], **options: Any
    ) -> "Declared":
        """Declares parameters; see `slipring.Bus.declare`."""
        return Declared(_run(self._inner.declare(prefix, parameters, **options)))

    def select(self, *filters: str, **options: Any) -> "Selection":
        """Frames of parameters: `with bus.select("gripen/#", rate_hz=10) as frames`."""
        return Selection(_run(_called(lambda: self._inner.select(*filters, **options))))

    def declare_stream(self, name: str, **options: Any) -> "StreamWriter":
        """Declares a stream; see `slipring.Bus.declare_stream`."""
        return StreamWriter(_run(self._inner.declare_stream(name, **options)))

    def stream(self, *filters: str, newest: bool = False) -> "Chunks":
        """Chunks of streams: `with bus.stream("gripen/+/cockpit/sound") as chunks`."""
        return Chunks(_run(_called(lambda: self._inner.stream(*filters, newest=newest))))

    def table_changes(self) -> Iterator[TableChange]:
        """What happens to the table from now on; see `slipring.Bus.table_changes`."""
        return _all(_run(self._inner.table_changes()))

    def refusals(self) -> Iterator[Refusal]:
        """What the broker refuses from now on; see `slipring.Bus.refusals`."""
        return _all(_run(self._inner.refusals()))

    def notices(self) -> "Notices":
        """Notices to this node: `with bus.notices() as notices`."""
        return Notices(self._inner.notices())

    def losses(self) -> "Losses":
        """Stored messages of this client that were dropped: `with bus.losses() as losses`."""
        return Losses(self._inner.losses())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        _run(self._inner.__aexit__(*raised))


class _Reader(Generic[Item]):
    """Enter it, then iterate over it; iterating blocks."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def close(self) -> None:
        """Ends it, and every iteration over it in other threads."""
        _run(_called(self._inner.close))

    def __enter__(self) -> Self:
        _run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: Any) -> None:
        _run(self._inner.__aexit__(*raised))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        found: Item | None = _run(_next(self._inner))
        if found is None:
            raise StopIteration
        return found


class Subscription(_Reader[Message]):
    """What `Bus.subscribe` returns: enter it, then iterate over it."""

    _inner: AsyncSubscription

    def batches(self) -> Iterator[list[Message]]:
        """The same messages in lists of all that wait."""
        return _all(self._inner.batches())


class Selection(_Reader["Frame"]):
    """What `Bus.select` returns: enter it, then iterate over its frames."""

    _inner: "AsyncSelection"

    @property
    def missing(self) -> dict[str, str]:
        """Names that are not there, and why."""
        return self._inner.missing

    def frames(self) -> "Iterator[list[Frame]]":
        """The same frames in lists of all that wait."""
        return _all(self._inner.frames())

    def collect(self, seconds: float) -> "Frame":
        """All that arrives within this many seconds, as one frame."""
        return _run(self._inner.collect(seconds))


class Chunks(_Reader[Chunk]):
    """What `Bus.stream` returns: enter it, then iterate over its chunks."""

    _inner: AsyncChunks

    @property
    def lost(self) -> int:
        """How many chunks were missed so far."""
        return self._inner.lost


class Notices(_Reader[Notice]):
    """What `Bus.notices` returns: enter it, then iterate over it."""


class Losses(_Reader[Loss]):
    """What `Bus.losses` returns: enter it, then iterate over it."""


class Service:
    """What `Bus.serve` returns: enter it, and it answers until you leave."""

    def __init__(self, inner: AsyncService) -> None:
        self._inner = inner

    close = _waiting(AsyncService.close)
    forever = _waiting(AsyncService.forever)
    ended = _waiting(AsyncService.ended)

    @property
    def running(self) -> int:
        """How many requests it computes at this moment."""
        return self._inner.running

    def __enter__(self) -> Self:
        _run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: Any) -> None:
        _run(self._inner.__aexit__(*raised))


class StreamWriter:
    """What `Bus.declare_stream` returns."""

    def __init__(self, inner: AsyncStreamWriter) -> None:
        self._inner = inner
        self.name = inner.name
        self.index = inner.index

    write = _waiting(AsyncStreamWriter.write)
    remove = _waiting(AsyncStreamWriter.remove)

    def close(self) -> None:
        """Takes no more chunks; the stream stays declared."""
        self._inner.close()


class Declared:
    """What `Bus.declare` returns; all that `slipring.Declared` has is here too."""

    def __init__(self, inner: "AsyncDeclared") -> None:
        self._inner = inner
        # Writing never waits, and any thread may do it.
        self.write = inner.write
        self.sample = inner.sample
        self.write_row = inner.write_row
        self.write_rows = inner.write_rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def flush(self) -> None:
        """Sends what is gathered, and waits until it is written."""
        _run(self._inner.flush())

    def remove(self) -> None:
        """Removes the parameters from the table for everybody."""
        _run(self._inner.remove())

    def close(self) -> None:
        """Sends what is gathered and takes no more samples."""
        _run(self._inner.close())


async def _called(call: Callable[[], Result]) -> Result:
    """The result of a call that has to be made on the loop."""
    return call()


async def _next(source: AsyncIterator[Item]) -> Item | None:
    """StopIteration cannot pass through a future."""
    return await anext(source, None)


def _all(source: AsyncIterator[Item]) -> Iterator[Item]:
    while (found := _run(_next(source))) is not None:
        yield found
