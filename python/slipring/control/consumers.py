"""Who reads the journal, and how far behind each is."""

from collections.abc import Iterable
from pathlib import Path

from slipring.control.receipt import messages_between
from slipring.errors import JournalError
from slipring.native import Consumer, list_consumers
from slipring.status.engine import StartReceipt
from slipring.status.message import ConsumerStatus


def known_consumers(folder: Path | None) -> list[Consumer]:
    """Consumers that left their position beside the journal; none if the folder cannot be read."""
    try:
        return list_consumers(folder) if folder else []
    except JournalError:  # the journal itself reports a broken disk
        return []


def consumer_statuses(
    consumers: Iterable[Consumer], receipt: StartReceipt, next_offset: int
) -> list[ConsumerStatus]:
    """How far behind each is, the furthest behind first."""
    found = [_status(consumer, receipt, next_offset) for consumer in consumers]
    return sorted(found, key=_order)


def _order(one: ConsumerStatus) -> tuple[bool, int, str]:
    return one["behind"] is None, -(one["behind"] or 0), one["name"]


def _status(consumer: Consumer, receipt: StartReceipt, next_offset: int) -> ConsumerStatus:
    offset, updated_ns = consumer.offset, consumer.updated_ns
    is_foreign = offset is not None and consumer.journal != receipt["identity"]
    behind = None
    if offset is not None and not is_foreign:
        behind = messages_between(receipt, offset, next_offset)
    return {
        "name": consumer.name,
        "offset": offset,
        "behind": behind,
        "updated_ms": None if updated_ns is None else updated_ns / 1e6,
        "flaw": f"it read journal {consumer.journal}" if is_foreign else consumer.flaw,
    }
