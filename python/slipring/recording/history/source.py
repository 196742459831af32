"""A recording's messages as samples: frames taken apart, plain messages read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from slipring.errors import FrameError, JournalDamaged
from slipring.frames.decoding import decode
from slipring.frames.header import Arrival
from slipring.recording.history.chosen import Chosen
from slipring.recording.history.messages import Messages
from slipring.recording.history.samples import Samples
from slipring.recording.journal import Noted, Piece, Recording

BATCH_SAMPLES = 1_000_000
"""About what is in memory at once, as many numbers; a frame is never cut."""
NO_ARRIVAL = Arrival(0, 0)


@dataclass
class Skipped:
    """Frames that are no samples here."""

    of_other_tables: int = 0
    """Their indices mean something else."""
    unreadable: int = 0


class Batch(NamedTuple):
    """Samples that were read together, and the offset behind the last message looked at."""

    parts: list[Samples]
    end: int


@dataclass
class Source:
    """Samples of the chosen parameters, in the order of their arrival."""

    recording: Recording
    chosen: Chosen
    skipped: Skipped = field(default_factory=Skipped)

    def batches(
        self,
        on_damage: Callable[[JournalDamaged], None],
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Batch]:
        """All samples, or those of a range of offsets."""
        for piece in self.recording.pieces(on_damage, start, end):
            yield from self._batches(piece)

    def _batches(self, piece: Piece) -> Iterator[Batch]:
        messages = Messages(piece.rows)
        plain = self._noted(messages)
        begin, count, parts = 0, 0, list[Samples]()
        for place in messages.frames.tolist():
            found = self._frame(messages, place)
            parts += found
            count += sum(part.weight for part in found)
            if count >= BATCH_SAMPLES:
                parts += self._plain(messages, plain, begin, place)
                yield Batch(parts, messages.offset(place) + 1)
                begin, count, parts = place + 1, 0, []
        parts += self._plain(messages, plain, begin, len(messages))
        yield Batch(parts, piece.end)

    def _frame(self, messages: Messages, place: int) -> list[Samples]:
        try:
            frame = decode(messages.payload(place), self.chosen.table, NO_ARRIVAL)
        except FrameError:
            self.skipped.unreadable += 1
            return []
        if frame.header.table != self.chosen.table.identity:
            self.skipped.of_other_tables += 1
            return []
        offset, receive_ns = messages.offset(place), messages.receive_ns(place)
        runs = (Samples.of_run(run, offset, receive_ns) for run in frame.runs)
        return [part for one in runs if (part := self.chosen.narrow(one)) is not None]

    def _noted(self, messages: Messages) -> Noted | None:
        """Which messages were plain samples when they came; None where none can be.

        Their names do not say it: a topic may have been declared later, or as something else.
        """
        if self.chosen.topics.isdisjoint(messages.plain_topics()):
            return None
        first, last = messages.offset(0), messages.offset(len(messages) - 1)
        return self.recording.samples(first, last + 1)

    def _plain(
        self, messages: Messages, noted: Noted | None, begin: int, end: int
    ) -> list[Samples]:
        """The samples of the messages between that are no frames."""
        if noted is None:
            return []
        found = []
        for index, topic, places in messages.plain(noted, begin, end):
            # In another table, which the journal may have had before, it was another name's.
            if self.chosen.has(index) and self.chosen.entry(index).name == topic:
                entry = self.chosen.entry(index)
                found.append(messages.of_parameter(entry, places).samples())
        return [part for part in found if len(part)]
