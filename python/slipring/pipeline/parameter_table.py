"""The lake's table `parameters`: the definitions of a journal, written when they have changed."""

from slipring.errors import LakeConflict
from slipring.journal.definitions import DefinitionHistory
from slipring.journal.location import OpenJournal
from slipring.lake.files import write_file
from slipring.lake.specs import PARAMETERS
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable


class ParameterTable:
    """The definitions of one journal in a lake."""

    def __init__(self, lake: LakeLocation, journal: OpenJournal) -> None:
        self._lake = lake
        self._journal = journal
        self._table = LakeTable.open(lake, PARAMETERS)
        self._app = f"slipring/definitions/{journal.identity}"
        self._written: DefinitionHistory | None = None

    def update(self) -> None:
        """Replace the rows of this journal if its definitions have changed."""
        found = self._newest()
        if found is self._written:
            return
        rows = found.to_arrow().select(PARAMETERS.file_schema.names)
        files = write_file(self._lake, PARAMETERS, rows.to_batches()) if rows.num_rows else []
        self._table.delta.update_incremental()
        mine = self._journal.identity
        old = [file.path for file in self._table.files() if file.least["journal"] == mine]
        version = (self._table.recorded(self._app) or 0) + 1
        try:
            self._table.commit(files, {self._app: version}, old)
        except LakeConflict:
            return  # another run was first; the next batch looks again
        self._written = found

    def _newest(self) -> DefinitionHistory:
        if self._written is None:
            return DefinitionHistory.of(self._journal)
        return self._written.refresh(self._journal)
