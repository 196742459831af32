"""A file's messages into a journal or a broker. Knows how far it came, whatever ends it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

from slipring.client import Publisher
from slipring.errors import (
    InvalidTopic,
    PublishRefused,
    RecordingError,
    Refused,
    SlipringError,
)
from slipring.journal.location import journal_folder
from slipring.journal.native_messages import to_native
from slipring.native import JournalWriter
from slipring.recording.file_batch import FileBatch
from slipring.recording.message_columns import at_least_once

STEP_MESSAGES = 8192
"""Messages sent between two reports of the progress."""
FLUSH_S = 10.0
"""How long to wait for the broker's last acknowledgements after an interrupt."""

OnProgress = Callable[[int, int], None]
"""Called with the number of messages that have arrived, and how far the file is read."""


class MessageProgress:
    """How far an import has come. It stays exact when an interrupt comes at any instruction."""

    def __init__(self, arrived: Callable[[], int], skip: int) -> None:
        """`arrived` returns how many messages are stored, in the order of the file."""
        self.skip = skip
        self.bad: int = 0
        self._arrived = arrived
        self._current: tuple[FileBatch | None, int] = (None, 0)
        """The batch being stored, and the messages stored before it."""

    def stop_at(self, count: int) -> None:
        """Count no more than the first `count` messages: the next one was refused."""
        arrived = self._arrived
        self._arrived = lambda: min(count, arrived())

    def begin(self, batch: FileBatch) -> None:
        """Begin a batch; everything before it has arrived."""
        self._current = (batch, self._arrived())
        self.bad += batch.bad

    @property
    def messages(self) -> int:
        """The messages that have arrived."""
        return self._arrived()

    @property
    def next_row(self) -> int:
        """The row of the file at which another import has to begin."""
        batch, before = self._current
        if batch is None:
            return self.skip
        count = self._arrived() - before
        return batch.numbers[count] if count < len(batch.numbers) else batch.end


def import_to_journal(
    batches: Iterable[FileBatch],
    writer: JournalWriter,
    progress: MessageProgress,
    on_progress: OnProgress,
) -> None:
    """Append every message with its publisher and receive time."""
    for batch in batches:
        progress.begin(batch)
        to_native(batch.messages).append_to(writer, 0, len(batch.numbers))
        on_progress(progress.messages, batch.done)


async def import_to_broker(
    batches: Iterable[FileBatch],
    publisher: Publisher,
    progress: MessageProgress,
    where: Callable[[int], str],
    on_progress: OnProgress,
) -> None:
    """Publish every message at QoS 1. When it returns, the broker has acknowledged them all.

    `where` says in words where a refused row is.
    """
    try:
        async with flushed_when_interrupted(publisher):
            for batch in batches:
                progress.begin(batch)
                messages = to_native(at_least_once(batch.messages))
                for start in range(0, len(messages), STEP_MESSAGES):
                    end = min(start + STEP_MESSAGES, len(messages))
                    await publisher.send_columns(messages, start, end)
                    on_progress(progress.messages, batch.done)
                await publisher.flush()
                on_progress(progress.messages, batch.done)
    except PublishRefused as refused:
        progress.stop_at(refused.index)
        raise RecordingError(f"{where(progress.next_row)}: {refused}") from None
    except (InvalidTopic, Refused) as refused:
        await publisher.flush()
        raise RecordingError(f"{where(progress.next_row)}: {refused}") from None


@contextlib.asynccontextmanager
async def flushed_when_interrupted(publisher: Publisher) -> AsyncIterator[None]:
    """Wait, after an interrupt, until the messages that the client accepted are acknowledged.

    The client sends them in any case: after the wait their count is right.
    """
    try:
        yield
    except (asyncio.CancelledError, KeyboardInterrupt):
        with contextlib.suppress(SlipringError, TimeoutError):
            async with asyncio.timeout(FLUSH_S):
                await publisher.flush()
        raise


def appended_to(writer: JournalWriter, skip: int) -> MessageProgress:
    """Progress that counts the messages appended from now on."""
    start = writer.next_offset
    return MessageProgress(lambda: writer.next_offset - start, skip)


def open_journal(folder: Path) -> JournalWriter:
    """Open a journal for writing; create it if there is none."""
    inner = journal_folder(folder)
    try:
        inner.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(f"cannot make the folder {inner}: {error.strerror}") from None
    return JournalWriter(inner)
