"""A file's samples into a broker: declared, then published as frames with their own times."""

import asyncio
import contextlib
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipring.client import Bus, Publisher
from slipring.errors import PublishRefused, RecordingError, SlipringError
from slipring.model import Message
from slipring.recording.history.history_file import Block
from slipring.recording.history.messages import FRAME
from slipring.recording.history.patches import Frames
from slipring.recording.history.settling import Settled

FLUSH_S = 10.0
"""How long an import that is broken off waits for the broker's last acknowledgements."""

OnProgress = Callable[[int, int], None]
"""Told how many rows have arrived, and how far the file is read."""


class Rows:
    """How far an import has come. Rows count when all their frames are acknowledged."""

    def __init__(self, publisher: Publisher, skip: int) -> None:
        self.samples = 0
        self._publisher = publisher
        self._skip = skip
        self._frames: list[int] = []
        self._blocks: list[Block] = []
        self._refused: int | None = None

    def begin(self, block: Block, frames: int) -> None:
        """These rows go in so many frames."""
        self._frames.append((self._frames[-1] if self._frames else 0) + frames)
        self._blocks.append(block._replace(patches=[]))
        self.samples += sum(patch.values.size for patch in block.patches)

    def refuse(self, index: int) -> Block:
        """A frame was refused: the rows that it is of."""
        self._refused = index
        return self._blocks[min(bisect_right(self._frames, index), len(self._blocks) - 1)]

    @property
    def arrived(self) -> int:
        """Rows of the file that have arrived, those that were skipped not among them."""
        return self.next_row - self._skip

    @property
    def next_row(self) -> int:
        """The first row of the file that another import has to take."""
        settled = self._publisher.settled
        if self._refused is not None:
            settled = min(settled, self._refused)
        whole = bisect_right(self._frames, settled)
        return self._blocks[whole - 1].end if whole else self._skip


@dataclass(frozen=True)
class Import:
    """One file into one broker."""

    bus: Bus
    publisher: Publisher
    settled: Settled
    rows: Rows
    place: Callable[[int], str]
    """Says in words where a row of the file is."""

    async def run(self, blocks: Iterable[Block], on_progress: OnProgress) -> None:
        """Publish all samples at QoS 1. Where it returns, the broker has acknowledged them all."""
        topic, frames = await self._declare()
        try:
            for block in blocks:
                made = list(frames.of(block.patches, time.time_ns()))
                self.rows.begin(block, len(made))
                await self.publisher.send(Message(topic, one, content_type=FRAME) for one in made)
                on_progress(self.rows.arrived, block.done)
            await self.publisher.flush()
        except (asyncio.CancelledError, KeyboardInterrupt):
            # What was accepted is sent all the same; wait for it, so that the count is right.
            with contextlib.suppress(SlipringError, TimeoutError):
                async with asyncio.timeout(FLUSH_S):
                    await self.publisher.flush()
            raise
        except PublishRefused as refused:
            raise RecordingError(f"{self._where(refused.index)}: {refused}") from None

    async def _declare(self) -> tuple[str, Frames]:
        """The topic of the frames, and who makes them."""
        root, topics = self.settled.root, self.settled.topics
        names = (topic.removeprefix(f"{root}/") for topic in topics)
        parameters = dict(zip(names, self.settled.types.values(), strict=True))
        declared = await self.bus.declare(root, parameters)
        return root or topics[0], Frames(declared.indices, declared.table)

    def _where(self, frame: int) -> str:
        """The rows of a frame, in words."""
        block = self.rows.refuse(frame)
        count, first = block.end - block.first, self.place(block.first)
        return first if count == 1 else f"one of the {count:,} rows from {first}, on"
