"""Where a journal goes: how far its table has come, and what a commit makes of new files.

Trusts the table about what is committed, never Spark's checkpoint: the checkpoint may be lost. Must
never import pyspark: what is asked here is asked before Spark is started.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipring.errors import JournalGap, PipelineError
from slipring.pipeline.parquet import NewFile, Target
from slipring.pipeline.table import MessageTable
from slipring.spark.columns import Journal
from slipring.spark.offsets import check_within
from slipring.spark.place import Place, settled_end


@dataclass(frozen=True)
class Committed:
    """One commit to the lake: offsets [start, end) of a journal."""

    batch: int
    start: int
    end: int
    rows: int
    files: int
    table_version: int


class Destination:
    """The table of one lake, for one journal."""

    def __init__(
        self,
        journal: Place,
        lake: Path,
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
        """Offsets that the journal has now and the table has not; raises JournalGap."""
        start = self.committed()
        # The end first: looking for it sees what retention has removed meanwhile.
        end = settled_end(self._reader)
        check_within(start, self._reader.first_offset, end, self._reader.written_offset)
        return start, end

    def target(self) -> Target:
        """What whoever writes files for it has to know."""
        return Target(self.journal, str(self.table.path), self.committed())

    def commit(self, batch: int, committed: int, written: Sequence[NewFile]) -> Committed:
        """Make the files part of the table, which had come to `committed` when they were begun.

        Of a range whose offsets are all left out there is no file, and the table notes its end.
        """
        start, end = min(file.start for file in written), max(file.end for file in written)
        self._refuse_gap(start, committed)
        files = [file for file in written if file.rows]
        self.table.commit(self.journal.identity, end, self._epoch(), files)
        self._note_position()
        rows = sum(file.rows for file in files)
        return Committed(batch, max(start, committed), end, rows, len(files), self.table.version)

    def _note_position(self) -> None:
        """Let the journal's retention know what the table has; before that, it removes nothing."""
        if self._consumer is not None:
            place, identity = self.journal.place, self.journal.identity
            epoch = self.table.epoch(identity)
            place.commit(self._consumer, identity, self.committed(), epoch)

    def _check_position(self) -> None:
        """Go on only where the journal still has the messages that are in the lake."""
        identity = self.journal.identity
        committed = self.table.committed(identity)
        if committed is None:
            return
        try:
            self._reader.check_position(committed, self.table.epoch(identity))
        except JournalGap as gap:
            raise JournalGap(f"the lake cannot go on in journal {identity}: {gap}") from gap

    def _epoch(self) -> int:
        """The newest one; what was read counts, also when retention has removed it meanwhile."""
        self._reader.end_offset()
        return self._reader.epoch

    def _refuse_gap(self, start: int, committed: int) -> None:
        if start > committed:
            raise PipelineError(
                f"the lake ends at offset {committed} of journal {self.journal.identity}, but the "
                f"checkpoint goes on at {start}; remove the checkpoint, and the pipeline "
                "continues where the lake ends"
            )
