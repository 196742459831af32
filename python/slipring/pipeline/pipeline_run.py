"""`slipring pipeline run JOB ...`: several jobs over one journal, in one Spark session.

Quick to import: Spark is loaded when jobs run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.errors import PipelineError, SlipringError
from slipring.journal.location import (
    Journal,
    JournalBroker,
    JournalFolder,
    JournalLocation,
    has_consumers,
)
from slipring.lake.storage import LakeLocation
from slipring.pipeline.config import PipelineConfig
from slipring.pipeline.job import CONSUMER, require_java, require_packages, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slipring.pipeline.destination import LakeCommit
    from slipring.pipeline.job_runs import JobSetting
    from slipring.pipeline.run_jobs import JobProgress

ARCHIVE = "archive"
JOBS = (ARCHIVE, "rollup", "derive", "limits", "latency", "budget")


@dataclass(frozen=True)
class PipelineRun:
    """What is carried where, and how."""

    journal: JournalLocation
    lake: LakeLocation
    config: PipelineConfig = field(default_factory=PipelineConfig)
    bus: JournalBroker | None = None
    """Where derived parameters and alarms are published; None for nowhere."""
    state: Path = Path("slipring-pipeline")
    """A folder of this machine: jobs remember there what they published. Keep it with the lake."""
    once: bool = False
    """Whether to end when all that is there now has arrived."""
    trigger_ms: int = 500
    master: str = "local[2]"
    conf: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark by name; they count more than ours."""
    consumer: str | None = CONSUMER
    keep_bytes: int | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    on_step: Callable[[str], None] = lambda _step: None
    on_batch: Callable[[LakeCommit], None] = lambda _commit: None
    on_progress: Callable[[JobProgress], None] = lambda _progress: None

    def run(self, names: Sequence[str], spark: SparkSession | None = None) -> None:
        """Run jobs to their end; the archive alone may need no Spark."""
        names = checked_names(names)
        require_packages("deltalake")
        try:
            self._run_with_care(names, spark)
        except SlipringError:
            raise
        except Exception:
            # Whoever stops a service may end its Java first; the next run continues anyway.
            if not self.stop.is_set():
                raise

    def _run_with_care(self, names: Sequence[str], spark: SparkSession | None) -> None:
        if self.once:
            self._run(names, spark)
            return
        from slipring.pipeline.care import cared_for

        with cared_for(self.lake, self.config.archive, names, self.stop):
            self._run(names, spark)

    def _run(self, names: Sequence[str], spark: SparkSession | None) -> None:
        others = [name for name in names if name != ARCHIVE]
        if not others:
            self._archive(spark)
            return
        require_packages("deltalake", "pyspark")
        require_java()
        from slipring.pipeline.session import own_session

        own = own_session(self.master, self.on_step, self.conf)
        with own if spark is None else nullcontext(spark) as session:
            archive = partial(self._archive, session) if ARCHIVE in names else None
            self._run_others(others, session, archive)

    def backfill(self, from_ns: int, to_ns: int, spark: SparkSession | None = None) -> int:
        """Compute derived parameters of a time again from history; how many values there are.

        They replace those in the lake; nothing is published.
        """
        require_packages("deltalake", "pyspark")
        require_java()
        from slipring.pipeline.job_runs import DeriveRun
        from slipring.pipeline.session import own_session

        own = own_session(self.master, self.on_step, self.conf)
        with own if spark is None else nullcontext(spark) as session:
            return DeriveRun(self._setting(session), publishes=False).backfill(from_ns, to_ns)

    def _archive(self, spark: SparkSession | None) -> None:
        run(
            self.journal,
            self.lake,
            trigger_ms=self.trigger_ms,
            once=self.once,
            master=self.master,
            conf=self.conf,
            spark=spark,
            stop=self.stop,
            on_batch=self.on_batch,
            on_step=self.on_step,
            consumer=self.consumer,
            keep_bytes=self.keep_bytes,
            tables=self.config.archive.tables,
        )

    def _run_others(
        self, names: Sequence[str], spark: SparkSession, archive: Callable[[], None] | None
    ) -> None:
        from slipring.pipeline.batch_loop import BatchLoop
        from slipring.pipeline.run_jobs import JobRunner

        loop = BatchLoop(self.journal, self.trigger_ms / 1_000)
        consumer = self.consumer if has_consumers(self.journal) else None
        runner = JobRunner(loop, self.stop, self.once, consumer, self.on_progress)
        runner.run(names, self._setting(spark), archive)

    def _setting(self, spark: SparkSession) -> JobSetting:
        from slipring.pipeline.job_runs import JobSetting
        from slipring.pipeline.journal_rows import JournalRows

        journal = Journal(self.journal, self.journal.open().identity)
        rows = JournalRows(spark, self.journal)
        where = (self.lake, self.config, self.state, self.bus)
        return JobSetting(rows, journal, *where, stop=self.stop)


def checked_names(names: Sequence[str]) -> list[str]:
    """The names of jobs, each once; or PipelineError."""
    if unknown := [name for name in names if name not in JOBS]:
        raise PipelineError(f"there is no job {unknown[0]}; jobs are {', '.join(JOBS)}")
    return list(dict.fromkeys(names))


def journal_at(where: Path | JournalLocation) -> JournalLocation:
    """A journal's folder, or where it is already."""
    return JournalFolder(str(where.absolute())) if isinstance(where, Path) else where
