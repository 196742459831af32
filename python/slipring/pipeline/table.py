"""The Delta table `<lake>/messages`: made, committed to and read through delta-rs.

The table itself says how far each journal has come; nothing else is trusted about it.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction

from slipring.pipeline.parquet import ROW_SCHEMA, NewFile

TABLE_SCHEMA = ROW_SCHEMA.append(pa.field("receive_date", pa.date32(), nullable=False))
PARTITION_BY = ["receive_date"]


class MessageTable:
    """All messages of a lake, one row per journal offset."""

    def __init__(self, lake: Path) -> None:
        self.path = (lake / "messages").absolute()
        self._table = _open_or_create(self.path)

    @property
    def version(self) -> int:
        return self._table.version()

    def committed(self, journal: str) -> int | None:
        """The offset up to which a journal is in the table; None when nothing of it is."""
        self._table.update_incremental()
        return self._table.transaction_version(_app_id(journal))

    def commit(self, journal: str, end: int, files: Sequence[NewFile]) -> None:
        """Make the files visible and note the offset `end`, in one transaction.

        Of two writers that try the same at once, one gets delta-rs's conflict error.
        """
        now_ms = time.time_ns() // 1_000_000
        self._table.create_write_transaction(
            [_add_action(file, now_ms) for file in files],
            mode="append",
            schema=TABLE_SCHEMA,
            partition_by=PARTITION_BY,
            commit_properties=CommitProperties(
                app_transactions=[Transaction(_app_id(journal), end)]
            ),
        )
        self._table.update_incremental()


def _open_or_create(path: Path) -> DeltaTable:
    if DeltaTable.is_deltatable(str(path)):
        return DeltaTable(path)
    path.mkdir(parents=True, exist_ok=True)
    return DeltaTable.create(path, TABLE_SCHEMA, mode="ignore", partition_by=PARTITION_BY)


def _app_id(journal: str) -> str:
    return f"slipring/{journal}"


def _add_action(file: NewFile, now_ms: int) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.bytes,
        partition_values={"receive_date": file.receive_date},
        modification_time=now_ms,
        data_change=True,
        stats=file.stats,
    )
