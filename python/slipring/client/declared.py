"""Parameters that this client publishes: declared together, written together."""

import asyncio
import contextlib
import logging
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from slipring.client.declaration import Declaration, DeclaredParameter, GrantedDeclaration
from slipring.client.rows import Writable, by_kind, byte_of, encoded, qualities_of, scalar
from slipring.client.times import Given, doubt, time_of, times_of
from slipring.errors import ConnectionLost, DeclareRefused, FrameError, Refused
from slipring.frames.arrays import Indices, Octets
from slipring.model import GOOD, Parameter, Quality, Refusal
from slipring.model.nearest import nearest_name
from slipring.native import Writer

if TYPE_CHECKING:
    from slipring.client.parameters import Parameters

Row = Any
"""An array of numbers, or anything numpy converts to one; for several types a dict by type."""
NEVER_SENT = {0x95, 0x9B}
"""Reason codes that this client gives itself: the frame is too large, or its QoS too high."""
Qualities = Quality | Octets | Mapping[str, Octets]

log: logging.Logger = logging.getLogger("slipring.client")


class FrameOptions(NamedTuple):
    """How frames are sent."""

    beat_ms: int
    qos: int
    deflate: bool


class Declared:
    """What `Bus.declare` returns. Samples are gathered and sent as a frame at each beat.

    Writing returns at once. It is declared again by itself on every new connection; meanwhile
    samples are kept, up to 16 MiB.
    """

    def __init__(self, desk: "Parameters", declaration: Declaration, options: FrameOptions) -> None:
        self._desk = desk
        self._declaration = declaration
        self._options = options
        self._granted: GrantedDeclaration | None = None
        self._writer: Writer | None = None
        self._failure: DeclareRefused | None = None
        self._has_doubted = False
        """Whether a time that is probably in another unit was logged."""

    def __repr__(self) -> str:
        return f"<Declared {len(self.names)} parameters below {self.prefix!r}>"

    @property
    def prefix(self) -> str:
        """What the full names begin with."""
        return self._declaration.prefix

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """The definitions, in the order they were given."""
        return self._declaration.parameters

    @property
    def names(self) -> tuple[str, ...]:
        """The names as they were given."""
        return tuple(self._declaration.parameters)

    @property
    def topics(self) -> tuple[str, ...]:
        """The full names."""
        return self._declaration.topics

    @property
    def indices(self) -> Indices:
        """Their indices in the broker's table, in the order of declaration."""
        assert self._granted is not None
        return self._granted.indices

    @property
    def table(self) -> int:
        """The identity of the table that these indices are of."""
        assert self._granted is not None
        return self._granted.table

    @property
    def unsent_bytes(self) -> int:
        """Bytes gathered and not sent."""
        return 0 if self._writer is None else self._writer.unsent_bytes

    def write(
        self,
        values: Mapping[str, Writable],
        *,
        time_ns: int | None = None,
        quality: Quality = GOOD,
    ) -> None:
        """One sample of each of these names, all at one time, which is now if none is given.

        The value of an enumeration is its number or its label. Raises Refused when 16 MiB wait
        (`await flush()` makes room), FrameError for a value of another type, DeclareRefused if it
        could not be declared again, ConnectionLost after it was closed.
        """
        writer, byte = self._open_writer(), byte_of(quality)
        rows = [(*self._taken(name, value), byte) for name, value in values.items()]
        try:
            self._accept(writer.samples(rows, self._time(time_ns)))
        except FrameError as error:
            raise FrameError(self._with_name(str(error), values)) from None

    def sample(
        self, name: str, value: Writable, *, time_ns: int | None = None, quality: Quality = GOOD
    ) -> None:
        """One sample of one parameter; see `write`."""
        self.write({name: value}, time_ns=time_ns, quality=quality)

    def write_row(
        self, values: Row, *, time_ns: int | None = None, quality: Qualities = GOOD
    ) -> None:
        """A sample of every parameter at one time: an array in the order they were declared in.

        Where several types are declared, a dict has an array for each: `{"f64": ..., "bool": ...}`,
        again in the order of declaration. Nothing happens in Python for a single sample. A quality
        for each is an array of bytes (`Quality.byte`), for several types again a dict.
        """
        writer, time_of_row = self._open_writer(), self._time(time_ns)
        for kind, indices, octets, byte in self._encoded(values, quality, None):
            self._accept(writer.row(kind, indices, time_of_row, octets, byte))

    def write_rows(self, values: Row, times_ns: Given, *, quality: Qualities = GOOD) -> None:
        """Many rows: arrays of two dimensions, a row for each time.

        Times are whole numbers, or dates (datetime64) of numpy or pandas in any unit.
        """
        writer, times = self._open_writer(), times_of(times_ns)
        if len(times):
            self._doubt(int(times[0]))
        for kind, indices, octets, byte in self._encoded(values, quality, len(times)):
            self._accept(writer.grid(kind, indices, times, octets, byte))

    async def flush(self) -> None:
        """Sends what is gathered; waits until it is written and, at QoS 1, acknowledged."""
        await self._desk.connection.flushed(self._open_writer().flush())

    async def remove(self) -> None:
        """Removes the parameters from the table for everybody; nobody else gets their indices.

        Raises RequestFailed for one that another client publishes too; it stays.
        """
        await self.close()
        await self._desk.remove(self.topics)

    async def close(self) -> None:
        """Sends what is gathered and takes no more samples; closing twice is fine.

        The parameters stay in the table; they go stale when the bus is closed. Raises
        ConnectionLost if samples could not be sent.
        """
        if unsent := await self.finish():
            text = f"{unsent} bytes of samples below {self.prefix!r} were not sent"
            raise self._desk.connection.lost(text)

    async def finish(self, timeout_s: float | None = None) -> int:
        """Closes it, within this time; returns how many bytes of samples were not sent."""
        self._desk.forget(self)
        writer, self._writer = self._writer, None
        if writer is None:
            return 0
        with contextlib.suppress(ConnectionLost, TimeoutError):
            async with asyncio.timeout(timeout_s):
                if self._desk.connection.is_open:
                    await self._desk.connection.flushed(writer.close())
        self._desk.connection.unwatch(writer.identity)
        return writer.unsent_bytes

    def set_skew(self, offset_ns: int) -> None:
        """Frames say from now on how far the broker's clock is ahead of this computer's."""
        if self._writer is not None:
            self._writer.set_skew(offset_ns)

    async def declare(self) -> None:
        """Asks the broker for the indices; again on each connection. Raises DeclareRefused."""
        try:
            connection, granted = await self._desk.on_one_connection(
                lambda: self._declaration.ask(self._desk)
            )
        except DeclareRefused as refused:
            self._failure = refused
            raise
        self._granted, self._failure = granted, None
        if self._writer is None:
            topic = self.prefix or self.topics[0]
            native = self._desk.connection.native
            self._writer = native.writer(
                topic, granted.table, connection, **self._options._asdict()
            )
            self._desk.connection.watch(self._writer.identity, self._on_refused)
        else:
            self._writer.resume(granted.table, connection)

    def _on_refused(self) -> None:
        """Reports frames that were never sent; the broker itself reports those that it refused."""
        refused = None if self._writer is None else self._writer.refused
        if refused is not None and refused[1] in NEVER_SENT:
            self._desk.tell_refusal(Refusal(self.prefix, "not_sent", refused[2], 1))

    def _encoded(
        self, values: Row, quality: Qualities, rows: int | None
    ) -> list[tuple[int, Indices, Any, int | Octets]]:
        """What the writer takes, for each kind. All is checked before anything is written."""
        assert self._granted is not None
        all_columns, made = self._granted.columns, []
        for kind, some in by_kind(values, all_columns).items():
            columns = all_columns[kind]
            mine = quality[kind.word] if isinstance(quality, Mapping) else quality
            bytes_of = qualities_of(columns, mine, rows)
            made.append((int(kind), columns.indices, encoded(columns, some, rows), bytes_of))
        return made

    def _taken(self, name: str, value: Writable) -> tuple[int, int, Writable]:
        found = self._declared(name)
        return found.number, int(found.kind), scalar(found.parameter, value)

    def _declared(self, name: str) -> DeclaredParameter:
        assert self._granted is not None
        try:
            return self._granted.parameters[name]
        except KeyError:
            short = name.removeprefix(f"{self.prefix}/")
            hint = ""
            if short in self.parameters:
                hint = f"; without its prefix it is {short!r}"
            elif near := nearest_name(name, self.parameters):
                hint = f"; did you mean {near!r}?"
            raise KeyError(f"{name!r} is not declared here{hint}") from None

    def _time(self, given: int | None) -> int:
        time_ns = time_of(given)
        self._doubt(time_ns)
        return time_ns

    def _doubt(self, time_ns: int) -> None:
        """Warns once of a time in another unit: the broker takes it, as a sample decades old."""
        if not self._has_doubted and (words := doubt(time_ns)):
            self._has_doubted = True
            log.warning("below %r %s; give nanoseconds, as time.time_ns() does", self.prefix, words)

    def _with_name(self, text: str, names: Iterable[str]) -> str:
        """The native writer's error with the name of the parameter instead of its index."""
        for name in names:
            text = re.sub(rf"for index {self._declared(name).number}$", f"for {name!r}", text)
        return text

    def _open_writer(self) -> Writer:
        if self._failure is not None:
            raise self._failure
        if self._writer is None:
            raise ConnectionLost(f"the parameters below {self.prefix!r} are closed")
        return self._writer

    def _accept(self, is_taken: bool) -> None:
        if not is_taken:
            raise Refused(
                f"the samples below {self.prefix!r} that wait to be sent have reached their bound; "
                "write less often, or `await flush()`"
            )
