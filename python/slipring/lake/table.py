"""A Delta table of the lake: opened or created, committed to, and grown, through delta-rs.

The table itself records how far each application has come; no other source is trusted about it.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import CommitFailedError, TableNotFoundError
from deltalake.transaction import AddAction, PostCommitHookProperties, RemoveAction

from slipring.errors import LakeConflict, PipelineError
from slipring.lake.catalogue import note_table
from slipring.lake.files import WrittenFile
from slipring.lake.storage import LakeLocation
from slipring.lake.table_spec import TableSpec

__all__ = ["LakeTable", "TableFileEntry", "TableSpec"]

REWRITES = "slipring/rewrites"
"""Counts the commits that removed files, as an application of its own.

delta-rs does not notice that two commits remove the same file if one of them only rearranged rows;
it does notice that two commits are of one application.
"""
COMMIT_ATTEMPTS = 20
LOG_HOURS = 1
"""A table with two commits per second has 7,200 log entries then. Each commit lists them."""
CLEAN_EVERY = 100
"""Commits between two looks for log entries that are too old; a look costs as much as five."""


class TableFileEntry(NamedTuple):
    """A file of the table, by its log."""

    path: str
    bytes: int
    rows: int
    time_ms: int
    """When it was committed, or, if it was compacted, the newest of what it replaced."""
    partition: dict[str, str]
    least: dict[str, object]
    most: dict[str, object]


class LakeTable:
    """One table of a lake."""

    def __init__(self, location: LakeLocation, spec: TableSpec, delta: DeltaTable) -> None:
        """`location` is that of the table."""
        self.location = location
        self.spec = spec
        self.delta = delta
        self.rows_written: int = 0
        """Rows that were committed through this object; one that is written again counts again."""

    @classmethod
    def open(cls, lake: LakeLocation, spec: TableSpec) -> "LakeTable":
        """Open the table of a lake. Create it if it is not there; add new columns if it is old."""
        location = lake.child(spec.name)
        table = cls(location, spec, _open_or_create(location, spec))
        table._grow()
        note_table(lake, spec.name, table.delta)
        return table

    def committed(self, app: str) -> int | None:
        """The newest version of an application, such as `app_id(journal)`; None if it has none."""
        self.delta.update_incremental()
        return self.recorded(app)

    def recorded(self, app: str) -> int | None:
        """The same by the state of the table that was read last."""
        return self.delta.transaction_version(app)

    def commit(
        self,
        files: Sequence[WrittenFile],
        versions: Mapping[str, int],
        remove: Sequence[str] = (),
        *,
        after: Mapping[str, int | None] | None = None,
        rearranged_ms: int | None = None,
    ) -> None:
        """Add and remove files and record versions of applications, in one transaction.

        Raises LakeConflict, and changes nothing, if another writer has committed for one of the
        applications since this table looked, or since the versions `after`, or has removed a file
        that is to be removed here. Other commits at the same time do no harm. With
        `rearranged_ms` the new files have exactly the rows of the removed ones, which were
        committed up to this time; readers of changes need not look at them.
        """
        seen = {app: self.recorded(app) for app in versions} | dict(after or {})
        for attempts_left in reversed(range(COMMIT_ATTEMPTS)):
            self._refuse_overtaken(seen)
            try:
                self._commit_once(files, versions, remove, rearranged_ms)
            except CommitFailedError as error:
                self.delta.update_incremental()
                if self._has_all(files):
                    return  # the storage has done it, and only its answer was lost
                if not attempts_left:
                    raise LakeConflict(f"{self.location.uri}: {error}") from error
            else:
                self.rows_written += sum(file.rows for file in files)
                self.delta.update_incremental()
                return

    def files(self) -> list[TableFileEntry]:
        """All files by the state of the table that was read last, oldest first."""
        held = pa.table(self.delta.get_add_actions(flatten=True))
        return sorted(map(_entry, held.to_pylist()), key=lambda file: (file.time_ms, file.path))

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Set properties of the table, if they are not set already."""
        if properties.items() - self.delta.metadata().configuration.items():
            self.delta.alter.set_table_properties(dict(properties))
            self.delta.update_incremental()

    def vacuum(self, hours: int) -> list[str]:
        """Delete what no version of the last hours needs, and files that nobody committed.

        A file of an attempt that still runs is younger than that.
        """
        return self.delta.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)

    def delete_files(self, paths: Sequence[str]) -> None:
        """Delete removed files at once; a reader that began before may miss them."""
        files = self.location.filesystem()
        for path in paths:
            with suppress(FileNotFoundError):
                files.delete_file(path)

    def _commit_once(
        self,
        files: Sequence[WrittenFile],
        versions: Mapping[str, int],
        remove: Sequence[str],
        rearranged_ms: int | None,
    ) -> None:
        now_ms = time.time_ns() // 1_000_000
        time_ms, data_change = rearranged_ms or now_ms, rearranged_ms is None
        applications = [Transaction(app, version) for app, version in versions.items()]
        if remove:
            applications.append(Transaction(REWRITES, (self.recorded(REWRITES) or 0) + 1))
        self.delta.create_write_transaction(
            [
                *(_add_action(file, time_ms, data_change) for file in files),
                *(
                    RemoveAction(file.path, data_change, now_ms, file.bytes, dict(file.partition))
                    for file in self._held(remove)
                ),
            ],
            mode="append",
            schema=self.spec.schema,
            partition_by=self.spec.partition_by,
            commit_properties=CommitProperties(app_transactions=applications),
            post_commithook_properties=PostCommitHookProperties(
                cleanup_expired_logs=(self.delta.version() + 1) % CLEAN_EVERY == 0
            ),
        )

    def _has_all(self, files: Sequence[WrittenFile]) -> bool:
        """Whether these files are in the table; no other commit has files of these names."""
        return bool(files) and {file.path for file in files} <= {file.path for file in self.files()}

    def _refuse_overtaken(self, seen: Mapping[str, int | None]) -> None:
        for app, version in seen.items():
            if (now := self.recorded(app)) != version:
                raise LakeConflict(
                    f"{self.location.uri}: another writer has committed for {app}: "
                    f"it was at {version} and is at {now}"
                )

    def _held(self, paths: Sequence[str]) -> list[TableFileEntry]:
        """The named files; raises LakeConflict if one of them is not in the table any more."""
        if not paths:
            return []
        held = {file.path: file for file in self.files()}
        if missing := [path for path in paths if path not in held]:
            raise LakeConflict(
                f"{self.location.uri}: another writer has removed {missing[0]} meanwhile"
            )
        return [held[path] for path in paths]

    def _grow(self) -> None:
        """Add the columns that the table lacks; two that grow it at once do no harm."""
        for attempts_left in reversed(range(COMMIT_ATTEMPTS)):
            missing = self._missing_columns()
            if not missing:
                return
            try:
                self.delta.alter.add_columns(missing)
            except CommitFailedError:
                if not attempts_left:
                    raise
            self.delta.update_incremental()

    def _missing_columns(self) -> list[Field]:
        there = {field.name: field for field in self.delta.schema().fields}
        wanted = Schema.from_arrow(self.spec.schema).fields
        for field in wanted:
            found = there.get(field.name)
            if found is None and not field.nullable:
                raise PipelineError(
                    f"{self.location.uri} has no column {field.name}, which may not be null; "
                    "only nullable columns can be added to a table"
                )
            if found is not None and found.type != field.type:
                raise PipelineError(
                    f"{self.location.uri}: the column {field.name} is {found.type}, "
                    f"not {field.type}; its type cannot be changed"
                )
        return [field for field in wanted if field.name not in there]


def app_id(journal: str) -> str:
    """The name under which a table records how far a journal has come."""
    return f"slipring/{journal}"


def epoch_id(journal: str) -> str:
    """The name under which a table records the epoch in which a journal was read."""
    return f"{app_id(journal)}/epoch"


def log_properties(hours: int) -> dict[str, str]:
    """How long the log of a table keeps its entries and removed files."""
    return {
        "delta.logRetentionDuration": f"interval {hours} hours",
        "delta.deletedFileRetentionDuration": f"interval {hours} hours",
    }


def _open_or_create(location: LakeLocation, spec: TableSpec) -> DeltaTable:
    options = location.delta_options()
    # Not is_deltatable: while it waits for storage, no other thread of the process runs.
    with suppress(TableNotFoundError):
        return DeltaTable(location.uri, storage_options=options)
    if location.is_local:
        location.path.mkdir(parents=True, exist_ok=True)
    return DeltaTable.create(
        location.uri,
        spec.schema,
        mode="ignore",
        partition_by=spec.partition_by,
        configuration=dict(log_properties(LOG_HOURS)),
        storage_options=options,
    )


def _entry(row: dict[str, object]) -> TableFileEntry:
    def part(prefix: str) -> dict[str, object]:
        return {
            name.removeprefix(prefix): value
            for name, value in row.items()
            if name.startswith(prefix) and value is not None
        }

    return TableFileEntry(
        path=str(row["path"]),
        bytes=int(str(row["size_bytes"])),
        rows=int(str(row["num_records"])),
        time_ms=int(str(row["modification_time"])),
        partition={name: str(value) for name, value in part("partition.").items()},
        least=part("min."),
        most=part("max."),
    )


def _add_action(file: WrittenFile, time_ms: int, data_change: bool) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.bytes,
        partition_values=file.partition,
        modification_time=time_ms,
        data_change=data_change,
        stats=file.stats,
    )
