"""The journal as the page shows it: what is promised, what there is, who reads it."""

from typing import Any

from slipring.control import Broker
from slipring.control.config import Config
from slipring.control.consumers import Reading, readings
from slipring.control.health import trouble
from slipring.control.receipt import damaged, in_a_line, kept, messages_between
from slipring.native import JournalStatus, Receipt, Status

DAMAGE_SHOWN = 100
"""Damaged ranges in a picture; their number is always there."""
CONSUMERS_SHOWN = 100
"""Consumers in a picture, those that are furthest behind."""
FIGURES = (
    "first_offset",
    "next_offset",
    "synced_offset",
    "bytes",
    "bytes_max",
    "segments",
    "not_journaled",
    "held_by",
)

Json = dict[str, Any]


def journal_picture(broker: Broker, status: Status) -> Json:
    """Everything that is shown of it; the figures are null where there is no journal."""
    journal, receipt, wrong = status.journal, broker.engine.receipt, trouble(status.journal)
    consumers = _consumers(broker, status)
    return {
        "state": wrong.state if wrong else "ok" if journal else "off",
        "reason": wrong.reason if wrong else None,
        "advice": wrong.advice if wrong else None,
        **{field: getattr(journal, field) if journal else None for field in FIGURES},
        **_counts(journal, receipt),
        "durability": _durability(broker.config),
        "acknowledged": status.acknowledged,
        "retention": _retention(broker.config),
        "consumers": consumers[:CONSUMERS_SHOWN],
        "consumers_total": len(consumers),
        "receipt": _receipt(receipt) if receipt else None,
    }


def _counts(journal: JournalStatus | None, receipt: Receipt | None) -> Json:
    if journal is None or receipt is None:
        return {"messages": None, "unsynced": None}
    first, synced, end = journal.first_offset, journal.synced_offset, journal.next_offset
    return {
        "messages": messages_between(receipt, first, end),
        "unsynced": messages_between(receipt, synced, end),
    }


def _durability(config: Config) -> Json:
    rules = [{"topics": list(rule.topics), "level": rule.level} for rule in config.durability]
    journal = config.journal
    return {"default": journal.durability, "journaled": list(journal.topics), "rules": rules}


def _retention(config: Config) -> Json:
    journal = config.journal
    return {
        "age_s": journal.retain_age_s or None,
        "bytes": journal.retain_bytes or None,
        "keep_unread": journal.keep_unread,
    }


def _consumers(broker: Broker, status: Status) -> list[Json]:
    receipt = broker.engine.receipt
    if status.journal is None or receipt is None:
        return []
    known = readings(broker.consumers(), receipt, status.journal.next_offset)
    return [_consumer(one) for one in known]


def _consumer(one: Reading) -> Json:
    return {
        "name": one.name,
        "offset": one.offset,
        "behind": one.behind,
        "updated_ms": None if one.updated_ns is None else one.updated_ns / 1e6,
        "flaw": one.flaw,
    }


def _receipt(receipt: Receipt) -> Json:
    shown = receipt.damage[:DAMAGE_SHOWN]
    return {
        "text": in_a_line(receipt),
        "identity": receipt.identity,
        "epoch": receipt.epoch,
        "kept": kept(receipt),
        "first_offset": receipt.first_offset,
        "next_offset": receipt.next_offset,
        "segments": receipt.segments,
        "bytes_read": receipt.bytes_read,
        "cut_bytes": receipt.cut_bytes,
        "cut_why": receipt.cut_why,
        "damage": [
            {"first_offset": one.first_offset, "end_offset": one.end_offset, "text": damaged(one)}
            for one in shown
        ],
        "damage_total": len(receipt.damage),
        "flaws": receipt.flaws[:DAMAGE_SHOWN],
        "sessions": receipt.sessions,
        "queued": receipt.queued,
        "retained": receipt.retained,
        "seconds": receipt.seconds,
    }
