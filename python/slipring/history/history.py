"""Answers questions about any time, from whatever has it: lake, journal, table.

An example: the lake's rollups have the journal up to offset 900, the journal ends at 1,000, and the
newest sample is not yet synced. The lake is asked for its windows, the journal for the offsets 900
to 999, the table for the newest sample; a bucket that all three have parts of is put together.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.errors import JournalError, SlipringError
from slipring.history.budget import BYTES_MAX, ReadBudget
from slipring.history.journal_part import JournalHistory
from slipring.history.question import HistoryQuestion, KnownParameter
from slipring.history.reading import HistoryReading
from slipring.history.recent import COARSE_NS, RecentSamples
from slipring.history.series import TEXTS_MAX, Gathered, HistoryAnswer, ParameterSeries
from slipring.history.steps import SECOND_NS
from slipring.history.table_part import TableNow, number_of, value_of
from slipring.history.values_at import Found, ValueAt, journal_values, values_budget
from slipring.native import match_topics

if TYPE_CHECKING:
    from slipring.history.lake_part import LakeHistory, LakeSource
    from slipring.lake.storage import LakeLocation

    Sources = tuple[LakeSource | None, LakeSource | None]

CHEAP_BYTES = 64 << 20
"""A journal that has all of a time in fewer bytes is quicker than the lake."""
COARSER_MAX = 5
"""How much longer the steps of busy minutes may be than asked for, if that spares reading them."""
BEGIN_NS = 3 * SECOND_NS
"""How far a page that begins to follow is taken back: as long as the journal may take to sync."""
BEGIN_BYTES_MAX = 32 << 20

log: logging.Logger = logging.getLogger("slipring.console")


class History:
    """One broker's past. May be asked from several threads; never ask on the event loop."""

    def __init__(
        self,
        table: TableNow,
        journal: Path | None,
        lake: "LakeLocation | None",
        journaled: Sequence[str] = ("#",),
    ) -> None:
        """`journal` is its folder. Neither it nor the lake need be there yet.

        `journaled` are filters of what is in the journal.
        """
        self.table = table
        self._journaled = journaled
        self.recent: RecentSamples = RecentSamples()
        self._journal_folder = journal
        self._lake_location = lake
        self._journal: JournalHistory | None = None
        self._lake: LakeHistory | None = None
        self._has_told: set[str] = set()

    def answer(
        self, question: HistoryQuestion, known: Mapping[str, KnownParameter]
    ) -> HistoryAnswer:
        """Series of the names, in their order."""
        budget = ReadBudget()
        numbers = [one for one in question.names if not known[one].is_text]
        question, sources = self._prepared(question, numbers)
        gathered: dict[str, Gathered] = {}
        for is_text in (False, True):
            names = [one for one in question.names if known[one].is_text is is_text]
            if names:
                reading = HistoryReading(question, names, budget, is_text=is_text)
                journal = self._recent_journal(question, names, sources[is_text])
                if not reading.read_recent(self.recent, journal):
                    reading.read(self.journal, self.lake, sources[is_text])
                reading.add_followed(self.recent)
                reading.add_newest(self.table.newest(names), known, self._in_journal(names))
                gathered.update(dict.fromkeys(names, reading.found))
        series = [self._series(one, known[one], gathered[one], question) for one in question.names]
        oldest = [bounds[0] for bounds in (self.journal_bounds(), self.lake_bounds()) if bounds]
        damage = dict.fromkeys(text for one in gathered.values() for text in one.damage)
        return HistoryAnswer(
            *question.whole_ns, tuple(series), min(oldest, default=None), (*damage,)
        )

    def definitions(self, names: Sequence[str]) -> dict[str, KnownParameter]:
        """What the table says of names, else journal or lake; what nobody knows is left out."""
        known = self.table.definitions(names)
        for source in (lambda: self.journal, lambda: self.lake):
            missing = [one for one in names if one not in known]
            try:
                if missing and (asked := source()):
                    known |= asked.definitions(missing)
            except (SlipringError, OSError) as error:
                self._tell("definitions", error)
        return known

    def values_at(
        self, names: Sequence[str], at_ns: int | None, known: Mapping[str, KnownParameter]
    ) -> Found:
        """The newest sample of each at or before a time, or now; some may not be found."""
        newest = self.table.newest(names)
        found = {
            name: ValueAt(value_of(one, known[name]), one.time_ns, one.quality)
            for name, one in newest.items()
            if at_ns is None or one.time_ns <= at_ns
        }
        if at_ns is None:
            return found
        for look in (self._journal_values, self._lake_values):
            missing = [one for one in names if one not in found]
            if missing:
                found |= look(missing, at_ns, known)
        return found

    def begin(self, names: Sequence[str], known: Mapping[str, KnownParameter]) -> None:
        """Follow these, from some seconds ago on: a page that begins must not have a hole."""
        numbers = [one for one in names if not known[one].is_text]
        self.follow(numbers, known)
        if self.journal and numbers:
            begin_ns = time.time_ns() - BEGIN_NS
            with suppress(JournalError):
                self.recent.fill(self.journal, numbers, begin_ns, ReadBudget(BEGIN_BYTES_MAX))

    def follow(self, names: Sequence[str], known: Mapping[str, KnownParameter]) -> None:
        """Take in what is new of these, from the journal and from the table."""
        self.recent.ask(names)
        try:
            self.recent.follow(self.journal, time.time_ns())
        except JournalError as error:
            self._tell("journal", error)
        newest = self.table.newest(names)
        numbers = {
            name: (one.time_ns, number)
            for name, one in newest.items()
            if one.is_good and (number := number_of(one, known[name])) is not None
        }
        self.recent.add_newest(numbers)

    def journal_bounds(self) -> tuple[int, int] | None:
        """When the journal's first and last message came; None without one."""
        journal = self.journal
        try:
            return journal.time_bounds() if journal else None
        except JournalError:
            return None

    def lake_bounds(self) -> tuple[int, int] | None:
        """The oldest and the newest source time in the lake; None without one."""
        lake = self.lake
        try:
            return lake.bounds() if lake else None
        except (SlipringError, OSError) as error:
            self._tell("lake", error)
            return None

    @property
    def journal(self) -> JournalHistory | None:
        """The journal, once it is there."""
        if self._journal is None and self._journal_folder is not None:
            try:
                self._journal = JournalHistory(self._journal_folder)
            except (JournalError, OSError) as error:
                self._tell("journal", error)
        return self._journal

    @property
    def lake(self) -> "LakeHistory | None":
        """The lake, once it is there and can be read."""
        location = self._lake_location
        if self._lake is None and location is not None:
            if location.is_local and not location.path.is_dir():
                return None
            try:
                from slipring.history.lake_part import LakeHistory
            except ModuleNotFoundError as error:
                self._tell("lake", error)
                return None
            self._lake = LakeHistory(location, self.journal.identity if self.journal else None)
        return self._lake

    def _journal_values(
        self, names: Sequence[str], at_ns: int, known: Mapping[str, KnownParameter]
    ) -> Found:
        try:
            budget = values_budget()
            return journal_values(self.journal, names, at_ns, known, budget) if self.journal else {}
        except JournalError as error:
            self._tell("journal", error)
            return {}

    def _lake_values(
        self, names: Sequence[str], at_ns: int, known: Mapping[str, KnownParameter]
    ) -> Found:
        try:
            return self.lake.newest(names, at_ns, known) if self.lake else {}
        except (SlipringError, OSError) as error:
            self._tell("lake", error)
            return {}

    def _prepared(
        self, question: HistoryQuestion, numbers: Sequence[str]
    ) -> "tuple[HistoryQuestion, Sources]":
        """The question with buckets as long as old times need them, and the tables that are asked,
        for numbers and for texts.
        """
        question = self._as_in_memory(question, numbers)
        try:
            lake = None if self._is_cheap(question) else self.lake
            source = lake.source(question.whole_ns[0], question.step_ns) if lake else None
            texts = lake.text_source() if lake else None
        except (SlipringError, OSError) as error:
            self._tell("lake", error)
            return question, (None, None)
        if source is not None and source.window_ns > question.step_ns:
            question = replace(question, least_ns=source.window_ns)
        return question, (source, texts)

    def _as_in_memory(self, question: HistoryQuestion, numbers: Sequence[str]) -> HistoryQuestion:
        """The question in the steps of the memory, if these are a little longer than what is asked
        for, the memory has them, and the journal has much to read.
        """
        if not numbers or not COARSE_NS // COARSER_MAX <= question.step_ns < COARSE_NS:
            return question
        coarser = replace(question, least_ns=COARSE_NS)
        lacking = self._bytes_to_read(coarser, numbers)
        is_known = lacking is not None and lacking <= CHEAP_BYTES
        is_much = is_known and self._journal_bytes(question) > CHEAP_BYTES
        return coarser if is_much else question

    def _recent_journal(
        self, question: HistoryQuestion, names: Sequence[str], source: "LakeSource | None"
    ) -> JournalHistory | None:
        """The journal, if the newest minutes are in memory, or read into it sooner than the lake
        answers.
        """
        if question.step_ns % COARSE_NS or self._is_cheap(question):
            return None
        lacking = self._bytes_to_read(question, names)
        if lacking is None or (source and lacking > CHEAP_BYTES and self._is_new(source)):
            return None
        return None if lacking > BYTES_MAX and self.lake is not None else self.journal

    def _is_new(self, source: "LakeSource") -> bool:
        """Whether the lake has all but few bytes of the journal."""
        journal = self.journal
        if journal is None:
            return True
        extent = journal.extent()
        return extent.bytes_between(source.end, extent.end) <= CHEAP_BYTES

    def _bytes_to_read(self, question: HistoryQuestion, names: Sequence[str]) -> int | None:
        """How much of the journal memory lacks; None if it cannot have that time."""
        journal, begin_ns = self.journal, question.whole_ns[0]
        if journal is None or begin_ns < self.recent.oldest_ns(time.time_ns()):
            return None
        return journal.extent().bytes_between(
            *self.recent.offsets_to_read(journal, names, begin_ns)
        )

    def _is_cheap(self, question: HistoryQuestion) -> bool:
        """Whether the journal alone has everything, in few bytes."""
        bounds = self.journal_bounds()
        if bounds is None or question.whole_ns[0] < bounds[0]:
            return False
        return self._journal_bytes(question) <= CHEAP_BYTES

    def _journal_bytes(self, question: HistoryQuestion) -> int:
        """How much of the journal is of that time."""
        journal = self.journal
        if journal is None:
            return 0
        extent = journal.extent()
        return extent.bytes_between(*journal.offsets(extent, *question.whole_ns))

    def _series(
        self, name: str, known: KnownParameter, found: Gathered, question: HistoryQuestion
    ) -> ParameterSeries:
        parts = sorted(found.parts.get(name, ()), key=lambda one: one[1].newest_ns)
        step_ns, width = question.step_ns, question.width
        series = ParameterSeries.of(name, known, parts, step_ns, width, is_cut=found.is_cut)
        return series.newest(TEXTS_MAX // len(question.names)) if known.is_text else series

    def _in_journal(self, names: Sequence[str]) -> set[str]:
        """The names whose samples the journal has: of others the table alone knows something."""
        if self.journal is None:
            return set()
        matched = match_topics([*self._journaled], [*names])
        return {name for name, is_one in zip(names, matched, strict=True) if is_one}

    def _tell(self, what: str, error: Exception) -> None:
        """Log once what cannot be read; the answer does without it."""
        if what not in self._has_told:
            self._has_told.add(what)
            log.warning("history does without the %s: %s", what, error)
