"""A file's messages into a journal or a broker. Tells how far it came, whatever ends it."""

from collections.abc import Callable
from pathlib import Path

from slipring.errors import RecordingError
from slipring.native import JournalWriter
from slipring.recording.chunk import Chunk
from slipring.recording.columns import to_native
from slipring.recording.files import MessageFile
from slipring.recording.journal import journal_folder

PUBLISHER = "import"
"""Who published a message of which the file does not say it."""

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
    file: MessageFile,
    writer: JournalWriter,
    intake: Intake,
    on_progress: OnProgress,
    *,
    skip_bad: bool = False,
) -> None:
    """Append every message with its publisher and receive time."""
    for chunk in file.chunks(skip=intake.skip, skip_bad=skip_bad, publisher=PUBLISHER):
        intake.begin(chunk)
        to_native(chunk.messages).append_to(writer, 0, len(chunk.numbers))
        on_progress(intake.messages, chunk.done)


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
