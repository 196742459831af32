"""What a start found in the journal, as a person reads it. Pure."""

import logging
from collections.abc import Iterator

from slipring.native import DamagedRange, Receipt

DAMAGE_TOLD = 20
"""Damaged ranges that are told one by one; the rest of them is one line."""


def tell(receipt: Receipt) -> Iterator[tuple[int, str]]:
    """Lines for the log with their levels: what there is, then what is missing."""
    yield logging.INFO, f"journal {receipt.identity}: {in_a_line(receipt)}"
    if receipt.narrowed is not None:
        yield logging.WARNING, _narrowed(receipt.narrowed)
    if receipt.cut_why:
        yield logging.WARNING, f"journal: {receipt.cut_why}"
    for damage in receipt.damage[:DAMAGE_TOLD]:
        yield logging.WARNING, f"journal: {damaged(damage)}"
    more = len(receipt.damage) - DAMAGE_TOLD
    if more > 0:
        yield logging.WARNING, f"journal: {more:,} more damaged ranges; `slipring journal check`"
    for flaw in receipt.flaws[:DAMAGE_TOLD]:
        yield logging.WARNING, f"journal: some of the sessions is lost: {flaw}"


def in_a_line(receipt: Receipt) -> str:
    """Say what there is."""
    again = [_many(receipt.sessions, "session")]
    again.append(f"{_many(receipt.queued, 'message')} that wait")
    again.append(_many(receipt.retained, "retained message"))
    return f"{_kept(receipt)}; recovered {', '.join(again)} in {receipt.seconds:.2f} s"


def damaged(damage: DamagedRange) -> str:
    """Say which messages cannot be read, and why."""
    first, last = damage.first_offset, damage.end_offset - 1
    return f"offsets {first:,} to {last:,} cannot be read, the rest is served: {damage.why}"


def _narrowed(mode: int) -> str:
    return (
        f"journal: others could read its folder (mode {mode:04o}), and cannot any more; readers of "
        "another user ask the broker, see docs/remote.md"
    )


def messages_between(receipt: Receipt, first: int, end: int) -> int:
    """How many messages these offsets are; those that were left out after a crash are none."""
    left_out = sum(max(0, min(end, to) - max(first, start)) for start, to in receipt.left_out)
    return max(0, end - first - left_out)


def kept(receipt: Receipt) -> int:
    """How many messages there are; a range may be damaged twice."""
    count = messages_between(receipt, receipt.first_offset, receipt.next_offset)
    reached = receipt.first_offset
    for damage in sorted(receipt.damage, key=lambda one: one.first_offset):
        count -= max(0, damage.end_offset - max(reached, damage.first_offset))
        reached = max(reached, damage.end_offset)
    return count


def _kept(receipt: Receipt) -> str:
    first, end = receipt.first_offset, receipt.next_offset
    if end == 0:
        return "no messages yet"
    if first == end:
        return f"no messages, the next offset is {end:,}"
    files = _many(receipt.segments, "segment")
    return f"{_many(kept(receipt), 'message')} kept, offsets {first:,} to {end - 1:,} in {files}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
