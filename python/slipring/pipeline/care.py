"""The care for the tables of a lake while jobs fill them, in a thread of its own."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

from slipring.lake.retention import Keep
from slipring.lake.specs import TABLES
from slipring.lake.storage import LakeLocation
from slipring.lake.upkeep import TableUpkeep, UpkeepPolicy, care_for
from slipring.pipeline.archive_section import ArchivedTable, ArchiveSection
from slipring.pipeline.stopping import when_stopped

TABLES_OF: dict[str, tuple[str, ...]] = {
    "archive": ("samples", "frames", "messages", "set_aside"),
    "rollup": ("rollup_1s", "rollup_1m", "rollup_1h", "rollup_late"),
    "derive": ("derived",),
    "limits": ("events", "limit_state"),
    "latency": ("latency", "subscriptions"),
    "budget": ("budget",),
}
"""The tables that each job fills."""


@contextmanager
def cared_for(
    lake: LakeLocation,
    section: ArchiveSection,
    jobs: Sequence[str],
    stop: threading.Event | None = None,
) -> Iterator[None]:
    """Care for the tables of these jobs until the block ends, or `stop` is set."""
    if not section.compact and not section.keep:
        yield
        return
    left_out = set(get_args(ArchivedTable)) - set(section.tables)
    names = [name for job in jobs for name in TABLES_OF[job] if name not in left_out]
    tables = [TableUpkeep(lake, TABLES[name], _policy(section, name)) for name in names]
    enough = threading.Event()
    thread = threading.Thread(
        target=care_for, args=(tables, enough), name="care-for-tables", daemon=True
    )
    thread.start()
    try:
        with when_stopped(stop or enough, enough.set):
            yield
    finally:
        enough.set()
        thread.join()


def _policy(section: ArchiveSection, name: str) -> UpkeepPolicy:
    text = section.keep.get(name)
    keep = Keep() if text is None else Keep.of(text)
    return UpkeepPolicy(keep=keep, history_hours=section.history_hours)
