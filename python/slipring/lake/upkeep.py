"""The care of a table in the background: retention, compaction, vacuum.

Never disturbs its writers: what it does conflicts only with a writer that replaces the same files,
and then it leaves them. `care_for` is for a thread of its own.
"""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from slipring.errors import LakeConflict
from slipring.lake.compaction import Stopped, compact, plan
from slipring.lake.retention import Keep
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LOG_HOURS, LakeTable, log_properties
from slipring.lake.table_spec import TableSpec

log: logging.Logger = logging.getLogger("slipring.lake")

NICENESS = 10
"""Compaction runs when nothing else wants the processor."""


@dataclass(frozen=True)
class UpkeepPolicy:
    """How a table is cared for."""

    keep: Keep = field(default_factory=Keep)
    history_hours: int = LOG_HOURS
    """How long the log, and replaced and removed files stay, for readers of older versions."""
    vacuum_every: timedelta = timedelta(minutes=30)


@dataclass(frozen=True)
class UpkeepReport:
    """What one turn has done."""

    expired_files: int = 0
    compacted_files: int = 0
    new_files: int = 0
    rows: int = 0
    vacuumed_files: int = 0

    @property
    def is_idle(self) -> bool:
        return not (self.expired_files or self.compacted_files or self.vacuumed_files)


class TableUpkeep:
    """Cares for one table of a lake."""

    def __init__(self, lake: LakeLocation, spec: TableSpec, policy: UpkeepPolicy) -> None:
        """Create the table if it is not there."""
        self.table: LakeTable = LakeTable.open(lake, spec)
        self._policy = policy
        self._vacuumed: datetime | None = None
        self.table.set_properties(log_properties(policy.history_hours))

    def turn(self, now: datetime, stop: threading.Event | None = None) -> UpkeepReport:
        """Remove what is too old, compact one slice of time, and vacuum if it is time for it."""
        self.table.delta.update_incremental()
        expired = self._expire(now)
        old, new, rows = self._compact(now, stop or threading.Event())
        return UpkeepReport(expired, old, new, rows, self._vacuum(now))

    def _expire(self, now: datetime) -> int:
        surplus = self._policy.keep.surplus(self.table.files(), self.table.spec, now)
        if not surplus:
            return 0
        try:
            self.table.commit([], {}, [file.path for file in surplus])
        except LakeConflict:
            return 0
        return len(surplus)

    def _compact(self, now: datetime, stop: threading.Event) -> tuple[int, int, int]:
        for planned in plan(self.table.files(), self.table.spec, now):
            try:
                written = compact(self.table, planned, stop)
            except Stopped:
                break
            except (LakeConflict, FileNotFoundError):
                continue  # a slice that cannot be merged does not keep the others from it
            rows = sum(file.rows for file in written)
            return len(planned.files), len(written), rows
        return 0, 0, 0

    def _vacuum(self, now: datetime) -> int:
        if self._vacuumed is not None and now - self._vacuumed < self._policy.vacuum_every:
            return 0
        self._vacuumed = now
        return len(self.table.vacuum(self._policy.history_hours))


def _log_failure(table: str, error: Exception) -> None:
    log.warning("the table %s was not cared for, and is tried again: %s", table, error)


def care_for(
    tables: Sequence[TableUpkeep],
    stop: threading.Event,
    *,
    every_s: float = 10.0,
    on_turn: Callable[[str, UpkeepReport], None] = lambda _table, _report: None,
    on_failure: Callable[[str, Exception], None] = _log_failure,
) -> None:
    """Care for tables in turn until `stop` is set, at low priority; ends soon after it.

    A table that fails, as when the storage is away, is tried again; the others go on.
    """
    with suppress(OSError, AttributeError):  # only where threads have a priority
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    while not stop.is_set():
        is_idle = True
        for one in tables:
            if stop.is_set():
                return
            try:
                report = one.turn(datetime.now(UTC), stop)
            except Exception as error:  # noqa: BLE001 (nobody else cares for the tables)
                on_failure(one.table.spec.name, error)
                continue
            if not report.is_idle:
                on_turn(one.table.spec.name, report)
            is_idle = is_idle and not report.compacted_files
        if is_idle:
            stop.wait(every_s)
