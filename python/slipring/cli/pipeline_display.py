"""How far the jobs of `slipring pipeline run` are: a table on a terminal, else a line now and then.

The table is drawn again every second. A line for each job is printed at its first batch, every five
seconds while it moves, and every 30 seconds while it stands still and is behind.
"""

import sys
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

from slipring.cli.display import lag
from slipring.cli.first_rows import FirstRows
from slipring.journal.count_rates import READ
from slipring.pipeline.progress import JobReport, RunProgress

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

    from slipring.journal.location import JournalLocation
    from slipring.pipeline.destination import LakeCommit
    from slipring.pipeline.run_jobs import JobProgress

DRAW_S = 1.0
LINE_S = 5.0
STILL_S = 30.0
ARCHIVE = "archive"
END_S = 1.0
"""How long the end waits for a look at a journal that does not answer."""
SET_ASIDE = "set_aside"
SAMPLES = ("samples", "derived")
"""The tables whose rows per second are told beside the messages: their rows are samples."""


class PipelineDisplay:
    """Shows the jobs until the block ends; then how far each has come."""

    def __init__(self, journal: "JournalLocation") -> None:
        self.journal = journal
        self._progress = RunProgress(journal)
        self._first = FirstRows()
        self._live = _live() if sys.stdout.isatty() else None
        self._look = threading.Event()
        self._over = threading.Event()
        self._shown: dict[str, tuple[int, float]] = {}
        """The offset of each job in its last line, and when that was printed."""
        self._thread = threading.Thread(target=self._follow, name="display", daemon=True)

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._look.set()
        self._thread.join(END_S)
        if self._live:
            self._live.stop()
        for report in self._progress.totals():
            _print(_total(report))

    def step(self, text: str) -> None:
        """Print what is being done."""
        self._first.step(text)
        if self._live:
            self._live.console.print(f"  {text}", markup=False, highlight=False)
        else:
            _print(text)

    def archived(self, batch: "LakeCommit") -> None:
        """The archive has committed a batch."""
        if words := self._first.commit(batch):
            self.step(words)
        if self._progress.add(ARCHIVE, batch.end, batch.rows):
            self._look.set()

    def taken(self, batch: "JobProgress") -> None:
        """Another job has taken a batch."""
        if self._progress.note(batch.job, batch.end, batch.note):
            self._look.set()

    def _follow(self) -> None:
        while not self._over.is_set():
            self._look.wait(DRAW_S if self._live else LINE_S)
            self._look.clear()
            reports = self._progress.reports()
            if self._over.is_set():
                return
            if self._live:
                self._live.update(_table(reports), refresh=True)
                continue
            for report in reports:
                if self._is_due(report, time.monotonic()):
                    _print(job_line(report))

    def _is_due(self, report: JobReport, now_s: float) -> bool:
        """Whether to print a line; it counts as printed then."""
        offset, at_s = self._shown.get(report.job, (-1, now_s))
        is_due = offset != report.offset or (report.behind != 0 and now_s >= at_s + STILL_S)
        if is_due:
            self._shown[report.job] = (report.offset, now_s)
        return is_due


def job_line(report: JobReport) -> str:
    """Everything about a job in one line."""
    late = "lag unknown"
    if report.behind is not None:
        late = f"lag {lag(report.lag_s) or 'unknown'}, {report.behind:,} messages behind"
    last = _counts(report.note.last)
    parts = [f"{report.job}: up to offset {report.offset:,}", late]
    if speeds := _speeds(report):
        parts.append(speeds)
    parts.append(f"last batch {report.commit_age_s:.1f} s ago{f': {last}' if last else ''}")
    if aside := report.note.rows.get(SET_ASIDE):
        parts.append(f"{aside:,} set aside")
    return "; ".join(parts)


def _total(report: JobReport) -> str:
    what = _counts(report.note.rows) or "nothing new"
    return f"{report.job}: {what} into the lake, up to offset {report.offset:,}"


def _speeds(report: JobReport) -> str:
    told = [(READ, "messages"), *((name, "samples") for name in SAMPLES)]
    rates = [(report.rates.get(name, 0.0), words) for name, words in told]
    return ", ".join(f"{rate:,.0f} {words}/s" for rate, words in rates if rate > 0)


def _counts(rows: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {_words(name)}" for name, count in rows.items() if count)


def _words(table: str) -> str:
    return table.replace("_", " ")


def _print(line: str) -> None:
    # One write: other threads and processes print lines, too.
    sys.stdout.write(f"  {line}\n")
    sys.stdout.flush()


def _table(reports: list[JobReport]) -> "Table":
    from slipring.cli.terminal_table import table

    shown = table("job", "+offset", "+lag", "+behind", "per second", "+last batch", "rows")
    for one in reports:
        behind = "" if one.behind is None else f"{one.behind:,}"
        since = f"{one.commit_age_s:.0f} s ago"
        numbers = (f"{one.offset:,}", lag(one.lag_s), behind)
        shown.add_row(one.job, *numbers, _speeds(one), since, _counts(one.note.rows))
    return shown


def _live() -> "Live":
    from rich.console import Console
    from rich.live import Live

    return Live(console=Console(highlight=False), auto_refresh=False, transient=True)
