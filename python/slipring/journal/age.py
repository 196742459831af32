"""When a message of a journal was received, found by its index. Quick to import: knows no Arrow."""

from slipring.errors import JournalError, JournalGap
from slipring.journal.location import OpenJournal
from slipring.native import JournalColumns

ONE_MESSAGE = 1
"""Bytes to read: there is always one message in an answer, however large it is."""
TIME_BYTES = 8


def received_ns(journal: OpenJournal, offset: int, end: int) -> int | None:
    """When the oldest message in the offsets [offset, end) was received.

    None if there is none, or if it cannot be read. Messages that retention has removed do not
    count. Reads one message: the cost does not depend on how many there are.
    """
    try:
        return _first(journal, max(offset, journal.first_offset), end)
    except JournalGap:
        journal.end_offset()  # retention has removed a segment: look where the journal begins now
    except JournalError:
        return None
    try:
        return _first(journal, max(offset, journal.first_offset), end)
    except JournalError:
        return None


def _first(journal: OpenJournal, start: int, end: int) -> int | None:
    if start >= end:
        return None
    found = journal.read(start, start + 1, ONE_MESSAGE)
    if not len(found):  # an offset that no message has: a crash left it out
        found = journal.read(start, end, ONE_MESSAGE)
    return _receive_ns(found) if len(found) else None


def _receive_ns(messages: JournalColumns) -> int:
    # Python 3.11 has no type for what offers a buffer.
    first = memoryview(messages.receive_ns)[:TIME_BYTES]  # type: ignore[arg-type,unused-ignore]
    return int.from_bytes(first, "little", signed=True)
