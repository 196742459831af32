"""What sends: publishers, streams, services; and the clock of the broker. Waits, never decides."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from slipring.client.clock import Clock as AsyncClock
from slipring.client.publisher import Publisher as AsyncPublisher
from slipring.client.serving import Service as AsyncService
from slipring.client.streams import StreamWriter as AsyncStreamWriter
from slipring.sync.waiting import called, run, waiting


class Publisher:
    """What `Bus.publisher` returns: enter it, then send. Leaving waits for the broker."""

    def __init__(self, inner: AsyncPublisher) -> None:
        self._inner = inner

    @waiting(AsyncPublisher.send)
    def send(self) -> None: ...

    @waiting(AsyncPublisher.send_columns)
    def send_columns(self) -> None: ...

    @waiting(AsyncPublisher.flush)
    def flush(self) -> None: ...

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

    @waiting(AsyncClock.measure)
    def measure(self) -> None: ...

    @waiting(AsyncClock.refresh)
    def refresh(self) -> None: ...

    @waiting(AsyncClock.known)
    def known(self) -> None: ...

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
    def kept(self, tell: Callable[[int], None] | None = None) -> Iterator[None]:
        """Measures in the background for as long as the block runs; tells each offset found."""
        keeping = self._inner.kept(tell)
        run(called(keeping.__enter__))
        try:
            yield
        finally:
            run(called(lambda: keeping.__exit__(None, None, None)))


class Service:
    """What `Bus.serve` returns: enter it, and it answers until you leave."""

    def __init__(self, inner: AsyncService) -> None:
        self._inner = inner

    @waiting(AsyncService.close)
    def close(self) -> None: ...

    @waiting(AsyncService.forever)
    def forever(self) -> None: ...

    @waiting(AsyncService.ended)
    def ended(self) -> None: ...

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

    @property
    def name(self) -> str:
        """Its name."""
        return self._inner.name

    @property
    def index(self) -> int:
        """The stream's number at the broker; another one after the broker lost it."""
        return self._inner.index

    @waiting(AsyncStreamWriter.write)
    def write(self) -> None: ...

    @waiting(AsyncStreamWriter.remove)
    def remove(self) -> None: ...

    def close(self) -> None:
        """Takes no more chunks; the stream stays declared."""
        self._inner.close()
