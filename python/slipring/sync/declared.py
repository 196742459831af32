"""Parameters that this program publishes, without asyncio. Never waits to write."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from slipring.client.rows import Writable
from slipring.client.times import Given
from slipring.model import GOOD, Parameter, Quality
from slipring.sync.waiting import run

if TYPE_CHECKING:
    from slipring.client.declared import Declared as AsyncDeclared
    from slipring.client.declared import Qualities, Row
    from slipring.frames.arrays import Indices


class Declared:
    """What `Bus.declare` returns. Any thread may write; see `slipring.Declared`."""

    def __init__(self, inner: "AsyncDeclared") -> None:
        self._inner = inner

    def __repr__(self) -> str:
        return repr(self._inner)

    @property
    def prefix(self) -> str:
        """What the full names begin with."""
        return self._inner.prefix

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The definitions, in the order they were given."""
        return self._inner.parameters

    @property
    def names(self) -> tuple[str, ...]:
        """The names as they were given."""
        return self._inner.names

    @property
    def topics(self) -> tuple[str, ...]:
        """The full names."""
        return self._inner.topics

    @property
    def indices(self) -> "Indices":
        """Their indices in the broker's table, in the order of declaration."""
        return self._inner.indices

    @property
    def table(self) -> int:
        """The identity of the table that these indices are of."""
        return self._inner.table

    @property
    def unsent_bytes(self) -> int:
        """Bytes gathered and not sent."""
        return self._inner.unsent_bytes

    def write(
        self,
        values: Mapping[str, Writable],
        *,
        time_ns: int | None = None,
        quality: Quality = GOOD,
    ) -> None:
        """One sample of each of these names, all at one time, which is now if none is given."""
        self._inner.write(values, time_ns=time_ns, quality=quality)

    def sample(
        self, name: str, value: Writable, *, time_ns: int | None = None, quality: Quality = GOOD
    ) -> None:
        """One sample of one parameter; see `write`."""
        self._inner.sample(name, value, time_ns=time_ns, quality=quality)

    def write_row(
        self, values: "Row", *, time_ns: int | None = None, quality: "Qualities" = GOOD
    ) -> None:
        """A sample of every parameter at one time; see `slipring.Declared.write_row`."""
        self._inner.write_row(values, time_ns=time_ns, quality=quality)

    def write_rows(self, values: "Row", times_ns: "Given", *, quality: "Qualities" = GOOD) -> None:
        """Many rows: arrays of two dimensions, a row for each time."""
        self._inner.write_rows(values, times_ns, quality=quality)

    def flush(self) -> None:
        """Sends what is gathered, and waits until it is written."""
        run(self._inner.flush())

    def remove(self) -> None:
        """Removes the parameters from the table for everybody."""
        run(self._inner.remove())

    def close(self) -> None:
        """Sends what is gathered and takes no more samples."""
        run(self._inner.close())
