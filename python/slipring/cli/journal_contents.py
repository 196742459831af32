"""A journal's contents as tables for people, or as JSON for programs."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.table import Table

from slipring.archive.location import CONSUMER
from slipring.cli.display import ago, counted, size
from slipring.cli.terminal_table import facts, plain, table
from slipring.journal.contents import JournalContents, SegmentContents
from slipring.native import Consumer
from slipring.recording.moment import format_time

Json = dict[str, Any]


def tables(found: JournalContents) -> list[Table]:
    """A summary, the segments, and the consumers."""
    shown = [_summary(found), _segments(found)]
    return [*shown, consumers_table(found)] if found.consumers else shown


def as_json(found: JournalContents) -> Json:
    """Everything that `tables` shows."""
    return {
        "folder": str(found.folder),
        "identity": found.identity,
        "open": found.is_open,
        "first_offset": found.first_offset,
        "end_offset": found.end_offset,
        "bytes": found.bytes,
        "segments": [asdict(segment) for segment in found.segments],
        "consumers": consumers_json(found),
    }


def consumers_table(found: JournalContents) -> Table:
    """The consumers, and how far each has read."""
    shown = table("consumer", "+read to", "+behind", "+moved")
    for one in found.consumers:
        row = consumer_json(one, found.count)
        if one.flaw:
            shown.add_row(plain(one.name), "", "", plain(one.flaw))
        else:
            moved = ago((time.time_ns() - (one.updated_ns or 0)) / 1e9)
            if one.offset is not None and one.offset > found.end_offset:
                moved += "; past the end of the journal on the disk"
            shown.add_row(plain(one.name), f"{one.offset:,}", f"{row['behind']:,}", moved)
    return shown


def consumers_json(found: JournalContents) -> list[Json]:
    """The consumers as JSON."""
    return [consumer_json(one, found.count) for one in found.consumers]


def consumer_json(one: Consumer, count: Callable[[int], int]) -> Json:
    """A consumer as JSON; `count` returns how many messages there are from an offset on."""
    behind = None if one.offset is None else count(one.offset)
    names = ("name", "journal", "offset", "epoch", "updated_ns", "flaw")
    return {**{name: getattr(one, name) for name in names}, "behind": behind}


def _summary(found: JournalContents) -> Table:
    times = [time for one in found.segments for time in (one.first_ns, one.last_ns) if time]
    span = f"{_time(times[0])} to {_time(times[-1])}" if times else "none yet"
    messages = counted(found.messages, "message")
    return facts(
        [
            ("journal", f"{found.identity} in {found.folder}"),
            ("broker", "has it open" if found.is_open else "none has it open"),
            ("messages", f"{messages}, offsets {found.first_offset:,} to {found.end_offset:,}"),
            ("received", span),
            ("size", f"{size(found.bytes)} in {counted(len(found.segments), 'segment')}"),
            *_archived(found),
        ]
    )


def _archived(found: JournalContents) -> list[tuple[str, str]]:
    """How far the archive is, by its place among the consumers."""
    for one in found.consumers:
        if one.name == CONSUMER and one.offset is not None and one.journal == found.identity:
            waiting = sum(segment.first_offset >= one.offset for segment in found.segments[:-1])
            behind = counted(found.count(one.offset), "message")
            segments = counted(waiting, "complete segment")
            return [("archived", f"up to offset {one.offset:,}; {behind} behind, {segments} wait")]
    return []


def _segments(found: JournalContents) -> Table:
    shown = table("segment", "+messages", "+size", "first received", "last received")
    for one in found.segments:
        shown.add_row(*_cells(one))
    return shown


def _cells(one: SegmentContents) -> tuple[str, ...]:
    times = (_time(one.first_ns), _time(one.last_ns))
    return (one.name, f"{one.messages:,}", size(one.bytes), *times)


def _time(receive_ns: int | None) -> str:
    """A time to the millisecond."""
    return "" if receive_ns is None else f"{format_time(receive_ns)[:23]}Z"
