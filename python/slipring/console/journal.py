"""The journal's part of the live message and of the metrics."""

import time
from typing import Literal, cast, get_type_hints

from slipring.control import Broker
from slipring.control.archive import archive_status
from slipring.control.config import Config
from slipring.control.consumers import consumer_statuses
from slipring.control.disk_room import disk_room
from slipring.control.health import trouble
from slipring.control.receipt import damage_text, in_words, kept_messages, messages_between
from slipring.status.description import part
from slipring.status.engine import BrokerStatus, JournalStatus, ReceiptFigures, StartReceipt
from slipring.status.message import (
    ArchiveStatus,
    ConsumerStatus,
    Durability,
    JournalSummary,
    ReceiptSummary,
    Retention,
)

DAMAGE_SHOWN = 100
"""Damaged ranges in a message; `damage_total` counts all."""
CONSUMERS_SHOWN = 100
"""Consumers in a message, those that are furthest behind."""
NO_JOURNAL = cast("JournalStatus", dict.fromkeys(get_type_hints(JournalStatus)))


def journal_summary(broker: Broker, status: BrokerStatus) -> JournalSummary:
    """Describe the journal; the figures are null if there is none."""
    journal, receipt = status["journal"] or NO_JOURNAL, broker.receipt
    wrong, consumers = trouble(journal), consumers_of(broker, status)
    return {
        **journal,
        **disk_room(broker.config.data),
        "state": _state(status["journal"]),
        "reason": wrong.reason if wrong else None,
        "advice": wrong.advice if wrong else None,
        "messages": _messages_from(journal["first_offset"], journal, receipt),
        "unsynced": _messages_from(journal["synced_offset"], journal, receipt),
        "durability": _durability(broker.config),
        "acknowledged": status["acknowledged"],
        "retention": _retention(broker.config),
        "consumers": consumers[:CONSUMERS_SHOWN],
        "consumers_total": len(consumers),
        "archive": archive_of(broker, status),
        "receipt": receipt_summary(receipt) if receipt else None,
    }


def _state(journal: JournalStatus | None) -> Literal["ok", "full", "failed", "off"]:
    if journal is None:
        return "off"
    return "failed" if journal["failure"] else "full" if journal["no_space"] else "ok"


def consumers_of(broker: Broker, status: BrokerStatus) -> list[ConsumerStatus]:
    """Who reads the journal, and how far behind each is."""
    journal, receipt = status["journal"], broker.receipt
    if journal is None or receipt is None:
        return []
    readings, next_offset = broker.consumers.readings, journal["next_offset"] or 0
    return consumer_statuses(readings, receipt, next_offset, time.time_ns())


def archive_of(broker: Broker, status: BrokerStatus) -> ArchiveStatus | None:
    """How far the journal's archive is; None if there is none."""
    journal = status["journal"] or NO_JOURNAL
    return archive_status(broker.archive, journal["synced_offset"] or 0)


def _messages_from(
    offset: int | None, journal: JournalStatus, receipt: StartReceipt | None
) -> int | None:
    if offset is None or receipt is None:
        return None
    return messages_between(receipt, offset, journal["next_offset"] or 0)


def _durability(config: Config) -> Durability:
    journal = config.journal
    return {
        "default": journal.durability,
        "journaled": list(journal.topics),
        "rules": [{"topics": list(rule.topics), "level": rule.level} for rule in config.durability],
    }


def _retention(config: Config) -> Retention:
    journal = config.journal
    return {
        "age_s": journal.retain_age_s or None,
        "bytes": journal.retain_bytes or None,
        "keep_unread": journal.keep_unread,
    }


def receipt_summary(receipt: StartReceipt) -> ReceiptSummary:
    """Describe what the start found: in words, in numbers, and what is damaged."""
    all_messages = messages_between(receipt, receipt["first_offset"], receipt["next_offset"])
    return {
        **part(ReceiptFigures, receipt),
        "flaws": receipt["flaws"][:DAMAGE_SHOWN],
        "text": in_words(receipt),
        "kept": kept_messages(receipt),
        "damaged": all_messages - kept_messages(receipt),
        "damage": [{**one, "text": damage_text(one)} for one in receipt["damage"][:DAMAGE_SHOWN]],
        "damage_total": len(receipt["damage"]),
    }
