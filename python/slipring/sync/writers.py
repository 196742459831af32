"""What sends: publishers, parameters, streams, services; and the clock of the broker."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from slipring.client.clock import Clock as AsyncClock
from slipring.client.publisher import Publisher as AsyncPublisher
from slipring.client.serving import Service as AsyncService
from slipring.client.streams import StreamWriter as AsyncStreamWriter
from slipring.sync.waiting import called, run, waiting

if TYPE_CHECKING:
    from slipring.client.declared import Declared as AsyncDeclared


class Publisher:
    """What `Bus.publisher` returns: enter it, then send. Leaving waits for the broker."""

    def __init__(self, inner: AsyncPublisher) -> None:
        self._inner = inner

    send = waiting(AsyncPublisher.send)
    send_columns = waiting(AsyncPublisher.send_columns)
    flush = waiting(AsyncPublisher.flush)

    @property
    def settled(self) -> int:
        """Messages up to the first that the broker has neither acknowledged nor refused."""
        return self._inner.settled

    @property
    def accepted(self) -> int:
        """Messages given, while it is open."""
        return self._inner.accepted

    @property
    def outstanding(self) -> int:
        """Messages that the broker has neither acknowledged nor refused, while it is open."""
        return self._inner.outstanding

    def __enter__(self) -> Self:
        run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: Any) -> None:
        run(self._inner.__aexit__(*raised))


class Clock:
    """What `Bus.clock` is: the broker's clock as this client knows it."""

    def __init__(self, inner: AsyncClock) -> None:
        self._inner = inner

    measure = waiting(AsyncClock.measure)
    refresh = waiting(AsyncClock.refresh)
    known = waiting(AsyncClock.known)

    @property
    def offset_ns(self) -> int | None:
        """The broker's clock minus this computer's; None before the first measurement."""
        return self._inner.offset_ns

    @property
    def uncertainty_ns(self) -> int | None:
        """How wrong `offset_ns` can be at most; it grows with time."""
        return self._inner.uncertainty_ns

    @property
    def round_trip_ns(self) -> int | None:
        """The quickest of the last round trips to the broker."""
        return self._inner.round_trip_ns

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Measures in the background for as long as the block runs."""
        keeping = self._inner.kept()
        run(called(keeping.__enter__))
        try:
            yield
        finally:
            run(called(lambda: keeping.__exit__(None, None, None)))


class Service:
    """What `Bus.serve` returns: enter it, and it answers until you leave."""

    def __init__(self, inner: AsyncService) -> None:
        self._inner = inner

    close = waiting(AsyncService.close)
    forever = waiting(AsyncService.forever)
    ended = waiting(AsyncService.ended)

    @property
    def running(self) -> int:
        """How many requests it computes at this moment."""
        return self._inner.running

    def __enter__(self) -> Self:
        run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: Any) -> None:
        run(self._inner.__aexit__(*raised))


class StreamWriter:
    """What `Bus.declare_stream` returns."""

    def __init__(self, inner: AsyncStreamWriter) -> None:
        self._inner = inner
        self.name = inner.name
        self.index = inner.index

    write = waiting(AsyncStreamWriter.write)
    remove = waiting(AsyncStreamWriter.remove)

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
        run(self._inner.flush())

    def remove(self) -> None:
        """Removes the parameters from the table for everybody."""
        run(self._inner.remove())

    def close(self) -> None:
        """Sends what is gathered and takes no more samples."""
        run(self._inner.close())
