"""What a start found in the journal, as a person reads it in the log."""

import logging
from collections.abc import Iterator

from slipring.native import DamagedRange, Recovery

DAMAGE_TOLD = 20
"""Damaged ranges that are told one by one; the rest of them is one line."""


def tell(recovery: Recovery) -> Iterator[tuple[int, str]]:
    """Lines for the log with their levels: the sum first, then what is missing."""
    yield logging.INFO, f"journal: {kept(recovery)}; {_there_again(recovery)}"
    if recovery.cut_bytes:
        yield logging.WARNING, f"journal: {recovery.cut_why}"
    for damage in recovery.damage[:DAMAGE_TOLD]:
        yield logging.WARNING, f"journal: {damaged(damage)}"
    more = len(recovery.damage) - DAMAGE_TOLD
    if more > 0:
        yield logging.WARNING, f"journal: {more:,} more ranges are damaged; see `slipring status`"


def kept(recovery: Recovery) -> str:
    """Say which messages there are."""
    first, end = recovery.first_offset, recovery.next_offset
    if first == end:
        return "new, nothing in it yet" if end == 0 else f"0 messages kept, goes on at {end:,}"
    files = "1 segment" if recovery.segments == 1 else f"{recovery.segments:,} segments"
    return f"{end - first:,} messages kept, offsets {first:,} to {end - 1:,} in {files}"


def damaged(damage: DamagedRange) -> str:
    """Say which messages cannot be read, and why."""
    first, end = damage.first_offset, damage.end_offset
    return f"offsets {first:,} to {end - 1:,} cannot be read, the rest is served: {damage.why}"


def _there_again(recovery: Recovery) -> str:
    return (
        f"recovered {recovery.sessions:,} sessions with {recovery.queued:,} waiting messages and "
        f"{recovery.retained:,} retained messages in {recovery.seconds:.2f} s"
    )
