"""The result of a check or a salvage, as tables for people, or as JSON for programs."""

from collections.abc import Iterable
from typing import Any

from rich.table import Table

from slipring.cli.display import counted, size
from slipring.cli.journal_contents import consumer_json
from slipring.cli.terminal_table import facts, plain, table
from slipring.native import DamageReport, JournalReport, SalvageReport, SegmentReport
from slipring.recording.moment import format_time

GOOD_INDEXES = ("good", "absent")
Json = dict[str, Any]


def facts_of(report: JournalReport, *, is_open: bool) -> Table:
    """The result of a check in a few lines: what a start would find."""
    kept = counted(report.messages, "message")
    offsets = f"offsets {report.first_offset:,} to {report.end_offset:,}"
    segments = counted(len(report.segments), "segment")
    return facts(
        [
            ("journal", report.identity or "unknown: no segment has a whole header"),
            ("kept", f"{kept} in {counted(report.batches, 'batch', 'batches')}, {offsets}"),
            ("received", _span(report)),
            ("read", f"{size(report.bytes)} in {segments}"),
            ("cut", _tail(report, is_open=is_open)),
            ("damaged", _damaged(report)),
            ("indexes", _indexes(report)),
            ("snapshot", _snapshot(report)),
            ("consumers", _consumers(report)),
        ]
    )


def salvage_facts(report: SalvageReport) -> Table:
    """The result of a salvage in a few lines."""
    copied = counted(report.messages, "message")
    return facts(
        [
            ("copied", f"{copied} in {counted(report.batches, 'batch', 'batches')}"),
            ("written", f"{size(report.bytes)} in {counted(report.segments, 'segment')}"),
            ("lost", _lost(report)),
            ("state", "copied" if report.has_state else "none; it is read from the start"),
            ("consumers", f"{report.consumers:,}"),
        ]
    )


def salvage_tables(report: SalvageReport) -> list[Table]:
    """What could not be read, if there is anything."""
    why = "it belongs to another journal or version"
    return _damage_tables(report, [(name, why) for name in report.foreign])


def salvage_json(report: SalvageReport) -> Json:
    """The result of a salvage as JSON."""
    return {
        "whole": report.is_whole,
        **_attributes(report, "messages", "batches", "bytes", "segments", "lost"),
        "damage": [_damage_json(one) for one in report.damage],
        **_attributes(report, "more_damage", "foreign", "has_state", "consumers"),
    }


def _lost(report: SalvageReport) -> str:
    if report.is_whole:
        return "nothing"
    places = counted(len(report.damage) + report.more_damage + len(report.foreign), "place")
    more = "at least " if report.more_damage or report.foreign else ""
    return f"{more}{counted(report.lost, 'message')}, in {places}"


def _damage_tables(
    report: SalvageReport | JournalReport, flawed: Iterable[tuple[str, str]]
) -> list[Table]:
    """Damaged parts of segments, and whole segments that are flawed; none if all is well."""
    shown = table("damaged segment", "+byte", "+first offset", "+end offset", "why")
    for one in report.damage:
        numbers = (one.position, one.first_offset, one.end_offset)
        shown.add_row(plain(one.segment), *(f"{number:,}" for number in numbers), plain(one.why))
    for name, flaw in flawed:
        shown.add_row(plain(name), "0", "", "", plain(flaw))
    if report.more_damage:
        shown.caption = f"and {report.more_damage:,} more"
    return [shown] if shown.row_count else []


def tables(report: JournalReport) -> list[Table]:
    """What is damaged, if there is anything."""
    return _damage_tables(report, [(one.name, one.flaw) for one in report.segments if one.flaw])


def as_json(report: JournalReport, *, is_open: bool) -> Json:
    """The result of a check as JSON."""

    def behind(offset: int) -> int:
        return max(0, report.end_offset - offset)

    return {
        "whole": report.is_whole,
        "open": is_open,
        **_attributes(report, "identity", "first_offset", "end_offset"),
        **_attributes(report, "messages", "batches", "bytes", "record_bytes"),
        "segments": [_segment_json(one) for one in report.segments],
        "damage": [_damage_json(one) for one in report.damage],
        "more_damage": report.more_damage,
        "tail": report.tail and {**_damage_json(report.tail), "bytes": report.tail_bytes},
        "snapshot": _snapshot_json(report),
        "snapshot_flaw": report.snapshot_flaw,
        "consumers": [consumer_json(one, behind) for one in report.consumers],
    }


def _span(report: JournalReport) -> str:
    oldest = [one.oldest_ns for one in report.segments if one.oldest_ns is not None]
    newest = [one.newest_ns for one in report.segments if one.newest_ns is not None]
    if not oldest or not newest:
        return "nothing"
    return f"{format_time(min(oldest))} to {format_time(max(newest))}"


def _tail(report: JournalReport, *, is_open: bool) -> str:
    if report.tail is None:
        return "nothing"
    tail = f"{report.tail_bytes:,} bytes of {report.tail.segment} at byte {report.tail.position:,}"
    if is_open:
        return f"nothing; {tail} are being written"
    return f"{tail} at the next start: {report.tail.why}"


def _damaged(report: JournalReport) -> str:
    places = len(report.damage) + report.more_damage
    heads = sum(one.flaw is not None for one in report.segments)
    if report.is_whole:
        return "nothing"
    lost = sum(one.end_offset - one.first_offset for one in report.damage)
    more = "at least " if report.more_damage else ""
    return (
        f"{counted(places + heads, 'place')}, {more}{counted(lost, 'message')} lost; "
        "the others can be read"
    )


def _indexes(report: JournalReport) -> str:
    bad = [one for one in report.segments if one.index not in GOOD_INDEXES]
    good = sum(one.index == "good" for one in report.segments)
    told = f"{good:,} good, {len(report.segments) - good - len(bad):,} absent"
    named = "".join(f"; {one.name}: {one.index}" for one in bad[:3])
    return f"{told}, {len(bad):,} not used{named}" if bad else told


def _snapshot(report: JournalReport) -> str:
    if report.snapshot_flaw:
        return f"damaged: {report.snapshot_flaw}; the state is read from the start instead"
    if report.snapshot is None:
        return "none; the state is read from the start"
    segment, offset, length = report.snapshot
    return f"{size(length)} of state as of offset {offset:,}, in {segment}"


def _consumers(report: JournalReport) -> str:
    flawed = [one for one in report.consumers if one.flaw]
    told = f"{len(report.consumers):,}"
    return told + "".join(f"; {one.name}: {one.flaw}" for one in flawed)


def _snapshot_json(report: JournalReport) -> Json | None:
    if report.snapshot is None:
        return None
    segment, offset, length = report.snapshot
    return {"segment": segment, "offset": offset, "bytes": length}


def _segment_json(one: SegmentReport) -> Json:
    times = ("oldest_ns", "newest_ns", "epoch")
    return _attributes(one, "name", "bytes", "messages", *times, "flaw", "index")


def _damage_json(one: DamageReport) -> Json:
    return _attributes(one, "segment", "position", "first_offset", "end_offset", "why")


def _attributes(one: object, *names: str) -> Json:
    return {name: getattr(one, name) for name in names}
