"""The samples of a journal as Arrow record batches: a row for each, decoded in Rust (D1)."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa

from slipring.errors import JournalDamaged
from slipring.journal.columns import record_batch
from slipring.journal.known_parameters import KnownParameters
from slipring.journal.location import Journal, JournalBroker, OpenJournal, broker_of
from slipring.journal.native_columns import NativeColumn, arrow_array
from slipring.journal.undamaged import undamaged
from slipring.native import Buffer, JournalColumns, SampleDecoder

_TIME = pa.timestamp("us", tz="UTC")

SCHEMA = pa.schema(
    [
        pa.field("parameter", pa.string(), nullable=False),
        pa.field("index", pa.int32(), nullable=False),
        pa.field("source_time", _TIME, nullable=False),
        pa.field("source_ns", pa.int64(), nullable=False),
        pa.field("receive_time", _TIME, nullable=False),
        pa.field("receive_ns", pa.int64(), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("integer", pa.decimal128(20, 0)),
        pa.field("text", pa.string()),
        pa.field("bytes", pa.binary()),
        pa.field("quality", pa.int16(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("unit", pa.string()),
        pa.field("offset", pa.int64(), nullable=False),
    ]
)
COLUMNS: tuple[str, ...] = tuple(SCHEMA.names)

# What one read of the journal holds: a frame is never divided.
READ_BYTES = 4 << 20
FILE_COLUMNS = ("value", "integer", "text", "bytes", "quality")
"""What is decoded for files; all other columns follow from parameters and messages."""
BATCH_ROWS_MAX = 65_536
"""Rows of one batch for Spark."""


class SetAside(NamedTuple):
    """A message, or some of its samples, that could not be decoded."""

    offset: int
    receive_ns: int
    publisher: str
    topic: str
    payload: bytes
    reason: str


class SampleFile(NamedTuple):
    """Samples of one day of receive time as a Parquet file, with the journal as first column."""

    day: int
    """Since 1970, UTC."""
    rows: int
    content: Buffer
    few: dict[str, tuple[str | None, str | None, int]]
    """The first and the last text, and the rows without one: of kinds, and of units."""


@dataclass(frozen=True)
class SampleRequest:
    """Which samples, and which columns of them. No filter means every parameter."""

    columns: tuple[str, ...] = COLUMNS
    filters: tuple[str, ...] = ()
    """MQTT filters on the names of parameters."""
    source_ns: tuple[int, int] | None = None
    """The first source time, and the first one that is too late."""

    def selection(self, known: KnownParameters) -> dict[str, object]:
        """The same for the decoder."""
        return {"parameters": known.chosen(self.filters), "source_ns": self.source_ns}


# What this process knows of each journal's parameters, so that a worker reads them once. By who
# reads them, too: a broker names those that this user may read, and no others.
_known: dict[tuple[str, JournalBroker | None], KnownParameters] = {}
# When definitions were read again although their edition was the same, in seconds.
_looked_s: dict[tuple[str, JournalBroker | None], float] = {}
LOOK_S = 1.0
"""Between two such readings; a frame of parameters that are forgotten would cause one each time."""


@dataclass
class JournalSamples:
    """Reads the samples of a range, and notes what could not be decoded."""

    journal: Journal
    request: SampleRequest = SampleRequest()
    rows_max: int = BATCH_ROWS_MAX
    """About the rows that are decoded at once; the last frame may add some thousands."""
    set_aside: list[SetAside] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reader: OpenJournal = self.journal.open()
        self._identity = self.journal.identity
        self._reads = (self._identity, broker_of(self.journal.location))
        if self._reads not in _known:
            _known[self._reads] = KnownParameters.of(self._reader)
        self.known: KnownParameters = _known[self._reads]
        """The parameters that the decoder knows."""
        self._decoder = SampleDecoder(
            self.known.json,
            self.request.selection(self.known),
            list(self.request.columns),
            self.rows_max,
        )

    def batches(self, start: int, end: int, *, as_text: bool = True) -> Iterator[pa.RecordBatch]:
        """The samples of the offsets [start, end) as they came.

        Names, types and units are texts, or dictionaries without `as_text`.
        """
        for _ in self._decoded(start, end):
            rows, columns = self._decoder.take(False)
            whole = self._batch(rows, columns, as_text=as_text)
            for first in range(0, rows, BATCH_ROWS_MAX):
                yield whole.slice(first, BATCH_ROWS_MAX)

    def sorted_batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The samples sorted by parameter and source time, with texts as dictionaries."""
        for _ in self._decoded(start, end):
            rows, columns = self._decoder.take(True)
            yield self._batch(rows, columns, as_text=False)

    def files(
        self, start: int, end: int, *, group_rows: int, page_rows: int, level: int
    ) -> Iterator[SampleFile]:
        """The samples sorted by parameter and source time, as Parquet files of one day each."""
        for _ in self._decoded(start, end):
            for found in self._decoder.take_files(self._identity, group_rows, page_rows, level):
                yield SampleFile(*found)

    def rollup_columns(
        self, start: int, end: int, window_ns: int
    ) -> Iterator[tuple[int, Mapping[str, NativeColumn]]]:
        """The samples summed up by parameter and window: rows, and columns as Rust names them."""
        for _ in self._decoded(start, end):
            yield self._decoder.take_rollup(window_ns)

    def _decoded(self, start: int, end: int) -> Iterator[None]:
        """Decode the messages of a range; stops whenever samples are to be taken."""
        reads = undamaged(self._reader, start, end, READ_BYTES, on_damage=self._note_damage)
        for begin, messages in reads:
            yield from self._decode(messages, begin)
        if self._decoder.rows:
            yield

    def _decode(self, messages: JournalColumns, start: int) -> Iterator[None]:
        # Asked whatever topics the decoder knows: a parameter may be newer than that.
        sampled = self._sampled(start, messages.end)
        at, set_aside, has_asked = 0, False, False
        while at < len(messages):
            at, is_unknown = self._decoder.decode(messages, sampled, at, set_aside)
            if is_unknown:
                # The definitions are newer than these messages, so that asking once is enough.
                set_aside = has_asked or not self._learn()
                has_asked = True
            elif self._decoder.is_full:
                yield
        self._note(self._decoder.take_flaws(), messages)

    def _learn(self) -> bool:
        """Read the definitions again; whether they are others than those of the decoder."""
        is_newer = self._reader.definitions_edition() != _known[self._reads].edition
        if is_newer or self._may_have_more_rights():
            _known[self._reads] = KnownParameters.of(self._reader)
        # Another reader of this process may have learned them before.
        newest = _known[self._reads]
        if newest.json == self.known.json:
            return False
        self.known = newest
        self._decoder.learn(newest.json, self.request.selection(newest))
        return True

    def _may_have_more_rights(self) -> bool:
        """Whether a broker may name parameters now that this user could not read before."""
        if (
            self._reads[1] is None
            or time.monotonic() - _looked_s.get(self._reads, -LOOK_S) < LOOK_S
        ):
            return False
        _looked_s[self._reads] = time.monotonic()
        return True

    def _sampled(self, start: int, end: int) -> bytes:
        """Which plain messages were samples when the broker received them."""
        parts = []
        while start < end:
            start, pairs = self._reader.samples(start, end)
            parts.append(pairs)
        return b"".join(parts)

    def _note_damage(self, offset: int, damage: JournalDamaged) -> None:
        self.set_aside.append(SetAside(offset, 0, "", "", b"", str(damage)))

    def _note(self, flaws: Sequence[tuple[int, str]], messages: JournalColumns) -> None:
        if not flaws:
            return
        names = ("offset", "receive_ns", "publisher", "topic", "payload")
        rows = record_batch(messages, names)
        positions = {offset: row for row, offset in enumerate(rows.column(0).to_pylist())}
        for offset, reason in flaws:
            values = (column[positions[offset]].as_py() for column in rows.columns)
            self.set_aside.append(SetAside._make([*values, reason]))

    def _batch(
        self, rows: int, columns: Mapping[str, NativeColumn], *, as_text: bool
    ) -> pa.RecordBatch:
        index = arrow_array(pa.int32(), rows, columns["index"])
        looked_up = {
            "parameter": self.known.parameter,
            "kind": self.known.kind,
            "unit": self.known.unit,
        }
        arrays = [
            looked_up[name](index, as_text=as_text)
            if name in looked_up
            else arrow_array(SCHEMA.field(name).type, rows, columns[name])
            for name in self.request.columns
        ]
        fields = [
            SCHEMA.field(name).with_type(array.type)
            for name, array in zip(self.request.columns, arrays, strict=True)
        ]
        return pa.record_batch(arrays, schema=pa.schema(fields))
