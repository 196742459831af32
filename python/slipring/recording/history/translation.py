"""Recorded messages as another broker takes them: declared there, under the indices of its table.

A frame names its parameters by their indices in the table of the broker that recorded it, which
mean something else, or nothing, to any other broker.
"""

import time
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from slipring.errors import FrameError, RecordingError
from slipring.frames.arrays import Indices, Times
from slipring.frames.decoding import decode
from slipring.frames.run import Run
from slipring.model import Parameter
from slipring.native import encode_frame, match_topics
from slipring.recording.columns import TOPIC, rename, renamed
from slipring.recording.history.definitions import Definitions
from slipring.recording.history.messages import Messages
from slipring.recording.history.reencoding import grids, is_deflated
from slipring.recording.history.source import NO_ARRIVAL, Skipped
from slipring.recording.journal import Noted, Piece, Recording

NOT_DECLARED = -1
NO_SAMPLES = Noted(np.zeros(0, np.int64), np.zeros(0, np.int64))


class There(Protocol):
    """The broker that the messages go to."""

    async def declare(self, parameters: dict[str, Parameter]) -> tuple[int, Indices]:
        """Declare parameters by topic; the table's identity, and their indices there."""

    async def declare_stream(self, topic: str, said: dict[str, Any]) -> None:
        """Declare a stream."""


class _Frame(NamedTuple):
    """A recorded frame of which samples are chosen."""

    place: int
    is_deflated: bool
    runs: list[Run]


class Translation:
    """Turns pieces of one recording into messages for one broker."""

    def __init__(
        self,
        recording: Recording,
        definitions: Definitions,
        there: There,
        *,
        filters: Sequence[str] = (),
        to_topic: str = TOPIC,
    ) -> None:
        """Only topics and parameters that a filter matches are taken; no filters are all."""
        self.samples = 0
        self.declared: dict[str, Parameter] = {}
        """By their topics there."""
        self.skipped = Skipped()
        self._recording = recording
        self._definitions = definitions
        self._there = there
        self._filters = tuple(filters)
        self._to_topic = to_topic
        self._streams: set[str] = set()
        self._table = 0
        self._sequence = 0
        self._chosen = definitions.matching(self._filters) if self._filters else definitions.entries
        self._chosen_topics = {entry.name for entry in self._chosen}
        size = max((entry.index for entry in definitions.entries), default=-1) + 1
        self._is_chosen = np.zeros(size, np.bool_)
        self._is_chosen[[entry.index for entry in self._chosen]] = True
        self._indices = np.full(size, NOT_DECLARED, np.int64)
        """By the index in the recording: the one at the other broker."""

    async def messages(self, piece: Piece) -> pa.RecordBatch:
        """The messages of a piece that are chosen, as they are sent. Declares what is new first."""
        rows = piece.rows
        if not rows.num_rows:
            return rows
        found = Messages(rows)
        frames = [one for place in found.frames.tolist() if (one := self._frame(found, place))]
        noted = self._noted(found)
        await self._declare(frames, noted)
        await self._declare_streams(self._matching(found.plain_topics()))
        return self._assembled(rows, found, frames, noted)

    def topics(self, piece: Piece) -> list[str]:
        """Under which topics a piece would be recorded again, those of parameters among them."""
        plain = self._matching(Messages(piece.rows).plain_topics()) if piece.rows.num_rows else []
        names = [*plain, *self._chosen_topics]
        return [renamed(name, self._to_topic) for name in names]

    def chooses(self, topics: list[str]) -> bool:
        """Whether one of these topics would be chosen."""
        return bool(self._matching(topics))

    def _matching(self, topics: list[str]) -> list[str]:
        if not self._filters:
            return topics
        chosen = match_topics(self._filters, topics)
        return [topic for topic, is_chosen in zip(topics, chosen, strict=True) if is_chosen]

    def _frame(self, found: Messages, place: int) -> _Frame | None:
        payload = found.payload(place)
        try:
            frame = decode(payload, self._definitions.table, NO_ARRIVAL)
        except FrameError:
            self.skipped.unreadable += 1
            return None
        if frame.header.table != self._definitions.table.identity:
            self.skipped.of_other_tables += 1
            return None
        runs = [run for run in frame.runs if self._mask(run).any()]
        return _Frame(place, is_deflated(payload), runs) if runs else None

    def _mask(self, run: Run) -> npt.NDArray[np.bool_]:
        """Which parameters of a run are chosen."""
        known = run.indices < len(self._is_chosen)
        mask = np.zeros(len(run.indices), np.bool_)
        mask[known] = self._is_chosen[run.indices[known]]
        return mask

    def _noted(self, found: Messages) -> Noted:
        """Which plain messages were samples of chosen parameters when they were recorded."""
        if self._chosen_topics.isdisjoint(found.plain_topics()):
            return NO_SAMPLES
        first, last = found.offset(0), found.offset(len(found) - 1)
        noted = self._recording.samples(first, last + 1)
        mask = noted.parameters < len(self._is_chosen)
        mask[mask] = self._is_chosen[noted.parameters[mask]]
        return Noted(noted.offsets[mask], noted.parameters[mask])

    async def _declare(self, frames: list[_Frame], noted: Noted) -> None:
        """Declare the parameters of these samples, as recorded, where it is not done yet."""
        used = np.zeros(len(self._indices), np.bool_)
        for frame in frames:
            for run in frame.runs:
                used[run.indices[self._mask(run)]] = True
        used[noted.parameters] = True
        new = np.flatnonzero(used & (self._indices == NOT_DECLARED)).tolist()
        if not new:
            return
        parameters = self._as_declared_there(new)
        self._table, indices = await self._there.declare(parameters)
        self.declared |= parameters
        self._indices[new] = indices

    def _as_declared_there(self, new: list[int]) -> dict[str, Parameter]:
        """By topic there, in the order of these indices."""
        found: dict[str, Parameter] = {}
        by_index = {entry.index: entry for entry in self._chosen}
        for index in new:
            entry = by_index[index]
            topic = renamed(entry.name, self._to_topic)
            if topic in found or topic in self.declared:
                raise RecordingError(
                    f"cannot replay to {self._to_topic!r}: two parameters would be {topic!r}, the "
                    f"second one {entry.name!r}; write {TOPIC} where the recorded name belongs, or "
                    "replay a part of the recording with --from, --to and --filter"
                )
            found[topic] = entry.parameter
        return found

    async def _declare_streams(self, topics: list[str]) -> None:
        for topic in topics:
            if topic in self._definitions.streams and topic not in self._streams:
                there = renamed(topic, self._to_topic)
                await self._there.declare_stream(there, self._definitions.streams[topic])
                self._streams.add(topic)

    def _assembled(
        self, rows: pa.RecordBatch, found: Messages, frames: list[_Frame], noted: Noted
    ) -> pa.RecordBatch:
        """The chosen messages in their order; frames with the bytes that they have there."""
        made = pa.array([self._encoded(frame) for frame in frames], pa.binary())
        self.samples += len(noted.offsets)
        places = np.array([frame.place for frame in frames], np.int64)
        is_kept = ~found.is_frame & _of_topics(rows, self._matching)
        is_kept[places] = True
        # A frame's payload stands behind those of the rows.
        source = np.arange(len(found))
        source[places] = len(found) + np.arange(len(frames))
        payloads = pa.concat_arrays([rows.column("payload"), made])
        changed = {
            "payload": payloads.take(pa.array(source)),
            "topic": rename(rows, self._to_topic).column("topic"),
            "qos": self._qos(rows, places, noted),
        }
        columns = [changed.get(name, rows.column(name)) for name in rows.schema.names]
        return pa.record_batch(columns, schema=rows.schema).filter(pa.array(is_kept))

    def _qos(self, rows: pa.RecordBatch, frames: Times, noted: Noted) -> pa.Array:
        """As recorded; samples and chunks at QoS 1 at least, so that a refused one is told."""
        is_answered = np.isin(np.asarray(rows.column("offset")), noted.offsets)
        is_answered[frames] = True
        if self._streams:
            is_answered |= _of_topics(rows, self._streams.intersection)
        qos = np.asarray(rows.column("qos"))
        return pa.array(np.where(is_answered, np.maximum(qos, 1), qos).astype(np.int8))

    def _encoded(self, frame: _Frame) -> bytes:
        runs: list[Any] = []
        for run in frame.runs:
            mask = self._mask(run)
            there = np.zeros(len(run.indices), np.uint32)
            there[mask] = self._indices[run.indices[mask]]
            runs += grids(run, mask, there)
            self.samples += len(run) if mask.all() else _samples(run, mask)
        self._sequence = (self._sequence + 1) & 0xFFFF_FFFF
        return encode_frame(
            runs,
            table=self._table,
            sequence=self._sequence,
            sent_ns=time.time_ns(),
            deflate=frame.is_deflated,
        )


def _samples(run: Run, mask: npt.NDArray[np.bool_]) -> int:
    if run.counts is None:
        return len(run.times) * int(mask.sum())
    return int(run.counts[mask].sum())


def _of_topics(
    rows: pa.RecordBatch, choose: Callable[[list[str]], Collection[str]]
) -> npt.NDArray[np.bool_]:
    """Which messages have one of the topics that are chosen from theirs."""
    coded = rows.column("topic").dictionary_encode()
    topics = coded.dictionary.to_pylist()
    chosen = set(choose(topics))
    is_chosen = np.array([topic in chosen for topic in topics], np.bool_)
    codes: Times = np.asarray(coded.indices)
    return is_chosen[codes]


def feeds_itself(recording: Recording, translation: Translation) -> bool:
    """Whether what is replayed would be chosen again by the replay's own filters.

    Looks at the topics that the recording begins with, and at all parameters.
    """
    return any(
        translation.chooses(translation.topics(piece))
        for piece in islice(recording.pieces(lambda _damage: None), 1)
    )
