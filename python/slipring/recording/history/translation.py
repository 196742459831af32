"""Recorded messages for another broker: its table has other indices, so frames are encoded anew.

A frame names its parameters by their indices in the table of the broker that recorded it. At any
other broker these mean other parameters, or none: the parameters are declared there first.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from slipring.errors import RecordingError
from slipring.frames.arrays import Indices, Times
from slipring.frames.run import Run
from slipring.model import Parameter
from slipring.native import match_topics
from slipring.recording.history.read.definitions import Definitions
from slipring.recording.history.read.recorded_messages import RecordedMessages
from slipring.recording.history.read.sample_reader import SkippedFrames
from slipring.recording.history.shape.recorded_samples import Mask
from slipring.recording.history.write.frame_encoder import FrameEncoder
from slipring.recording.history.write.frame_reencoding import grid_runs, is_deflated
from slipring.recording.message_columns import TOPIC, rename, renamed
from slipring.recording.recording import Piece, PlainSampleOffsets, Recording

NOT_DECLARED = -1


class DeclarationTarget(Protocol):
    """The broker that the messages go to."""

    async def declare(self, parameters: dict[str, Parameter]) -> tuple[int, Indices]:
        """Declare parameters by topic; the table's identity, and their indices there."""

    async def declare_stream(self, topic: str, definition: dict[str, Any]) -> None:
        """Declare a stream."""


class _ChosenFrame(NamedTuple):
    """A recorded frame that has samples of chosen parameters."""

    position: int
    is_deflated: bool
    runs: list[Run]


class Translation:
    """Turns pieces of one recording into messages for one broker."""

    def __init__(
        self,
        recording: Recording,
        definitions: Definitions,
        target: DeclarationTarget,
        *,
        filters: Sequence[str] = (),
        to_topic: str = TOPIC,
    ) -> None:
        """Takes the topics and parameters that a filter matches; all, if there is no filter."""
        self.samples: int = 0
        self.declared: dict[str, Parameter] = {}
        """What is declared at the target, by topic."""
        self.skipped: SkippedFrames = SkippedFrames()
        self._recording = recording
        self._definitions = definitions
        self._target = target
        self._filters = tuple(filters)
        self._to_topic = to_topic
        self._streams: set[str] = set()
        self._encoder = FrameEncoder(0)
        self._chosen = definitions.matching(self._filters) if self._filters else definitions.entries
        self._chosen_topics = {entry.name for entry in self._chosen}
        size = max((entry.index for entry in definitions.entries), default=-1) + 1
        self._is_chosen = np.zeros(size, np.bool_)
        self._is_chosen[[entry.index for entry in self._chosen]] = True
        self._indices = np.full(size, NOT_DECLARED, np.int64)
        """The index at the target, by the index in the recording."""

    async def messages(self, piece: Piece) -> pa.RecordBatch:
        """The chosen messages of a piece, ready to be sent. Declares what is new first."""
        rows = piece.rows
        if not rows.num_rows:
            return rows
        found = RecordedMessages(rows)
        frames = [one for at in found.frames.tolist() if (one := self._frame(found, at))]
        plain = self._plain_samples(found)
        await self._declare(frames, plain)
        await self._declare_streams(self._matching(found.plain_topics()))
        return self._assembled(rows, found, frames, plain)

    def feeds_itself(self) -> bool:
        """Whether a replay into the recorded journal would replay its own messages.

        Checks the topics of the first piece, and all parameters.
        """
        first = next(self._recording.pieces(lambda _damage: None), None)
        if first is None:
            return False
        topics = RecordedMessages(first.rows).plain_topics() if first.rows.num_rows else []
        names = [*self._matching(topics), *self._chosen_topics]
        return bool(self._matching([renamed(name, self._to_topic) for name in names]))

    def _matching(self, topics: list[str]) -> list[str]:
        if not self._filters:
            return topics
        chosen = match_topics(self._filters, topics)
        return [topic for topic, is_chosen in zip(topics, chosen, strict=True) if is_chosen]

    def _frame(self, found: RecordedMessages, position: int) -> _ChosenFrame | None:
        payload = found.payload(position)
        frame = self.skipped.decode(payload, self._definitions.table)
        if frame is None:
            return None
        runs = [run for run in frame.runs if self._mask(run).any()]
        return _ChosenFrame(position, is_deflated(payload), runs) if runs else None

    def _mask(self, run: Run) -> Mask:
        """Which parameters of a run are chosen."""
        known = run.indices < len(self._is_chosen)
        mask = np.zeros(len(run.indices), np.bool_)
        mask[known] = self._is_chosen[run.indices[known]]
        return mask

    def _plain_samples(self, found: RecordedMessages) -> PlainSampleOffsets:
        """Which plain messages were samples of chosen parameters when they were recorded."""
        plain = found.plain_samples(self._recording, self._chosen_topics)
        mask = plain.parameters < len(self._is_chosen)
        mask[mask] = self._is_chosen[plain.parameters[mask]]
        return PlainSampleOffsets(plain.offsets[mask], plain.parameters[mask])

    async def _declare(self, frames: list[_ChosenFrame], plain: PlainSampleOffsets) -> None:
        """Declare the parameters of these samples that are not declared yet, as recorded."""
        used = np.zeros(len(self._indices), np.bool_)
        for frame in frames:
            for run in frame.runs:
                used[run.indices[self._mask(run)]] = True
        used[plain.parameters] = True
        new = np.flatnonzero(used & (self._indices == NOT_DECLARED)).tolist()
        if not new:
            return
        parameters = self._by_target_topic(new)
        self._encoder.table, indices = await self._target.declare(parameters)
        self.declared |= parameters
        self._indices[new] = indices

    def _by_target_topic(self, new: list[int]) -> dict[str, Parameter]:
        """Parameters by their topics at the target, in the order of these indices."""
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
                renamed_topic = renamed(topic, self._to_topic)
                await self._target.declare_stream(renamed_topic, self._definitions.streams[topic])
                self._streams.add(topic)

    def _assembled(
        self,
        rows: pa.RecordBatch,
        found: RecordedMessages,
        frames: list[_ChosenFrame],
        plain: PlainSampleOffsets,
    ) -> pa.RecordBatch:
        """The chosen messages in their order, with frames encoded for the target."""
        encoded = pa.array([self._encoded(frame) for frame in frames], pa.binary())
        self.samples += len(plain.offsets)
        positions = np.array([frame.position for frame in frames], np.int64)
        is_kept = ~found.is_frame & _of_topics(rows, self._matching)
        is_kept[positions] = True
        # The new payloads of frames are appended to the recorded payloads.
        payload_of = np.arange(len(found))
        payload_of[positions] = len(found) + np.arange(len(frames))
        payloads = pa.concat_arrays([rows.column("payload"), encoded])
        changed = {
            "payload": payloads.take(pa.array(payload_of)),
            "topic": rename(rows, self._to_topic).column("topic"),
            "qos": self._qos(rows, positions, plain),
        }
        columns = [changed.get(name, rows.column(name)) for name in rows.schema.names]
        return pa.record_batch(columns, schema=rows.schema).filter(pa.array(is_kept))

    def _qos(self, rows: pa.RecordBatch, frames: Times, plain: PlainSampleOffsets) -> pa.Array:
        """As recorded; samples and chunks at QoS 1 at least, so that a refusal is answered."""
        is_answered = np.isin(np.asarray(rows.column("offset")), plain.offsets)
        is_answered[frames] = True
        if self._streams:
            is_answered |= _of_topics(rows, self._streams.intersection)
        qos = np.asarray(rows.column("qos"))
        return pa.array(np.where(is_answered, np.maximum(qos, 1), qos).astype(np.int8))

    def _encoded(self, frame: _ChosenFrame) -> bytes:
        runs: list[Any] = []
        for run in frame.runs:
            mask = self._mask(run)
            indices = np.zeros(len(run.indices), np.uint32)
            indices[mask] = self._indices[run.indices[mask]]
            runs += grid_runs(run, mask, indices)
            self.samples += len(run) if mask.all() else _samples(run, mask)
        return self._encoder.frame(runs, time.time_ns(), deflate=frame.is_deflated)


def _samples(run: Run, mask: Mask) -> int:
    if run.counts is None:
        return len(run.times) * int(mask.sum())
    return int(run.counts[mask].sum())


def _of_topics(rows: pa.RecordBatch, choose: Callable[[list[str]], Collection[str]]) -> Mask:
    """Which messages have a topic that `choose` takes from the topics given to it."""
    coded = rows.column("topic").dictionary_encode()
    topics = coded.dictionary.to_pylist()
    chosen = set(choose(topics))
    is_chosen = np.array([topic in chosen for topic in topics], np.bool_)
    codes: Times = np.asarray(coded.indices)
    return is_chosen[codes]
