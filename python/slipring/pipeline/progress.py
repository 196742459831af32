"""How far each job of a run is: its lag, its throughput and its rows. Must never import pyspark.

The jobs say how far they have come; the journal says what is there and how old it is.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from slipring.errors import SlipringError
from slipring.journal.age import received_ns
from slipring.journal.consumer_note import ConsumerNote
from slipring.journal.count_rates import READ, CountRates
from slipring.journal.location import JournalLocation, OpenJournal


@dataclass(frozen=True)
class JobReport:
    """A job at one moment."""

    job: str
    offset: int
    """It has everything before this offset."""
    note: ConsumerNote
    """The rows that it wrote in this run, and those of its last commit."""
    commit_age_s: float
    """Seconds since its last batch."""
    behind: int | None = None
    """Messages that it has not taken; None if the journal cannot be asked."""
    lag_s: float | None = None
    """Seconds since the oldest of these was received, 0 if there is none; None if unknown."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Per second: messages under `READ`, rows under the names of their tables."""


@dataclass
class _JobState:
    offset: int
    note: ConsumerNote
    at_s: float
    rates: CountRates = field(default_factory=CountRates)

    def counts(self) -> dict[str, int]:
        return {READ: self.offset, **self.note.rows}


class RunProgress:
    """The jobs of one run. Each tells its batches from a thread of its own."""

    def __init__(self, location: JournalLocation) -> None:
        """The journal is opened by the first report that needs it."""
        self._location = location
        self._journal: OpenJournal | None = None
        self._jobs: dict[str, _JobState] = {}
        # Held for a moment by every batch and every report.
        self._lock = threading.Lock()

    def note(self, job: str, offset: int, note: ConsumerNote) -> bool:
        """A job has everything before an offset; whether this is its first batch."""
        now_s = time.monotonic()
        with self._lock:
            is_first = job not in self._jobs
            state = self._jobs.setdefault(job, _JobState(offset, note, now_s))
            state.offset, state.note, state.at_s = offset, note, now_s
            if is_first:
                state.rates.take(now_s, state.counts())
        return is_first

    def add(self, job: str, offset: int, rows: Mapping[str, int]) -> bool:
        """The same for a job that tells the rows of each batch."""
        with self._lock:
            known = self._jobs.get(job)
        return self.note(job, offset, (known.note if known else ConsumerNote()).then(rows))

    def totals(self) -> list[JobReport]:
        """How far each job is, without asking the journal."""
        now_s = time.monotonic()
        with self._lock:
            return [
                JobReport(name, state.offset, state.note, now_s - state.at_s)
                for name, state in self._jobs.items()
            ]

    def reports(self) -> list[JobReport]:
        """How far each job is, by what the journal has now."""
        end = self._end()
        return [self._report(found, end) for found in self.totals()]

    def _report(self, found: JobReport, end: int | None) -> JobReport:
        with self._lock:
            state = self._jobs[found.job]
            rates = state.rates.take(time.monotonic(), state.counts())
        behind = None if end is None else max(0, end - found.offset)
        lag_s = None if end is None else self._lag_s(found.offset, end)
        return JobReport(
            found.job, found.offset, found.note, found.commit_age_s, behind, lag_s, rates
        )

    def _end(self) -> int | None:
        try:
            if self._journal is None:
                self._journal = self._location.open()
            return self._journal.end_offset()
        except SlipringError:  # a job that needs the journal says what is wrong with it
            return None

    def _lag_s(self, offset: int, end: int) -> float | None:
        if offset >= end:
            return 0.0
        assert self._journal is not None, "it was asked for its end"
        try:
            oldest_ns = received_ns(self._journal, offset, end)
        except SlipringError:
            return None
        return None if oldest_ns is None else max(0.0, (time.time_ns() - oldest_ns) / 1e9)
