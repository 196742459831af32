"""Looks at the consumers of the journal: how far each is, for how long, and how fast it reads.

Once a second, and in a thread of its own: reading a journal may wait for the disk.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slipring.errors import JournalError
from slipring.journal.age import received_ns
from slipring.journal.consumer_note import ConsumerNote
from slipring.journal.count_rates import READ, CountRates
from slipring.native import Consumer, JournalReader, list_consumers

LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class ConsumerReading:
    """A consumer at one look."""

    consumer: Consumer
    has_all: bool
    """Whether it has read everything that is on the disk."""
    oldest_ns: int | None
    """When the oldest message that it has not read was received; None if that is unknown."""
    note: ConsumerNote = field(default_factory=ConsumerNote)
    rates: Mapping[str, float] = field(default_factory=dict)
    """Per second: messages under `READ`, rows under the names of their tables."""


class ConsumerWatch:
    """Keeps the newest readings; the event loop reads them, one thread at a time replaces them."""

    def __init__(self, folder: Path | None) -> None:
        """Watch the journal in this folder; None if there is none."""
        self.readings: list[ConsumerReading] = []
        self.synced_offset: int | None = None
        """Everything before it is on the disk; None until that is known."""
        self._folder = folder
        self._reader: JournalReader | None = None
        self._oldest: dict[str, tuple[int, int]] = {}
        """By consumer: its offset, and when the message there was received."""
        self._rates: dict[str, CountRates] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """Look once a second until told to stop."""
        while self._folder is not None and not stop.is_set():
            await asyncio.to_thread(self.look, time.monotonic())
            try:
                async with asyncio.timeout(LOOK_S):
                    await stop.wait()
            except TimeoutError:
                pass

    def look(self, now_s: float) -> None:
        """Take one reading of every consumer; `now_s` is monotonic."""
        consumers = known_consumers(self._folder)
        names = {consumer.name for consumer in consumers}
        self._oldest = {name: one for name, one in self._oldest.items() if name in names}
        self._rates = {name: one for name, one in self._rates.items() if name in names}
        self.readings = [self._reading(consumer, now_s) for consumer in consumers]

    def _reading(self, consumer: Consumer, now_s: float) -> ConsumerReading:
        offset, synced = consumer.offset, self.synced_offset
        reader = self._opened() if offset is not None else None
        if offset is None or reader is None or consumer.journal != reader.identity:
            return ConsumerReading(consumer, has_all=False, oldest_ns=None)
        note = ConsumerNote.decode(consumer.note)
        counts = self._rates.setdefault(consumer.name, CountRates())
        rates = counts.take(now_s, {READ: offset, **note.rows})
        has_all = synced is not None and offset >= synced
        oldest_ns = None
        if synced is not None and not has_all:
            oldest_ns = self._oldest_ns(reader, consumer.name, offset, synced)
        return ConsumerReading(consumer, has_all, oldest_ns, note, rates)

    def _oldest_ns(self, reader: JournalReader, name: str, offset: int, synced: int) -> int | None:
        """Reads only if the consumer has moved since the last look."""
        known = self._oldest.get(name)
        # Retention may remove the message that a consumer stands at.
        if known is not None and known[0] == offset and offset >= reader.first_offset:
            return known[1]
        found = received_ns(reader, offset, synced)
        if found is not None:
            self._oldest[name] = (offset, found)
        return found

    def _opened(self) -> JournalReader | None:
        if self._reader is None and self._folder is not None:
            try:
                self._reader = JournalReader(self._folder)
            except JournalError:  # the journal itself reports a broken disk
                return None
        return self._reader


def known_consumers(folder: Path | None) -> list[Consumer]:
    """Consumers that left their position beside the journal; none if the folder cannot be read."""
    try:
        return list_consumers(folder) if folder else []
    except JournalError:  # the journal itself reports a broken disk
        return []
