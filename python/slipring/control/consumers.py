"""Who reads the journal, and how far behind each is."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from slipring.control.receipt import messages_between
from slipring.errors import JournalError
from slipring.native import Consumer, Receipt, list_consumers


@dataclass(frozen=True, slots=True)
class Reading:
    """One consumer as it stands to the journal; `flaw` says why nothing is known of it."""

    name: str
    offset: int | None
    behind: int | None
    updated_ns: int | None
    flaw: str | None


def known_consumers(folder: Path | None) -> list[Consumer]:
    """Those that left their position beside the journal; none where that cannot be read."""
    try:
        return list_consumers(folder) if folder else []
    except JournalError:  # a broken disk is told by the journal itself
        return []


def readings(consumers: Iterable[Consumer], receipt: Receipt, next_offset: int) -> list[Reading]:
    """How far behind each is, the last one first."""
    found = [_reading(consumer, receipt, next_offset) for consumer in consumers]
    return sorted(found, key=lambda one: (one.behind is None, -(one.behind or 0), one.name))


def _reading(consumer: Consumer, receipt: Receipt, next_offset: int) -> Reading:
    if consumer.offset is None:
        return Reading(consumer.name, None, None, None, consumer.flaw)
    foreign = consumer.journal != receipt.identity
    return Reading(
        name=consumer.name,
        offset=consumer.offset,
        behind=None if foreign else messages_between(receipt, consumer.offset, next_offset),
        updated_ns=consumer.updated_ns,
        flaw=f"it read journal {consumer.journal}" if foreign else None,
    )
