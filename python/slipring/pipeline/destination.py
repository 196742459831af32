"""The table that a journal goes to: how far it has come, and commits of new files.

The table says what is committed, never Spark's checkpoint, which may be lost. Must never import
pyspark: this is used before Spark is started.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipring.errors import JournalGap, PipelineError
from slipring.journal.location import Journal, JournalLocation, settled_end
from slipring.journal.offsets import check_within
from slipring.lake.storage import LakeLocation
from slipring.pipeline.parquet import LakeTarget, RangeFile
from slipring.pipeline.table import MessageTable


@dataclass(frozen=True)
class LakeCommit:
    """One commit to the lake: offsets [start, end) of a journal."""

    batch: int
    start: int
    end: int
    rows: int
    files: int


class Destination:
    """The table of one lake, for one journal."""

    def __init__(
        self,
        journal: JournalLocation,
        lake: Path | LakeLocation,
        consumer: str | None = None,
        keep_bytes: int | None = None,
    ) -> None:
        self._reader = journal.open()
        self.journal = Journal(journal, self._reader.identity)
        self.table = MessageTable(lake, keep_bytes)
        self._first_offset = self._reader.first_offset
        self._consumer = consumer
        self._check_position()
        self._note_position()

    def committed(self) -> int:
        """The offset up to which the journal is in the table."""
        committed = self.table.committed(self.journal.identity)
        return self._first_offset if committed is None else committed

    def backlog(self) -> tuple[int, int]:
        """The range of offsets that the journal has and the table lacks; raises JournalGap."""
        start = self.committed()
        # The end first: reading it updates the first offset, which retention may have moved.
        end = settled_end(self._reader)
        check_within(start, self._reader.first_offset, end, self._reader.written_offset)
        return start, end

    def target(self) -> LakeTarget:
        """What a worker must know to write files for the table."""
        return LakeTarget(self.journal, self.table.lake, self.committed())

    def commit(self, batch: int, committed: int, written: Sequence[RangeFile]) -> LakeCommit:
        """Add the files to the table, which ended at `committed` when they were begun.

        A range in which no offset has a message has no file; the table still records its end.
        """
        start, end = min(file.start for file in written), max(file.end for file in written)
        self._refuse_gap(start, committed)
        files = [file for file in written if file.rows]
        self.table.commit(self.journal.identity, end, self._epoch(), files)
        self._note_position()
        rows = sum(file.rows for file in files)
        return LakeCommit(batch, max(start, committed), end, rows, len(files))

    def _note_position(self) -> None:
        """Record how far the table has come, so that retention keeps what it lacks."""
        if self._consumer is not None:
            location, identity = self.journal.location, self.journal.identity
            epoch = self.table.epoch(identity)
            location.commit(self._consumer, identity, self.committed(), epoch)

    def _check_position(self) -> None:
        """Refuse a journal that no longer has the messages that are in the lake."""
        identity = self.journal.identity
        committed = self.table.committed(identity)
        if committed is None:
            return
        try:
            self._reader.check_position(committed, self.table.epoch(identity))
        except JournalGap as gap:
            raise JournalGap(f"the lake cannot continue with journal {identity}: {gap}") from gap

    def _epoch(self) -> int:
        """The newest epoch, even if retention has removed the messages meanwhile."""
        self._reader.end_offset()
        return self._reader.epoch

    def _refuse_gap(self, start: int, committed: int) -> None:
        if start > committed:
            raise PipelineError(
                f"the lake ends at offset {committed} of journal {self.journal.identity}, but the "
                f"checkpoint continues at {start}; remove the checkpoint, and the pipeline "
                "continues where the lake ends"
            )
