"""What is entered and then iterated over; iterating blocks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from slipring.client.chunks import Chunks as AsyncChunks
from slipring.client.losses import Loss
from slipring.client.notices import Notice
from slipring.client.subscription import Subscription as AsyncSubscription
from slipring.model import Chunk, Message
from slipring.sync.waiting import all_of, called, next_of, run

if TYPE_CHECKING:
    from slipring.client.selection import Selection as AsyncSelection
    from slipring.frames import Frame

Item = TypeVar("Item")


class _Reader(Generic[Item]):
    """Enter it, then iterate over it; iterating blocks."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def close(self) -> None:
        """Ends it, and every iteration over it in other threads."""
        run(called(self._inner.close))

    def __enter__(self) -> Self:
        run(self._inner.__aenter__())
        return self

    def __exit__(self, *raised: Any) -> None:
        run(self._inner.__aexit__(*raised))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        found: Item | None = run(next_of(self._inner))
        if found is None:
            raise StopIteration
        return found


class Subscription(_Reader[Message]):
    """What `Bus.subscribe` returns: enter it, then iterate over it."""

    _inner: AsyncSubscription

    def unsubscribe(self) -> None:
        """Ends it, also at the broker for a session that goes on."""
        run(called(self._inner.unsubscribe))

    def batches(self) -> Iterator[list[Message]]:
        """The same messages in lists of all that wait."""
        return all_of(self._inner.batches())


class Selection(_Reader["Frame"]):
    """What `Bus.select` returns: enter it, then iterate over its frames."""

    _inner: "AsyncSelection"

    @property
    def missing(self) -> dict[str, str]:
        """Names that are not there, and why."""
        return self._inner.missing

    def frames(self) -> "Iterator[list[Frame]]":
        """The same frames in lists of all that wait."""
        return all_of(self._inner.frames())

    def collect(self, seconds: float) -> "Frame":
        """All that arrives within this many seconds, as one frame."""
        return run(self._inner.collect(seconds))


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
