"""About how large the messages of a journal are, so that work can be divided."""

from slipring.errors import JournalDamaged
from slipring.journal.location import OpenJournal

# What is read to estimate the size of messages.
PROBE_BYTES = 1 << 18


def message_bytes(journal: OpenJournal, start: int, end: int) -> float:
    """About how many bytes a message of this range has, by the first of them."""
    if start >= end:
        return 1.0
    try:
        messages = journal.read(start, end, PROBE_BYTES)
    except JournalDamaged:
        return 1.0
    size = sum(len(part[1]) for part in (messages.payload, messages.properties, messages.topic))
    return max(1.0, size / max(1, len(messages)))
