"""A journal's contents as tables for people, or as JSON for programs."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.table import Table

from slipring.cli.display import ago, counted, size
from slipring.cli.tables import facts, plain, table
from slipring.native import Consumer
from slipring.recording.moment import format_time
from slipring.recording.segments import Contents, Segment

Json = dict[str, Any]


def tables(found: Contents) -> list[Table]:
    """What the journal is, its segments, its consumers."""
    shown = [_summary(found), _segments(found)]
    return [*shown, consumers_table(found)] if found.consumers else shown


def as_json(found: Contents) -> Json:
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


def consumers_table(found: Contents) -> Table:
    """Who reads, and how far each has come."""
    shown = table("consumer", "+read to", "+behind", "+moved")
    for one in found.consumers:
        row = consumer_json(one, found.count)
        if one.flaw:
            shown.add_row(plain(one.name), "", "", plain(one.flaw))
        else:
            moved = ago((time.time_ns() - (one.updated_ns or 0)) / 1e9)
            if one.offset is not None and one.offset > found.end_offset:
                moved += "; further than the journal is on the disk"
            shown.add_row(plain(one.name), f"{one.offset:,}", f"{row['behind']:,}", moved)
    return shown


def consumers_json(found: Contents) -> list[Json]:
    """The same for programs."""
    return [consumer_json(one, found.count) for one in found.consumers]


def consumer_json(one: Consumer, count: Callable[[int], int]) -> Json:
    """One consumer; `behind` is how many messages it has not read, as `count` says."""
    return {
        "name": one.name,
        "journal": one.journal,
        "offset": one.offset,
        "epoch": one.epoch,
        "behind": None if one.offset is None else count(one.offset),
        "updated_ns": one.updated_ns,
        "flaw": one.flaw,
    }


def _summary(found: Contents) -> Table:
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
        ]
    )


def _segments(found: Contents) -> Table:
    shown = table("segment", "+messages", "+size", "first received", "last received")
    for one in found.segments:
        shown.add_row(*_cells(one))
    return shown


def _cells(one: Segment) -> tuple[str, ...]:
    times = (_time(one.first_ns), _time(one.last_ns))
    return (one.name, f"{one.messages:,}", size(one.bytes), *times)


def _time(receive_ns: int | None) -> str:
    """To the millisecond: what a person reads."""
    return "" if receive_ns is None else f"{format_time(receive_ns)[:23]}Z"
