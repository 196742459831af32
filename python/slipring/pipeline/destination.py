"""The tables that a journal goes to: how far they have come, and commits of new files.

A table says what is committed, never Spark's checkpoint, which may be lost. Must never import
pyspark: this is used before Spark is started.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipring.errors import JournalGap, PipelineError
from slipring.journal.consumer_note import ConsumerNote
from slipring.journal.location import Journal, JournalLocation, settled_end
from slipring.journal.message_size import message_bytes
from slipring.journal.offsets import check_within
from slipring.lake.storage import LakeLocation
from slipring.pipeline.archive_table import ArchiveTable
from slipring.pipeline.parameter_table import ParameterTable
from slipring.pipeline.range_files import SPECS, LakeTarget, RangeFile

ALL_TABLES = ("samples", "frames", "messages")
SHARES = {"samples": 0.7, "messages": 0.25, "frames": 0.04, "set_aside": 0.01}
"""How much of a bounded lake each table may take, if all are there."""


@dataclass(frozen=True)
class LakeCommit:
    """One batch in the lake: offsets [start, end) of a journal."""

    batch: int
    start: int
    end: int
    rows: Mapping[str, int]
    """By the name of the table."""
    files: int


class Destination:
    """The tables of one lake, for one journal."""

    def __init__(
        self,
        journal: JournalLocation,
        lake: Path | LakeLocation,
        consumer: str | None = None,
        keep_bytes: int | None = None,
        tables: Sequence[str] = ALL_TABLES,
    ) -> None:
        self._reader = journal.open()
        self.journal: Journal = Journal(journal, self._reader.identity)
        self.lake: LakeLocation = lake if isinstance(lake, LakeLocation) else LakeLocation.of(lake)
        wanted = {*tables, "set_aside"} if "samples" in tables else set(tables)
        self.tables: dict[str, ArchiveTable] = {
            name: ArchiveTable(self.lake, spec, _share(name, wanted, keep_bytes))
            for name, spec in SPECS.items()
            if name in wanted
        }
        self._parameters = ParameterTable(self.lake, self._reader) if "samples" in wanted else None
        self._first_offset = self._reader.first_offset
        self._consumer = consumer
        self._note = ConsumerNote()
        self._check_position()
        self._note_position()

    def committed(self) -> int:
        """The offset up to which the journal is in all tables."""
        return min(self._committed().values())

    def backlog(self) -> tuple[int, int]:
        """The range of offsets that the journal has and a table lacks; raises JournalGap."""
        start = self.committed()
        # The end first: reading it updates the first offset, which retention may have moved.
        end = settled_end(self._reader)
        check_within(start, self._reader.first_offset, end, self._reader.written_offset)
        return start, end

    def bytes(self, start: int, end: int) -> int:
        """About the bytes of the messages of a range."""
        return int(message_bytes(self._reader, start, end) * (end - start))

    def target(self) -> LakeTarget:
        """What a worker must know to write files for the tables."""
        return LakeTarget(self.journal, self.lake, self._committed())

    def commit(self, batch: int, target: LakeTarget, written: Sequence[RangeFile]) -> LakeCommit:
        """Add the files to the tables, which ended as the target says when they were begun.

        A range without rows for a table has no file; the table still records its end.
        """
        start, end = min(file.start for file in written), max(file.end for file in written)
        epoch, rows = self._epoch(), dict[str, int]()
        for name, table in self.tables.items():
            committed = target.committed[name]
            self._refuse_gap(start, committed)
            if committed < end:
                files = [file for file in written if file.table == name]
                table.commit(self.journal.identity, end, epoch, files)
                rows[name] = sum(file.rows for file in files)
        if self._parameters is not None:
            self._parameters.update()
        self._note = self._note.then(rows)
        self._note_position()
        begin = max(start, min(target.committed.values()))
        return LakeCommit(batch, begin, end, rows, sum(bool(file.table) for file in written))

    def _committed(self) -> dict[str, int]:
        identity, found = self.journal.identity, dict[str, int]()
        for name, table in self.tables.items():
            committed = table.committed(identity)
            found[name] = self._first_offset if committed is None else committed
        return found

    def _note_position(self) -> None:
        """Record how far the table has come, so that retention keeps what it lacks."""
        if self._consumer is not None:
            location, identity = self.journal.location, self.journal.identity
            epochs = [table.epoch(identity) for table in self.tables.values()]
            epoch = min((one for one in epochs if one is not None), default=None)
            note = self._note.encode()
            location.commit(self._consumer, identity, self.committed(), epoch, note)

    def _check_position(self) -> None:
        """Refuse a journal that no longer has the messages that are in the lake."""
        identity = self.journal.identity
        for name, table in self.tables.items():
            committed = table.committed(identity)
            if committed is None:
                continue
            try:
                self._reader.check_position(committed, table.epoch(identity))
            except JournalGap as gap:
                raise JournalGap(
                    f"the table {name} cannot continue with journal {identity}: {gap}"
                ) from gap

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


def _share(name: str, tables: set[str], keep_bytes: int | None) -> int | None:
    """How much of a bounded lake with these tables one of them may take."""
    if keep_bytes is None:
        return None
    return int(keep_bytes * SHARES[name] / sum(SHARES[one] for one in tables))
