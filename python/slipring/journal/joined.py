"""An archive and its broker read as one journal, with no seam between.

Offsets that are archived come from the archive, so that the broker is not touched for them; the
rest comes from the broker. Both are asked for the same identity.

An example: the archive ends at offset 5,000, and the broker has the offsets 4,000 to 7,200. Offsets
0 to 4,999 are read from the archive and 5,000 to 7,199 from the broker. If the broker has archived
and removed more in the meantime, the archive's manifest is read again.
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from slipring.archive.reader import ArchiveReader
from slipring.errors import JournalGap
from slipring.native import JournalColumns, RemoteJournal

Answer = TypeVar("Answer")
OneJournal: TypeAlias = ArchiveReader | RemoteJournal


class JoinedJournal:
    """Opens the broker's journal only when something is asked that the archive does not know."""

    def __init__(
        self,
        archive: ArchiveReader,
        dial: Callable[[str | None], RemoteJournal],
        dialled: RemoteJournal | None = None,
    ) -> None:
        """`dial` connects to the broker, and refuses another journal."""
        self._archive = archive
        self._dial = dial
        self._dialled = dialled

    @property
    def identity(self) -> str:
        return self._archive.identity

    @property
    def first_offset(self) -> int:
        return self._archive.first_offset

    @property
    def written_offset(self) -> int:
        return self._broker.written_offset

    @property
    def epoch(self) -> int:
        return self._broker.epoch

    def end_offset(self) -> int:
        return self._broker.end_offset()

    def check_position(self, offset: int, epoch: int | None = None) -> None:
        """JournalGap if a reader that stored this position cannot resume here."""
        if offset <= self._archive.archived_end:
            self._archive.check_position(offset, epoch)
        else:
            self._broker.check_position(offset, epoch)

    def offset_at(self, receive_ns: int) -> int:
        """The lowest offset received at that time or later."""
        found = self._archive.offset_at(receive_ns)
        return found if found < self._archive.archived_end else self._broker.offset_at(receive_ns)

    def read(self, start: int, end: int, max_bytes: int) -> JournalColumns:
        """Messages from `start` on, of the archive or of the broker."""
        return self._ask(start, end, lambda one, stop: one.read(start, stop, max_bytes))

    def samples(self, start: int, end: int) -> tuple[int, bytes]:
        """Which messages from `start` on are plain samples."""
        return self._ask(start, end, lambda one, stop: one.samples(start, stop))

    def definitions(self) -> str:
        """The versions of all definitions that the broker has by now, as JSON."""
        return self._broker.definitions()

    def definitions_edition(self) -> tuple[int, int, int]:
        """Which definitions the broker has by now: table, revision and epoch."""
        return self._broker.definitions_edition()

    def _ask(self, start: int, end: int, ask: Callable[[OneJournal, int], Answer]) -> Answer:
        """Ask who has the offset `start`, for what is there at most."""
        if start < self._archive.archived_end:
            return ask(self._archive, min(end, self._archive.archived_end))
        try:
            return ask(self._broker, end)
        except JournalGap as gap:
            self._archive.refresh()
            if start >= self._archive.archived_end:
                where = f"{self._archive.location.url} ends at {self._archive.archived_end}"
                raise JournalGap(f"{gap}; the archive {where}") from None
        return ask(self._archive, min(end, self._archive.archived_end))

    @property
    def _broker(self) -> RemoteJournal:
        if self._dialled is None:
            self._dialled = self._dial(self.identity)
        return self._dialled
