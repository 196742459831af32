"""One table of the archive: how far a journal is in it, and commits to it."""

from collections.abc import Sequence

from slipring.errors import LakeConflict
from slipring.lake.files import WrittenFile
from slipring.lake.retention import SizeBound
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id, epoch_id, log_properties
from slipring.lake.table_spec import TableSpec

LOG_HOURS = 1
"""How long the log of a bounded table keeps removed files."""


class ArchiveTable:
    """A table of a lake, for the job that carries a journal there."""

    def __init__(self, lake: LakeLocation, spec: TableSpec, keep_bytes: int | None = None) -> None:
        """With `keep_bytes` the table is bounded: beyond it the oldest files are removed."""
        self.table: LakeTable = LakeTable.open(lake, spec)
        self._bound: SizeBound | None = None
        if keep_bytes is not None:
            self._shorten_log()
            self._bound = SizeBound(self.table, keep_bytes)

    def committed(self, journal: str) -> int | None:
        """The offset up to which a journal is in the table; None if nothing of it is."""
        return self.table.committed(app_id(journal))

    def epoch(self, journal: str) -> int | None:
        """The epoch in which the newest messages were read; None if it was not recorded."""
        return self.table.recorded(epoch_id(journal))

    def commit(self, journal: str, end: int, epoch: int, files: Sequence[WrittenFile]) -> None:
        """Make the files visible and record the offset `end` and its epoch, in one transaction.

        If two writers commit the same range at once, one gets LakeConflict.
        """
        versions = {app_id(journal): end, epoch_id(journal): epoch}
        new_bytes = sum(file.bytes for file in files)
        surplus = [] if self._bound is None else self._bound.surplus(new_bytes)
        gone = [file.path for file in surplus]
        before = {app: self.table.recorded(app) for app in versions}
        try:
            self.table.commit(files, versions, gone, after=before)
        except LakeConflict:
            if not gone:
                raise
            # Perhaps only the old files were replaced meanwhile: they go with a later commit.
            surplus, gone = [], []
            self.table.commit(files, versions, after=before)
        self.table.delete_files(gone)
        if self._bound is not None:
            self._bound.changed(new_bytes - sum(file.bytes for file in surplus))

    def _shorten_log(self) -> None:
        """Keep the log short, and remove the files that a killed run left behind."""
        self.table.set_properties(log_properties(LOG_HOURS))
        self.table.vacuum(LOG_HOURS)
