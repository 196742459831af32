"""Reads a range of a journal around what is damaged in it."""

from collections.abc import Callable, Iterator

from slipring.errors import JournalDamaged
from slipring.journal.location import OpenJournal
from slipring.native import JournalColumns


def undamaged(
    journal: OpenJournal,
    start: int,
    end: int,
    bytes_max: int,
    *,
    rows_max: int | None = None,
    on_damage: Callable[[int, JournalDamaged], None] = lambda _offset, _damage: None,
) -> Iterator[tuple[int, JournalColumns]]:
    """The messages of [start, end), in reads; with each the offset at which it was asked to begin.

    A damaged part is left out, after `on_damage` with its first offset in the range.
    """
    stop = end
    while start < end:
        until = stop if rows_max is None else min(stop, start + rows_max)
        try:
            messages = journal.read(start, until, bytes_max)
        except JournalDamaged as damage:
            if damage.start > start:
                stop = damage.start
            else:
                on_damage(start, damage)
                start, stop = damage.end, end
            continue
        yield start, messages
        start = messages.end
        stop = end if start >= stop else stop
