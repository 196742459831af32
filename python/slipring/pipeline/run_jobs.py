"""Runs jobs of the pipeline together, each in a thread of its own, in one Spark session.

A job that fails ends the others: a pipeline that lacks a part must not look whole.
"""

import threading
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from slipring.errors import SlipringError
from slipring.journal.consumer_note import ConsumerNote
from slipring.pipeline.batch_loop import BatchLoop
from slipring.pipeline.job_runs import JOB_RUNS, JobRun, JobSetting
from slipring.pipeline.query import explained
from slipring.pipeline.stopping import when_stopped


@dataclass(frozen=True)
class JobProgress:
    """A batch that a job has taken: the offsets [start, end)."""

    job: str
    start: int
    end: int
    note: ConsumerNote = field(default_factory=ConsumerNote)
    """The rows that it has committed in this run."""


@dataclass
class JobRunner:
    """The jobs of one run, and the first error of one of them."""

    loop: BatchLoop
    stop: threading.Event
    once: bool
    """Whether the jobs end when they have what is there now."""
    consumer: str | None
    """The name of the run among the journal's consumers; each job adds its own."""
    on_progress: Callable[[JobProgress], None] = lambda _progress: None
    failure: Exception | None = None
    _threads: list[threading.Thread] = field(default_factory=list)
    _group: str = field(default_factory=lambda: f"slipring-{uuid.uuid4().hex}")
    """Names the work of this run in Spark, so that it can be cancelled."""

    def run(
        self, names: Sequence[str], setting: JobSetting, beside: Callable[[], None] | None = None
    ) -> None:
        """Run these jobs, and something beside them, to their end; raises the first error."""
        if beside is not None:
            self._start("archive", beside)
        for name in names:
            self._start(name, partial(self._follow, name, setting))
        context = setting.rows.spark.sparkContext
        with when_stopped(self.stop, partial(context.cancelJobGroup, self._group)):
            for thread in self._threads:
                thread.join()
        if isinstance(self.failure, SlipringError):
            raise self.failure
        if self.failure is not None:
            raise explained(self.failure) from self.failure

    def _start(self, name: str, work: Callable[[], None]) -> None:
        """Run a job in a thread; its error stops all jobs."""

        def guarded() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 (`run` raises it)
                # Whoever stops a service may end its Java first; the next run continues anyway.
                if not self.stop.is_set():
                    self.failure = error
                    self.stop.set()

        thread = threading.Thread(target=guarded, name=f"job-{name}", daemon=True)
        thread.start()
        self._threads.append(thread)

    def _follow(self, name: str, setting: JobSetting) -> None:
        run = JOB_RUNS[name](setting)
        context = setting.rows.spark.sparkContext
        context.setJobGroup(self._group, name, interruptOnCancel=True)
        # Spark divides its cores fairly among pools.
        context.setLocalProperty("spark.scheduler.pool", name)

        progress: JobProgress | None = None

        def take(start: int, end: int) -> None:
            nonlocal progress
            run.take(start, end)
            note = (progress.note if progress else ConsumerNote()).up_to(run.rows_written())
            progress = JobProgress(name, start, end, note)
            self._note(name, run, setting, note)
            self.on_progress(progress)

        self._note(name, run, setting, ConsumerNote())
        try:
            self.loop.run(run.position(), take, self.stop, once=self.once)
        finally:
            run.finish()
        if progress is not None:
            note = progress.note.up_to(run.rows_written())
            self._note(name, run, setting, note)
            self.on_progress(replace(progress, note=note))

    def _note(self, name: str, run: JobRun, setting: JobSetting, note: ConsumerNote) -> None:
        """Tell the journal how far a job is, so that retention keeps what it lacks."""
        position = run.position()
        if self.consumer is not None and position is not None:
            identity, location = setting.journal.identity, setting.journal.location
            told = (identity, position, None, note.encode())
            location.commit(f"{self.consumer}-{name}", *told)
