"""A recording's messages as samples: the samples of its frames, and its plain messages."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from slipring.errors import FrameError, JournalDamaged
from slipring.frames import Frame, Table
from slipring.frames.decoding import decode
from slipring.frames.header import FrameArrival
from slipring.recording.history.read.recorded_messages import RecordedMessages
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.recorded_samples import RecordedSamples
from slipring.recording.recording import Piece, PlainSampleOffsets, Recording

BATCH_SAMPLES = 1_000_000
"""About the samples that are in memory at once; a frame is never divided."""
NO_ARRIVAL = FrameArrival(0, 0)


@dataclass
class SkippedFrames:
    """Frames of which no sample is read."""

    of_other_tables: int = 0
    """Their indices mean other parameters."""
    unreadable: int = 0

    def decode(self, payload: bytes, table: Table) -> Frame | None:
        """The frame of a payload; None, and counted here, if it has no samples of this table."""
        try:
            frame = decode(payload, table, NO_ARRIVAL)
        except FrameError:
            self.unreadable += 1
            return None
        if frame.header.table != table.identity:
            self.of_other_tables += 1
            return None
        return frame


class SampleBatch(NamedTuple):
    """Samples that were read together, and the offset after the last message read."""

    parts: list[RecordedSamples]
    end: int


@dataclass
class SampleReader:
    """Reads the samples of the exported parameters, in the order of arrival."""

    recording: Recording
    columns: ExportColumns
    skipped: SkippedFrames = field(default_factory=SkippedFrames)
    withheld: int = 0
    """Messages that the broker does not give to this user."""

    def batches(
        self,
        on_damage: Callable[[JournalDamaged], None],
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[SampleBatch]:
        """All samples, or those of a range of offsets."""
        for piece in self.recording.pieces(on_damage, start, end):
            self.withheld += piece.withheld
            yield from self._batches(piece)

    def _batches(self, piece: Piece) -> Iterator[SampleBatch]:
        messages = RecordedMessages(piece.rows)
        plain = messages.plain_samples(self.recording, self.columns.topics)
        begin, count, parts = 0, 0, list[RecordedSamples]()
        for position in messages.frames.tolist():
            found = self._of_frame(messages, position)
            parts += found
            count += sum(part.weight for part in found)
            if count >= BATCH_SAMPLES:
                parts += self._of_plain(messages, plain, begin, position)
                yield SampleBatch(parts, messages.offset(position) + 1)
                begin, count, parts = position + 1, 0, []
        parts += self._of_plain(messages, plain, begin, len(messages))
        yield SampleBatch(parts, piece.end)

    def _of_frame(self, messages: RecordedMessages, position: int) -> list[RecordedSamples]:
        frame = self.skipped.decode(messages.payload(position), self.columns.table)
        if frame is None:
            return []
        offset, receive_ns = messages.offset(position), messages.receive_ns(position)
        runs = (RecordedSamples.of_run(run, offset, receive_ns) for run in frame.runs)
        return [part for one in runs if (part := self.columns.narrow(one)) is not None]

    def _of_plain(
        self, messages: RecordedMessages, plain: PlainSampleOffsets, begin: int, end: int
    ) -> list[RecordedSamples]:
        """The samples of the plain messages between two positions."""
        found = []
        for index, topic, positions in messages.plain(plain, begin, end):
            entry = self.columns.entry(index)
            # The journal may have had another table before, in which the index was another topic's.
            if entry is not None and entry.name == topic:
                found.append(messages.of_parameter(entry, positions).samples())
        return [part for part in found if len(part)]
