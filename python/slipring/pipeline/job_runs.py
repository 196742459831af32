"""The jobs as they run: each takes ranges of offsets, and knows how far it is."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from slipring.errors import ConfigError, PipelineError
from slipring.journal.definitions import DefinitionHistory
from slipring.journal.location import Journal, JournalBroker
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable, app_id
from slipring.model.arrival_report import ARRIVALS_TOPIC
from slipring.pipeline.budget import budget_job
from slipring.pipeline.config import PipelineConfig
from slipring.pipeline.decoded_candidates import DecodedCandidates
from slipring.pipeline.decoded_inputs import DecodedInputs
from slipring.pipeline.derivation import derivations_of
from slipring.pipeline.derive_job import DeriveJob
from slipring.pipeline.derive_store import DeriveStore
from slipring.pipeline.journal_rows import JournalRows
from slipring.pipeline.latency import lake_commits, latency_job
from slipring.pipeline.limit_alarms import LimitAlarms
from slipring.pipeline.limit_rules import limit_rules
from slipring.pipeline.limits import LimitEvents
from slipring.pipeline.rollup import Rollup
from slipring.pipeline.rollup_batch import merged_rows
from slipring.pipeline.steps import budget, latency, subscriptions
from slipring.pipeline.steps.derive_rows import Thinning
from slipring.pipeline.subscriptions import ReportedArrivals
from slipring.publication.publisher import BatchPublisher, PublicationTarget

ARCHIVE_PATIENCE_S = 3.0
"""How long ages wait for a lake with an archive to get their samples; then without that hop."""
ARCHIVE_POLL_S = 0.1
REPORT_COLUMNS = "offset,receive_ns,publisher,topic,payload"
BUDGET_COLUMNS = "receive_ns,publisher,topic,payload"


@dataclass(frozen=True)
class JobSetting:
    """What a job works with."""

    rows: JournalRows
    journal: Journal
    lake: LakeLocation
    config: PipelineConfig
    state: Path
    """A folder on the driver's disk, which is kept as long as the lake."""
    bus: JournalBroker | None
    """Where results are published; None for nowhere."""
    stop: threading.Event = field(default_factory=threading.Event)

    def publisher(self, name: str, **target: object) -> BatchPublisher | None:
        """What puts the results of a job on the bus, each once."""
        if self.bus is None:
            return None
        made = PublicationTarget(self.bus, name, **target)  # type: ignore[arg-type]
        folder = self.state / "bus" / self.journal.identity / name
        return BatchPublisher(made, folder, stop=self.stop)


class JobRun(Protocol):
    """A job while it runs."""

    def position(self) -> int | None:
        """The offset up to which its tables have the journal; None if they have nothing."""

    def rows_written(self) -> Mapping[str, int]:
        """Rows that were committed in this run, by table."""

    def take(self, start: int, end: int) -> None:
        """Add the offsets [start, end); what is there already changes nothing."""

    def finish(self) -> None:
        """Write what is only in memory."""


class RollupRun:
    """Windows of 1 s, 1 min and 1 h."""

    def __init__(self, setting: JobSetting) -> None:
        self._job = Rollup(setting.lake, setting.journal.identity, setting.config.rollup)
        self._rows = merged_rows(lambda start, end: setting.rows.read("rollup", start, end))
        self.position: Callable[[], int | None] = self._job.position
        self.rows_written: Callable[[], dict[str, int]] = self._job.rows_written
        self.finish: Callable[[], None] = self._job.finish

    def take(self, start: int, end: int) -> None:
        self._job.write(self._rows, start, end)


class LimitsRun:
    """Events of limits, in the lake and as alarms on the bus."""

    def __init__(self, setting: JobSetting) -> None:
        self._setting = setting
        section, identity = setting.config.limits, setting.journal.identity
        self._job = LimitEvents(setting.lake, identity, section)
        self._reader = setting.journal.open()
        self._history = DefinitionHistory.of(self._reader)
        self._limited: DecodedCandidates | None = None
        publisher = setting.publisher("limits", kind="alarms")
        self._alarms = LimitAlarms(setting.lake, identity, publisher)
        self.position: Callable[[], int | None] = self._job.position
        self.rows_written: Callable[[], dict[str, int]] = self._job.rows_written

    def take(self, start: int, end: int) -> None:
        decoded, source = self._decoded(), self._setting.rows

        def candidates(begin: int, until: int) -> pa.Table:
            return decoded.of(source.read("ranges", begin, until)).toArrow()

        self._job.write(candidates, decoded.rules, start, end)
        self._alarms.publish(end)

    def _decoded(self) -> DecodedCandidates:
        """The limits that count now."""
        history = self._history.refresh(self._reader)
        if self._limited is None or history is not self._history:
            versions = json.loads(history.json)["versions"]
            rules = limit_rules(versions, self._setting.config.limits)
            limited = set(rules.column("index").to_pylist())
            names = {one["name"] for one in versions if one["index"] in limited}
            # A name that is never given stands for none: without names all would be decoded.
            chosen = tuple(sorted(names)) or ("$none",)
            self._limited = DecodedCandidates(self._setting.journal, chosen, rules)
        self._history = history
        return self._limited

    def finish(self) -> None:
        self._job.finish()
        self._alarms.close()


class LatencyRun:
    """Age of samples at each hop, and intervals of arrivals at subscribers."""

    def __init__(self, setting: JobSetting) -> None:
        self._setting = setting
        identity = setting.journal.identity
        self._job = latency_job(setting.lake, identity, setting.config.latency)
        self._samples = LakeTable.open(setting.lake, SAMPLES)
        self._seen: tuple[int, int] | None = None
        """The offsets that are taken and not written: they wait for the archive."""
        self._waits_since_s = time.monotonic()
        self._arrivals = ReportedArrivals(setting.lake, identity, setting.config.latency)

    def position(self) -> int | None:
        ages, arrivals = self._job.position(), self._arrivals.position()
        return None if ages is None or arrivals is None else min(ages, arrivals)

    def rows_written(self) -> dict[str, int]:
        return {**self._job.rows_written(), **self._arrivals.rows_written()}

    def take(self, start: int, end: int) -> None:
        self._arrivals.write(self._reports, start, end)
        if self._seen is None:
            self._waits_since_s = time.monotonic()
        self._seen = (self._seen[0] if self._seen else start, end)
        self._write_archived()

    def finish(self) -> None:
        # The archive of the same run may be about to end. After a stop the next run takes the rest.
        stop = self._setting.stop
        while self._seen is not None and not stop.is_set() and not self._write_archived():
            stop.wait(ARCHIVE_POLL_S)
        self._job.finish()
        self._arrivals.finish()

    def _write_archived(self) -> bool:
        """Write what the archive has, or has not brought in time; whether that was all."""
        assert self._seen is not None
        start, end = self._seen
        archived = self._samples.committed(app_id(self._setting.journal.identity))
        is_late = time.monotonic() - self._waits_since_s > ARCHIVE_PATIENCE_S
        until = end if archived is None or is_late else min(end, archived)
        if start < until:
            self._job.write(self._ages, start, until)
            self._waits_since_s = time.monotonic()
        self._seen = (max(start, until), end) if until < end else None
        return self._seen is None

    def _reports(self, start: int, end: int) -> pa.Table:
        rows = self._setting.rows
        messages = rows.read("messages", start, end, filter=ARRIVALS_TOPIC, columns=REPORT_COLUMNS)
        return subscriptions.reports(messages).toArrow()

    def _ages(self, start: int, end: int) -> pa.Table:
        rows, identity = self._setting.rows, self._setting.journal.identity
        commits = lake_commits(self._samples, identity, start, end)
        known = rows.spark.createDataFrame(commits) if commits.num_rows else None
        frames = rows.read("frames", start, end)
        samples = rows.read("samples", start, end, columns="offset,source_ns")
        return latency.histogram(latency.hop_ages(frames, samples, known)).toArrow()


class BudgetRun:
    """Bytes of each vehicle and day."""

    def __init__(self, setting: JobSetting) -> None:
        self._setting = setting
        self._job = budget_job(setting.lake, setting.journal.identity, setting.config.budget)
        self.position: Callable[[], int | None] = self._job.position
        self.rows_written: Callable[[], dict[str, int]] = self._job.rows_written
        self.finish: Callable[[], None] = self._job.finish

    def take(self, start: int, end: int) -> None:
        self._job.write(self._days, start, end)

    def _days(self, start: int, end: int) -> pa.Table:
        section = self._setting.config.budget
        messages = self._setting.rows.read("messages", start, end, columns=BUDGET_COLUMNS)
        rows = budget.vehicles(
            messages, section.vehicle, of=section.of, overhead_bytes=section.overhead_bytes
        )
        return budget.by_day(rows).toArrow()


class DeriveRun:
    """The user's own parameters."""

    def __init__(self, setting: JobSetting, *, publishes: bool = True) -> None:
        derivations = derivations_of(setting.config.derive)
        if not derivations:
            raise ConfigError(
                'the job derive has nothing to do: describe a parameter in [pipeline.derive."NAME"]'
                " of the file that --config names"
            )
        self._setting = setting
        identity = setting.journal.identity
        store = DeriveStore(setting.lake, identity, setting.state / "derive")
        described = {one.name: one.definition for one in derivations if one.bus}
        publisher = setting.publisher("derive", parameters=described) if publishes else None
        history = DefinitionHistory.of(setting.journal.open())
        units = {one.name: one.parameter.unit for one in history}
        self._job = DeriveJob(derivations, store, publisher, units)
        thinning = Thinning(tuple(derivations))
        self._inputs = DecodedInputs(setting.journal, self._job.inputs, thinning)
        self.position: Callable[[], int | None] = self._job.position
        self.rows_written: Callable[[], dict[str, int]] = self._job.rows_written
        self.finish: Callable[[], None] = self._job.finish

    def take(self, start: int, end: int) -> None:
        rows, inputs = self._setting.rows, self._inputs
        self._job.write(
            lambda begin, until: inputs.of(rows.read("ranges", begin, until)), start, end
        )

    def backfill(self, from_ns: int, to_ns: int) -> int:
        """Compute the values in [from, to) again from the journal; how many there are."""
        journal = self._setting.journal.open()
        first, end = journal.first_offset, journal.end_offset()
        if comma := [name for name in self._job.inputs if "," in name]:
            raise PipelineError(f"{comma[0]} has a comma in its name: --backfill cannot read it")
        names = ",".join(self._job.inputs)
        samples = self._setting.rows.read("samples", first, end, filter=names)
        return self._job.backfill(samples, from_ns, to_ns)


JOB_RUNS: Mapping[str, Callable[[JobSetting], JobRun]] = {
    "rollup": RollupRun,
    "derive": DeriveRun,
    "limits": LimitsRun,
    "latency": LatencyRun,
    "budget": BudgetRun,
}
"""The jobs beside the archive, by name."""
