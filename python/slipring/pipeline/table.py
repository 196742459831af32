"""The Delta table `<lake>/messages`: made, committed to and read through delta-rs.

The table itself says how far each journal has come; nothing else is trusted about it.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction, RemoveAction

from slipring.pipeline.parquet import ROW_SCHEMA, NewFile

TABLE_SCHEMA = ROW_SCHEMA.append(pa.field("receive_date", pa.date32(), nullable=False))
PARTITION_BY = ["receive_date"]

KEPT_SHARE = 0.9
"""Where the oldest files go, so many go that this share stays: not one in each commit."""
FORGOTTEN_HOURS = 1
FORGOTTEN = {
    "delta.logRetentionDuration": f"interval {FORGOTTEN_HOURS} hours",
    "delta.deletedFileRetentionDuration": f"interval {FORGOTTEN_HOURS} hours",
}
"""How long the log of a table of bounded size knows what is gone."""


class MessageTable:
    """All messages of a lake, one row per journal offset."""

    def __init__(self, lake: Path, keep_bytes: int | None = None) -> None:
        """With `keep_bytes` it is a window: when it is larger, its oldest files go."""
        self.path = (lake / "messages").absolute()
        self._table = _open_or_create(self.path)
        self._keep_bytes = keep_bytes
        if keep_bytes is not None:
            self._forget_soon()
            self._bytes = sum(file.bytes for file in self._files())

    @property
    def version(self) -> int:
        return self._table.version()

    def committed(self, journal: str) -> int | None:
        """The offset up to which a journal is in the table; None when nothing of it is."""
        self._table.update_incremental()
        return self._table.transaction_version(app_id(journal))

    def epoch(self, journal: str) -> int | None:
        """The epoch in which the newest messages were read; None where it was not noted."""
        return self._table.transaction_version(epoch_id(journal))

    def commit(self, journal: str, end: int, epoch: int, files: Sequence[NewFile]) -> None:
        """Make the files visible and note the offset `end` with its epoch, in one transaction.

        Of two writers that try the same at once, one gets delta-rs's conflict error.
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
                    Transaction(epoch_id(journal), epoch),
                ]
            ),
        )
        self._table.update_incremental()
        for file in surplus:
            (self.path / file.path).unlink(missing_ok=True)

    def _surplus(self, new_bytes: int) -> "list[_Held]":
        """The oldest files, where there would be too much with so many bytes more."""
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

    def _files(self) -> "list[_Held]":
        """All files of the table, oldest first."""
        held = pa.table(self._table.get_add_actions(flatten=True))
        rows = zip(
            held.column("modification_time").to_pylist(),
            held.column("path").to_pylist(),
            held.column("size_bytes").to_pylist(),
            strict=True,
        )
        return [_Held(path, size) for _, path, size in sorted(rows)]

    def _forget_soon(self) -> None:
        """What is gone leaves neither a long log nor files that a killed run did not remove."""
        if FORGOTTEN.items() - self._table.metadata().configuration.items():
            self._table.alter.set_table_properties(FORGOTTEN)
        self._table.vacuum(
            FORGOTTEN_HOURS, dry_run=False, enforce_retention_duration=False, full=True
        )


class _Held(NamedTuple):
    """A file of the table."""

    path: str
    bytes: int


def _open_or_create(path: Path) -> DeltaTable:
    if DeltaTable.is_deltatable(str(path)):
        return DeltaTable(path)
    path.mkdir(parents=True, exist_ok=True)
    return DeltaTable.create(path, TABLE_SCHEMA, mode="ignore", partition_by=PARTITION_BY)


def app_id(journal: str) -> str:
    """Under which name the table notes how far a journal has come."""
    return f"slipring/{journal}"


def epoch_id(journal: str) -> str:
    """Under which name the table notes the epoch in which a journal was read."""
    return f"{app_id(journal)}/epoch"


def _add_action(file: NewFile, now_ms: int) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.bytes,
        partition_values={"receive_date": file.receive_date},
        modification_time=now_ms,
        data_change=True,
        stats=file.stats,
    )
