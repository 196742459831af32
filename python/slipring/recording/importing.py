"""A file's messages into a journal or a broker. Tells how far it came, whatever ends it."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from slipring.client import Publisher
from slipring.errors import (
    InvalidTopic,
    PublishRefused,
    RecordingError,
    Refused,
    SlipringError,
)
from slipring.native import JournalWriter
from slipring.recording.chunk import Chunk
from slipring.recording.columns import at_least_once, to_native
from slipring.recording.journal import journal_folder

STEP_MESSAGES = 8192
"""Sent between two tellings of the progress."""
FLUSH_S = 10.0
"""How long an import that is broken off waits for the broker's last acknowledgements."""

OnProgress = Callable[[int, int], None]
"""Told how many messages have arrived, and how far the file is read."""


class Intake:
    """How far an import has come. Exact also after an interrupt at any instruction."""

    def __init__(self, arrived: Callable[[], int], skip: int) -> None:
        """`arrived` tells how many messages are where they should be, in the file's order."""
        self.skip = skip
        self.bad = 0
        self._arrived = arrived
        self._now: tuple[Chunk | None, int] = (None, 0)

    def stop_at(self, count: int) -> None:
        """Count no message behind the first `count`: the next one was refused."""
        arrived = self._arrived
        self._arrived = lambda: min(count, arrived())

    def begin(self, chunk: Chunk) -> None:
        """Go on with a chunk; everything before it has arrived."""
        self._now = (chunk, self._arrived())
        self.bad += chunk.bad

    @property
    def messages(self) -> int:
        """Messages that have arrived."""
        return self._arrived()

    @property
    def next_row(self) -> int:
        """The first row of the file that another import has to take."""
        chunk, before = self._now
        if chunk is None:
            return self.skip
        count = self._arrived() - before
        return chunk.numbers[count] if count < len(chunk.numbers) else chunk.end


def import_to_journal(
    chunks: Iterable[Chunk], writer: JournalWriter, intake: Intake, on_progress: OnProgress
) -> None:
    """Append every message with its publisher and receive time."""
    for chunk in chunks:
        intake.begin(chunk)
        to_native(chunk.messages).append_to(writer, 0, len(chunk.numbers))
        on_progress(intake.messages, chunk.done)


async def import_to_broker(
    chunks: Iterable[Chunk],
    publisher: Publisher,
    intake: Intake,
    place: Callable[[int], str],
    on_progress: OnProgress,
) -> None:
    """Publish every message at QoS 1. Where it returns, the broker has acknowledged them all.

    `place` says in words where a row is, for one that is refused.
    """
    try:
        for chunk in chunks:
            intake.begin(chunk)
            messages = to_native(at_least_once(chunk.messages))
            for start in range(0, len(messages), STEP_MESSAGES):
                end = min(start + STEP_MESSAGES, len(messages))
                await publisher.send_columns(messages, start, end)
                on_progress(intake.messages, chunk.done)
            await publisher.flush()
            on_progress(intake.messages, chunk.done)
    except (asyncio.CancelledError, KeyboardInterrupt):
        # What was accepted is sent all the same; wait for it, so that the count is right.
        with contextlib.suppress(SlipringError, TimeoutError):
            async with asyncio.timeout(FLUSH_S):
                await publisher.flush()
        raise
    except PublishRefused as refused:
        intake.stop_at(refused.index)
        raise RecordingError(f"{place(intake.next_row)}: {refused}") from None
    except (InvalidTopic, Refused) as refused:
        await publisher.flush()
        raise RecordingError(f"{place(intake.next_row)}: {refused}") from None


def through(publisher: Publisher, skip: int = 0) -> Intake:
    """An intake that counts what the broker has acknowledged."""
    return Intake(lambda: publisher.settled, skip)


def into(writer: JournalWriter, skip: int = 0) -> Intake:
    """An intake that counts what is appended from now on."""
    start = writer.next_offset
    return Intake(lambda: writer.next_offset - start, skip)


def open_journal(folder: Path) -> JournalWriter:
    """Open a journal for writing, made if it is not there."""
    inner = journal_folder(folder)
    try:
        inner.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"cannot make the folder {inner}: {error.strerror}") from None
    return JournalWriter(inner)
