"""Reads the lake's log without Spark: how much is there. Never writes."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from slipring.errors import PipelineError
from slipring.pipeline.table import app_id


@dataclass(frozen=True)
class LakeStatus:
    """The table `messages` in figures."""

    rows: int
    files: int
    bytes: int


def open_table(lake: Path) -> DeltaTable:
    """The Delta table of all messages."""
    path = lake / "messages"
    if not DeltaTable.is_deltatable(str(path)):
        raise PipelineError(f"there is no table in {path}; slipring pipeline run makes it")
    return DeltaTable(path)


def status(lake: Path) -> LakeStatus:
    """Rows and files by the table's own log; no data is read."""
    table = open_table(lake)
    files = pa.table(table.get_add_actions(flatten=True))
    return LakeStatus(
        rows=sum(files.column("num_records").to_pylist()),
        files=files.num_rows,
        bytes=sum(files.column("size_bytes").to_pylist()),
    )


def arrived(lake: Path, journal: str) -> int:
    """The offset up to which a journal is in the table; 0 if nothing of it is."""
    return open_table(lake).transaction_version(app_id(journal)) or 0
