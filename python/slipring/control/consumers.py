"""Who reads the journal, and how far behind each is, as it is shown. Pure."""

from collections.abc import Iterable

from slipring.control.consumer_watch import ConsumerReading
from slipring.control.receipt import messages_between
from slipring.journal.count_rates import READ
from slipring.status.engine import StartReceipt
from slipring.status.message import ConsumerRows, ConsumerStatus


def consumer_statuses(
    readings: Iterable[ConsumerReading], receipt: StartReceipt, next_offset: int, now_ns: int
) -> list[ConsumerStatus]:
    """How far behind each is, the furthest behind first."""
    found = [_status(reading, receipt, next_offset, now_ns) for reading in readings]
    return sorted(found, key=_order)


def _order(one: ConsumerStatus) -> tuple[bool, int, str]:
    return one["behind"] is None, -(one["behind"] or 0), one["name"]


def _status(
    reading: ConsumerReading, receipt: StartReceipt, next_offset: int, now_ns: int
) -> ConsumerStatus:
    consumer = reading.consumer
    offset, updated_ns = consumer.offset, consumer.updated_ns
    is_foreign = offset is not None and consumer.journal != receipt["identity"]
    behind = None
    if offset is not None and not is_foreign:
        behind = messages_between(receipt, offset, next_offset)
    return {
        "name": consumer.name,
        "offset": offset,
        "behind": behind,
        "lag_s": _lag_s(reading, now_ns),
        "messages_s": reading.rates.get(READ),
        "updated_ms": None if updated_ns is None else updated_ns / 1e6,
        "rows": _rows(reading),
        "flaw": f"it read journal {consumer.journal}" if is_foreign else consumer.flaw,
    }


def _lag_s(reading: ConsumerReading, now_ns: int) -> float | None:
    if reading.has_all:
        return 0.0
    return None if reading.oldest_ns is None else max(0.0, (now_ns - reading.oldest_ns) / 1e9)


def _rows(reading: ConsumerReading) -> list[ConsumerRows]:
    note = reading.note
    return [
        {
            "table": name,
            "rows": rows,
            "rows_s": reading.rates.get(name, 0.0),
            "last_rows": note.last.get(name, 0),
        }
        for name, rows in note.rows.items()
    ]
