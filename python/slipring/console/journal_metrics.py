"""The journal's rows of the metrics."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from slipring.control import Broker
from slipring.control.consumers import readings
from slipring.control.receipt import kept, messages_between
from slipring.native import JournalStatus, Receipt

Samples: TypeAlias = Iterable[tuple[Mapping[str, str], float]]
Family: TypeAlias = tuple[str, str, str, Samples]
"""Its name, kind and meaning, and its samples by labels."""


def journal_families(broker: Broker, journal: JournalStatus) -> Iterator[Family]:
    """What there is of it now, who reads it, and what the start found."""
    for name, kind, meaning, value in _figures(journal):
        yield f"slipring_journal_{name}", kind, meaning, [({}, value)]
    receipt = broker.engine.receipt
    if receipt is None:
        return
    consumers = readings(broker.consumers(), receipt, journal.next_offset)
    behind = [({"consumer": one.name}, one.behind) for one in consumers if one.behind is not None]
    meaning = "Messages a consumer has not read."
    yield "slipring_journal_consumer_behind", "gauge", meaning, behind
    for name, meaning, value in _found(receipt):
        yield f"slipring_receipt_{name}", "gauge", meaning, [({}, value)]


def _figures(journal: JournalStatus) -> list[tuple[str, str, str, float]]:
    return [
        ("up", "gauge", "0 once the journal has failed.", journal.failure is None),
        ("full", "gauge", "1 while there is no room for more.", journal.no_space is not None),
        ("first_offset", "gauge", "The oldest offset.", journal.first_offset),
        ("next_offset", "gauge", "The offset of the next message.", journal.next_offset),
        ("synced_offset", "gauge", "Everything before this is on disk.", journal.synced_offset),
        ("bytes", "gauge", "Bytes of all segments.", journal.bytes),
        ("bytes_max", "gauge", "Bytes at which it is full; 0 is no bound.", journal.bytes_max or 0),
        ("segments", "gauge", "Segment files.", journal.segments),
        ("not_journaled_total", "counter", "Messages not journaled.", journal.not_journaled),
    ]


def _found(receipt: Receipt) -> list[tuple[str, str, float]]:
    lost = messages_between(receipt, receipt.first_offset, receipt.next_offset) - kept(receipt)
    return [
        ("seconds", "Seconds that the recovery took at the start.", receipt.seconds),
        ("kept_messages", "Messages that the start found.", kept(receipt)),
        ("damaged_messages", "Messages that the start found damaged.", lost),
        ("cut_bytes", "Bytes that the start cut from the end.", receipt.cut_bytes),
        ("sessions", "Sessions that went on.", receipt.sessions),
        ("queued_messages", "Messages that waited for them.", receipt.queued),
        ("retained_messages", "Retained messages that were there again.", receipt.retained),
    ]
