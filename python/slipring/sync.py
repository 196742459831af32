"""The client without asyncio: every call delegates to one event loop, in a thread of its own.

Never decides anything itself. What can be said about a call is said in `slipring.client`.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from slipring.client import bus as client_bus
from slipring.client import connecting
from slipring.client.chunks import Chunks as AsyncChunks
from slipring.client.payload import Value
from slipring.client.publisher import Row
from slipring.client.streams import StreamWriter as AsyncStreamWriter
from slipring.client.subscription import Subscription as AsyncSubscription
from slipring.model import Chunk, Message, Parameter, Sample, Stream

if TYPE_CHECKING:
    from slipring.client.declared import Declared as AsyncDeclared
    from slipring.client.selection import Selection as AsyncSelection
    from slipring.frames import Frame, Table

Result = TypeVar("Result")
Item = TypeVar("Item")


@cache
def _loop(_process: int) -> asyncio.AbstractEventLoop:
    """The loop of this process; a forked one starts its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="slipring-sync", daemon=True).start()
    return loop


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a call on the loop. Ctrl-C cancels the call, and waits until it has ended."""
    future = asyncio.run_coroutine_threadsafe(work, _loop(os.getpid()))
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


def connect(url: str = connecting.URL, **options: Any) -> "Bus":
    """Opens a connection, with the options of `slipring.connect`; for `with`, or to be closed."""

    async def opened() -> client_bus.Bus:
        return await connecting.connect(url, **options)

    return Bus(_run(opened()))


class Bus:
    """An open connection. Calls may come from any thread; each waits for its own end only."""

    def __init__(self, bus: client_bus.Bus) -> None:
        self._bus = bus

    @property
    def url(self) -> str:
        """The broker's address."""
        return self._bus.url

    @property
    def client_id(self) -> str:
        """The name the broker knows this connection by."""
        return self._bus.client_id

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._bus.is_connected

    def publish(self, topic: str, value: Value = b"", **options: Any) -> None:
        """Publishes a message; see `slipring.Bus.publish`."""
        _run(self._bus.publish(topic, value, **options))

    def publish_many(self, messages: Iterable[Row], *, qos: int = 1) -> int:
        """Publishes messages and waits for the broker; see `slipring.Bus.publish_many`."""
        return _run(self._bus.publish_many(messages, qos=qos))

    def subscribe(self, *filters: str, qos: int = 0) -> "Subscription":
        """The messages of these filters: `with bus.subscribe("a/#") as messages`."""
        return Subscription(self._bus.subscribe(*filters, qos=qos))

    def declare(
        self, prefix: str, parameters: Mapping[str, Parameter], **options: Any
    ) -> "Declared":
        """Declares parameters; see `slipring.Bus.declare`."""
        return Declared(_run(self._bus.declare(prefix, parameters, **options)))

    def select(self, *filters: str, **options: Any) -> "Selection":
        """Frames of parameters: `with bus.select("gripen/#", rate_hz=10) as frames`."""

        async def made() -> "AsyncSelection":
            return self._bus.select(*filters, **options)

        return Selection(_run(made()))

    def declare_stream(self, name: str, **options: Any) -> "StreamWriter":
        """Declares a stream; see `slipring.Bus.declare_stream`."""
        return StreamWriter(_run(self._bus.declare_stream(name, **options)))

    def streams(self, chosen: str = "#") -> list[Stream]:
        """The streams that this filter matches; see `slipring.Bus.streams`."""
        return _run(self._bus.streams(chosen))

    def stream(self, *filters: str, newest: bool = False) -> "Chunks":
        """Chunks of streams: `with bus.stream("gripen/+/cockpit/sound") as chunks`."""

        async def made() -> AsyncChunks:
            return self._bus.stream(*filters, newest=newest)

        return Chunks(_run(made()))

    def table(self) -> "Table":
        """The parameters of the broker; see `slipring.Bus.table`."""
        return _run(self._bus.table())

    def current(self, names: Iterable[str] | str = "#") -> dict[str, Sample]:
        """The current samples; see `slipring.Bus.current`."""
        return _run(self._bus.current(names))

    def ping(self) -> float:
        """The round trip to the broker in seconds."""
        return _run(self._bus.ping())

    def close(self) -> None:
        """Sends what was accepted, and ends the connection; twice is fine."""
        _run(self._bus.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _run(self._bus.__aexit__(kind, error, trace))


class _Reader(Generic[Item]):
    """Something to enter and to iterate over; iterating blocks."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def close(self) -> None:
        """Ends it, and whoever iterates over it in another thread."""

        async def closed() -> None:
            self._inner.close()

        _run(closed())

    def __enter__(self) -> Self:
        _run(self._inner.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _run(self._inner.__aexit__(kind, error, trace))

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
        """The same messages in lists of what is there."""
        return _all(self._inner.batches())


class Selection(_Reader["Frame"]):
    """What `Bus.select` returns: enter it, then iterate over its frames."""

    _inner: "AsyncSelection"

    @property
    def missing(self) -> dict[str, str]:
        """Names that are not there, and why."""
        return self._inner.missing

    def frames(self) -> "Iterator[list[Frame]]":
        """The same frames in lists of what is there."""
        return _all(self._inner.frames())


class Chunks(_Reader[Chunk]):
    """What `Bus.stream` returns: enter it, then iterate over its chunks."""

    _inner: AsyncChunks

    @property
    def lost(self) -> int:
        """How many chunks were missed so far."""
        return self._inner.lost


class StreamWriter:
    """What `Bus.declare_stream` returns."""

    def __init__(self, inner: AsyncStreamWriter) -> None:
        self._inner = inner
        self.name = inner.name
        self.index = inner.index

    def write(self, chunk: bytes, *, time_ns: int | None = None) -> None:
        """Sends a chunk; see `slipring.StreamWriter.write`."""
        _run(self._inner.write(chunk, time_ns=time_ns))

    def remove(self) -> None:
        """Takes the stream out, for everybody."""
        _run(self._inner.remove())

    def close(self) -> None:
        """Takes nothing more; the stream stays declared."""
        self._inner.close()


class Declared:
    """What `Bus.declare` returns; all that `slipring.Declared` has is here too."""

    def __init__(self, inner: "AsyncDeclared") -> None:
        self._inner = inner
        # Writing never waits, and is fit for any thread.
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
        """Takes the parameters out of the table, for everybody."""
        _run(self._inner.remove())

    def close(self) -> None:
        """Sends what is gathered and takes nothing more."""
        _run(self._inner.close())


async def _next(source: AsyncIterator[Item]) -> Item | None:
    """StopIteration cannot pass through a future."""
    return await anext(source, None)


def _all(source: AsyncIterator[Item]) -> Iterator[Item]:
    while (found := _run(_next(source))) is not None:
        yield found
