"""A file's samples into a broker: declared, then published as frames with their own times."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipring.client import Bus, Publisher
from slipring.errors import PublishRefused, RecordingError
from slipring.frames.arrays import Indices
from slipring.model import Message
from slipring.recording.history.read.history_file import RowBlock
from slipring.recording.history.read.import_columns import ImportColumns
from slipring.recording.history.read.recorded_messages import FRAME
from slipring.recording.history.write.frame_encoder import FrameEncoder
from slipring.recording.importing import flushed_when_interrupted

OnProgress = Callable[[int, int], None]
"""Called with the number of rows that have arrived, and how far the file is read."""


class RowProgress:
    """How far an import has come. A row counts when all its frames are acknowledged."""

    def __init__(self, publisher: Publisher, skip: int) -> None:
        self.samples: int = 0
        self._publisher = publisher
        self._skip = skip
        self._frames: list[int] = []
        self._blocks: list[RowBlock] = []
        self._refused: int | None = None

    def begin(self, block: RowBlock, frames: int) -> None:
        """Count rows that are sent in so many frames."""
        self._frames.append((self._frames[-1] if self._frames else 0) + frames)
        self._blocks.append(block._replace(samples=[]))
        self.samples += sum(one.values.size for one in block.samples)

    def refuse(self, frame: int) -> RowBlock:
        """Note that a frame was refused; returns its rows."""
        self._refused = frame
        return self._blocks[min(bisect_right(self._frames, frame), len(self._blocks) - 1)]

    @property
    def arrived(self) -> int:
        """The rows that have arrived, without those that were skipped."""
        return self.next_row - self._skip

    @property
    def next_row(self) -> int:
        """The row of the file at which another import has to begin."""
        settled = self._publisher.settled
        if self._refused is not None:
            settled = min(settled, self._refused)
        complete = bisect_right(self._frames, settled)
        return self._blocks[complete - 1].end if complete else self._skip


@dataclass(frozen=True)
class SampleImport:
    """One file into one broker."""

    bus: Bus
    publisher: Publisher
    columns: ImportColumns
    progress: RowProgress
    where: Callable[[int], str]
    """Says in words where a row of the file is."""

    async def run(self, blocks: Iterable[RowBlock], on_progress: OnProgress) -> None:
        """Publish all samples at QoS 1. When it returns, the broker has acknowledged them all."""
        topic, indices, encoder = await self._declare()
        try:
            async with flushed_when_interrupted(self.publisher):
                for block in blocks:
                    frames = list(encoder.frames(block.samples, indices, time.time_ns()))
                    self.progress.begin(block, len(frames))
                    messages = (Message(topic, one, content_type=FRAME) for one in frames)
                    await self.publisher.send(messages)
                    on_progress(self.progress.arrived, block.done)
                await self.publisher.flush()
        except PublishRefused as refused:
            raise RecordingError(f"{self._rows_of(refused.index)}: {refused}") from None

    async def _declare(self) -> tuple[str, Indices, FrameEncoder]:
        """Declare the parameters; the topic of their frames, and what encodes them."""
        root, topics = self.columns.root, self.columns.topics
        names = (topic.removeprefix(f"{root}/") for topic in topics)
        parameters = dict(zip(names, self.columns.types.values(), strict=True))
        declared = await self.bus.declare(root, parameters)
        return root or topics[0], declared.indices, FrameEncoder(declared.table)

    def _rows_of(self, frame: int) -> str:
        """The rows of a refused frame, in words."""
        block = self.progress.refuse(frame)
        count, first = block.end - block.first, self.where(block.first)
        return first if count == 1 else f"one of the {count:,} rows from {first}, on"
