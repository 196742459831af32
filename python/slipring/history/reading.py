"""One question read from the journal and the lake, the newest part first, within its budget.

What cannot be read is left out, and said.
"""

import time
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from slipring.errors import JournalError, SlipringError
from slipring.history.buckets import Buckets
from slipring.history.budget import ReadBudget
from slipring.history.journal_part import JournalHistory
from slipring.history.question import HistoryQuestion, KnownParameter
from slipring.history.recent import RecentSamples
from slipring.history.series import TEXT_CHARACTERS_MAX, Gathered, shown_bytes
from slipring.history.table_part import NewestSample, number_of, value_of

if TYPE_CHECKING:
    from slipring.history.lake_part import LakeHistory, LakeSource


class HistoryReading:
    """Parameters of one kind, numbers or texts, while they are read."""

    def __init__(
        self,
        question: HistoryQuestion,
        names: Sequence[str],
        budget: ReadBudget,
        *,
        is_text: bool,
    ) -> None:
        self.found: Gathered = Gathered()
        self._question = question
        self._names = names
        self._budget = budget
        self._is_text = is_text

    def read(
        self,
        journal: JournalHistory | None,
        lake: "LakeHistory | None",
        source: "LakeSource | None",
    ) -> None:
        """Read what the lake does not have yet, then the lake, then what it has no more."""
        begin, whole = source.end if source else 0, self._question.whole_ns
        if journal:
            self._read_journal(journal, (begin, None), whole)
        if lake is None or source is None:
            return
        if not self._read_lake(lake, source):
            if journal and begin:  # what it has of that time, too
                self._read_journal(journal, (0, begin), whole)
            return
        oldest = lake.oldest(source)
        if journal and begin and oldest is not None and whole[0] < oldest:
            self._read_journal(journal, (0, begin), (whole[0], min(whole[1], oldest)))

    def read_recent(self, recent: RecentSamples, journal: JournalHistory | None) -> bool:
        """Take everything from memory, read back as far as needed; False if it has no room."""
        if journal is None or self._is_text or len(recent.ask(self._names)) < len(self._names):
            return False
        (begin, end), now_ns = self._question.whole_ns, time.time_ns()
        try:
            recent.follow(journal, now_ns)
            self.found.damage += recent.fill(journal, self._names, begin, self._budget)
        except JournalError as error:
            self._leave_out(str(error))
            return False
        for name in self._names:
            self.found.is_cut |= not recent.is_complete(name, begin)
            self.found.add(
                "journal", name, recent.buckets(name, begin, end, self._question.step_ns)
            )
        return True

    def add_followed(self, recent: RecentSamples) -> None:
        """Add what was followed of parameters that nothing else knows: not all are journaled."""
        begin, end = self._question.whole_ns
        for name in self._names:
            if self.found.newest_ns(name) is None:
                buckets = recent.buckets(name, begin, end, self._question.step_ns)
                self.found.add("table", name, buckets)

    def add_newest(
        self,
        newest: Mapping[str, NewestSample],
        known: Mapping[str, KnownParameter],
        journaled: Container[str],
    ) -> None:
        """Add what the table has and the journal does not have yet, or never gets.

        A stale sample may have been a bad one: the journal knows that better.
        """
        begin, end = self._question.whole_ns
        for name, sample in newest.items():
            before = self.found.newest_ns(name)
            is_newer = before is None or sample.time_ns > before
            one = _of_newest(sample, known[name], self._question.step_ns)
            is_good = sample.is_good or (sample.quality == "stale" and name not in journaled)
            if one is not None and is_good and is_newer and begin <= sample.time_ns < end:
                self.found.add("table", name, one)

    def _read_journal(
        self,
        journal: JournalHistory,
        offsets: tuple[int, int | None],
        time_ns: tuple[int, int],
    ) -> None:
        step_ns = self._question.step_ns
        try:
            first, end = journal.offsets(journal.extent(), *time_ns)
            first = max(first, offsets[0])
            end = end if offsets[1] is None else min(end, offsets[1])
            part = journal.read(
                self._names, (first, end), time_ns, step_ns, self._budget, is_text=self._is_text
            )
        except JournalError as error:
            self._leave_out(str(error))
            return
        self.found.is_cut |= part.is_cut
        self.found.damage += part.damage
        for name, buckets in part.series.items():
            self.found.add("journal", name, buckets)

    def _read_lake(self, lake: "LakeHistory", source: "LakeSource") -> bool:
        """Whether it could be read."""
        whole, step_ns = self._question.whole_ns, self._question.step_ns
        try:
            parts, is_cut = lake.read(
                source, self._names, whole, step_ns, self._budget, is_text=self._is_text
            )
        except (SlipringError, OSError) as error:
            self._leave_out(f"the lake cannot be read: {error}")
            return False
        self.found.is_cut |= is_cut
        for name, some in parts.items():
            for buckets in some:
                self.found.add("lake", name, buckets)
        return True

    def _leave_out(self, why: str) -> None:
        self.found.is_cut = True
        self.found.damage.append(why)


def _of_newest(newest: NewestSample, known: KnownParameter, step_ns: int) -> Buckets | None:
    """The sample as a bucket of its own; None if it has no place in a plot."""
    value = value_of(newest, known) if known.is_text else number_of(newest, known)
    if value is None:
        return None
    if isinstance(value, str):
        value = value[:TEXT_CHARACTERS_MAX]
    elif isinstance(value, bytes):
        value = shown_bytes(value, len(value))
    values = np.array([value], object if known.is_text else np.float64)
    return Buckets.of_samples(np.array([newest.time_ns]), values, step_ns)
