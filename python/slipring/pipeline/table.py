"""The Delta table `<lake>/messages`: created, committed to and read through delta-rs.

The table itself records how far each journal has come; no other source is trusted about it.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction, RemoveAction

from slipring.pipeline.parquet import ROW_SCHEMA, WrittenFile

TABLE_SCHEMA = ROW_SCHEMA.append(pa.field("receive_date", pa.date32(), nullable=False))
PARTITION_BY = ["receive_date"]

KEPT_SHARE = 0.9
"""A table that is too large shrinks to this share of its size, not by a file in each commit."""
LOG_HOURS = 1
SHORT_LOG = {
    "delta.logRetentionDuration": f"interval {LOG_HOURS} hours",
    "delta.deletedFileRetentionDuration": f"interval {LOG_HOURS} hours",
}
"""How long the log of a bounded table keeps removed files."""


class MessageTable:
    """All messages of a lake, a row for each journal offset."""

    def __init__(self, lake: Path, keep_bytes: int | None = None) -> None:
        """With `keep_bytes` the table is bounded: beyond it the oldest files are removed."""
        self.path = (lake / "messages").absolute()
        self._table = _open_or_create(self.path)
        self._keep_bytes = keep_bytes
        if keep_bytes is not None:
            self._shorten_log()
            self._bytes = sum(file.bytes for file in self._files())

    def committed(self, journal: str) -> int | None:
        """The offset up to which a journal is in the table; None if nothing of it is."""
        self._table.update_incremental()
        return self._table.transaction_version(app_id(journal))

    def epoch(self, journal: str) -> int | None:
        """The epoch in which the newest messages were read; None if it was not recorded."""
        return self._table.transaction_version(_epoch_id(journal))

    def commit(self, journal: str, end: int, epoch: int, files: Sequence[WrittenFile]) -> None:
        """Make the files visible and record the offset `end` and its epoch, in one transaction.

        If two writers commit the same range at once, one gets delta-rs's conflict error.
        """
        now_ms = time.time_ns() // 1_000_000
        surplus = self._surplus(sum(file.bytes for file in files))
        self._table.create_write_transaction(
            [
                *(_add_action(file, now_ms) for file in files),
                *(RemoveAction(file.path, True, now_ms, file.bytes) for file in surplus),
            ],
            mode="append",
            schema=TABLE_SCHEMA,
            partition_by=PARTITION_BY,
            commit_properties=CommitProperties(
                app_transactions=[
                    Transaction(app_id(journal), end),
                    Transaction(_epoch_id(journal), epoch),
                ]
            ),
        )
        self._table.update_incremental()
        for file in surplus:
            (self.path / file.path).unlink(missing_ok=True)

    def _surplus(self, new_bytes: int) -> "list[_TableFile]":
        """The oldest files, which must go if the table grows by so many bytes."""
        if self._keep_bytes is None:
            return []
        self._bytes += new_bytes
        if self._bytes <= self._keep_bytes:
            return []
        found = []
        for file in self._files():
            if self._bytes <= self._keep_bytes * KEPT_SHARE:
                break
            found.append(file)
            self._bytes -= file.bytes
        return found

    def _files(self) -> "list[_TableFile]":
        """All files of the table, oldest first."""
        held = pa.table(self._table.get_add_actions(flatten=True))
        rows = zip(
            held.column("modification_time").to_pylist(),
            held.column("path").to_pylist(),
            held.column("size_bytes").to_pylist(),
            strict=True,
        )
        return [_TableFile(path, size) for _, path, size in sorted(rows)]

    def _shorten_log(self) -> None:
        """Keep the log short, and remove the files that a killed run left behind."""
        if SHORT_LOG.items() - self._table.metadata().configuration.items():
            self._table.alter.set_table_properties(SHORT_LOG)
        self._table.vacuum(LOG_HOURS, dry_run=False, enforce_retention_duration=False, full=True)


class _TableFile(NamedTuple):
    """A file of the table."""

    path: str
    bytes: int


def _open_or_create(path: Path) -> DeltaTable:
    if DeltaTable.is_deltatable(str(path)):
        return DeltaTable(path)
    path.mkdir(parents=True, exist_ok=True)
    return DeltaTable.create(path, TABLE_SCHEMA, mode="ignore", partition_by=PARTITION_BY)


def app_id(journal: str) -> str:
    """The name under which the table records how far a journal has come."""
    return f"slipring/{journal}"


def _epoch_id(journal: str) -> str:
    """The name under which the table records the epoch in which a journal was read."""
    return f"{app_id(journal)}/epoch"


def _add_action(file: WrittenFile, now_ms: int) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.bytes,
        partition_values={"receive_date": file.receive_date},
        modification_time=now_ms,
        data_change=True,
        stats=file.stats,
    )
