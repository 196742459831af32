"""What a start found in the journal, in words and numbers. Pure."""

import logging
from collections.abc import Iterator

from slipring.status.engine import DamagedRange, StartReceipt

DAMAGE_TOLD = 20
"""Damaged ranges that get a log line each; the rest share one line."""


def log_lines(receipt: StartReceipt) -> Iterator[tuple[int, str]]:
    """Log lines with their levels: what there is, then what is missing."""
    yield logging.INFO, f"journal {receipt['identity']}: {in_words(receipt)}"
    if receipt["narrowed"] is not None:
        text = f"others could read its folder (mode {receipt['narrowed']:04o}), and cannot any more"
        readers = "readers of another user ask the broker, see docs/remote.md"
        yield logging.WARNING, f"journal: {text}; {readers}"
    if receipt["cut_why"]:
        yield logging.WARNING, f"journal: {receipt['cut_why']}"
    for damage in receipt["damage"][:DAMAGE_TOLD]:
        yield logging.WARNING, f"journal: {damage_text(damage)}"
    more = len(receipt["damage"]) - DAMAGE_TOLD
    if more > 0:
        yield logging.WARNING, f"journal: {more:,} more damaged ranges; `slipring journal check`"
    for flaw in receipt["flaws"][:DAMAGE_TOLD]:
        yield logging.WARNING, f"journal: some of the sessions' state is lost: {flaw}"


def in_words(receipt: StartReceipt) -> str:
    """Describe what there is in one line."""
    again = [_many(receipt["sessions"], "session")]
    again.append(f"{_many(receipt['queued'], 'message')} that wait")
    again.append(_many(receipt["retained"], "retained message"))
    again.append(_many(receipt["requests"], "request"))
    return f"{_kept(receipt)}; recovered {', '.join(again)} in {receipt['seconds']:.2f} s"


def damage_text(damage: DamagedRange) -> str:
    """Describe which messages cannot be read, and why."""
    first, last = damage["first_offset"], damage["end_offset"] - 1
    return f"offsets {first:,} to {last:,} cannot be read, the rest is served: {damage['why']}"


def messages_between(receipt: StartReceipt, first: int, end: int) -> int:
    """Count the messages in a range of offsets, without offsets that a crash left unused."""
    left_out = sum(max(0, min(end, to) - max(first, start)) for start, to in receipt["left_out"])
    return max(0, end - first - left_out)


def kept_messages(receipt: StartReceipt) -> int:
    """Count the readable messages; damaged ranges may overlap."""
    count = messages_between(receipt, receipt["first_offset"], receipt["next_offset"])
    reached = receipt["first_offset"]
    for damage in sorted(receipt["damage"], key=lambda one: one["first_offset"]):
        count -= max(0, damage["end_offset"] - max(reached, damage["first_offset"]))
        reached = max(reached, damage["end_offset"])
    return count


def _kept(receipt: StartReceipt) -> str:
    first, end = receipt["first_offset"], receipt["next_offset"]
    if end == 0:
        return "no messages yet"
    if first == end:
        return f"no messages, the next offset is {end:,}"
    messages, files = kept_messages(receipt), _many(receipt["segments"], "segment")
    return f"{_many(messages, 'message')} kept, offsets {first:,} to {end - 1:,} in {files}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
