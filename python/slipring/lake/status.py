"""Reads the log of a table: how much is there. Never writes, and reads no data."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from slipring.errors import PipelineError
from slipring.lake.storage import LakeLocation
from slipring.lake.table import app_id

MESSAGES = "messages"


@dataclass(frozen=True)
class LakeStatus:
    """A table in figures."""

    rows: int
    files: int
    bytes: int


def open_table(lake: Path | LakeLocation, name: str = MESSAGES) -> DeltaTable:
    """A Delta table of the lake, to read it."""
    where = lake if isinstance(lake, LakeLocation) else LakeLocation.of(lake)
    table = where.child(name)
    # Not is_deltatable: while it waits for storage, no other thread of the process runs.
    try:
        return DeltaTable(table.uri, storage_options=table.delta_options())
    except TableNotFoundError:
        raise PipelineError(
            f"there is no table in {table.uri}; slipring pipeline run makes it"
        ) from None


def status(lake: Path | LakeLocation, name: str = MESSAGES) -> LakeStatus:
    """Rows and files by the table's own log; no data is read."""
    files = pa.table(open_table(lake, name).get_add_actions(flatten=True))
    return LakeStatus(
        rows=sum(files.column("num_records").to_pylist()),
        files=files.num_rows,
        bytes=sum(files.column("size_bytes").to_pylist()),
    )


def arrived(lake: Path | LakeLocation, journal: str, name: str = MESSAGES) -> int:
    """The offset up to which a journal is in the table; 0 if nothing of it is."""
    return open_table(lake, name).transaction_version(app_id(journal)) or 0
