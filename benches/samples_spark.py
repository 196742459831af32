"""Samples per second and core from the journal through Spark: read, into the lake, computed on.

Beside it what a user would do today: a JSON message for each sample, through Spark's file source
or through paho and pandas into Parquet. `make bench` runs it. It replaces its part of
benches/RESULTS.md; asserts nothing about time. The journal is the demo's own: its jet flies first.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import slipring.spark
from benches.lake_today import json_to_parquet, paho_to_parquet, write_json
from benches.results import machine, record
from slipring.demo.jet import PREFIX, Jet
from slipring.journal.location import Journal, JournalFolder
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.lake.status import status
from slipring.lake.storage import LakeLocation
from slipring.pipeline import run
from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.destination import LakeCommit
from slipring.pipeline.journal_rows import JournalRows
from slipring.pipeline.pipeline_run import PipelineRun
from slipring.pipeline.session import own_session
from slipring.pipeline.steps.rollup import merged

MASTER, CORES = "local[2]", 2
FLIGHT_S = 60
WARM_RUNS = 2
"""Java's compiler needs some."""
JSON_SAMPLES, PAHO_SAMPLES = 1_000_000, 100_000
DERIVED_COUNT = 100
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Work:
    """One row of the table."""

    name: str
    rows: int
    bar: str
    run: Callable[[], object]


def fly(data: Path) -> None:
    """The demo without Spark: a broker, the jet, a journal."""
    command = [sys.executable, "-m", "slipring", "demo", "--data", str(data)]
    command += ["--seconds", str(FLIGHT_S), "--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0"]
    # Without Java the demo runs without a lake.
    environment = {**os.environ, "JAVA_HOME": str(data)}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def derived_parameters() -> dict[str, dict[str, str]]:
    """Differences of neighbouring gauges, ten times a second."""
    gauges = {
        f"{PREFIX}/{name}": one.unit
        for name, one in Jet(start_s=0).parameters.items()
        if name.startswith("structure/") and one.type in ("f32", "f64")
    }
    pairs = [two for two in pairwise(gauges) if gauges[two[0]] == gauges[two[1]]]
    return {
        f"bench/{number}": {
            "expression": f"`{one}` - `{other}`",
            "every": "100ms",
            "unit": gauges[one] or "1",
        }
        for number, (one, other) in enumerate(pairs[:DERIVED_COUNT])
    }


def processor_s() -> float:
    """Processor time of this process and all that it started."""
    return _tree_ticks(os.getpid()) / TICKS


def _tree_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = {
            int(child) for task in tasks for child in (task / "children").read_text().split()
        }
    except OSError:
        return 0
    own = sum(int(field) for field in fields[11:15])
    return own + sum(map(_tree_ticks, children))


def told(name: str, count: int, seconds: float, cpu_s: float, bar: str) -> str:
    """A row: by the clock on both cores, and by processor time, which a busy machine bends less."""
    per_core, per_cpu = count / seconds / CORES / 1e6, count / max(cpu_s, 0.01) / 1e6
    row = f"| {name} | {count:,} | {per_core:.2f} | {per_cpu:.2f} | {bar} |\n"
    print(row, end="", flush=True)
    return row


def measure(work: Work) -> str:
    """A run after others."""
    for _ in range(WARM_RUNS):
        work.run()
    began_s, began_cpu_s = time.perf_counter(), processor_s()
    work.run()
    seconds, cpu_s = time.perf_counter() - began_s, processor_s() - began_cpu_s
    return told(work.name, work.rows, seconds, cpu_s, work.bar)


def discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def sample_count(journal: Journal, end: int) -> int:
    reader = JournalSamples(journal, SampleRequest(("index",)))
    return sum(batch.num_rows for batch in reader.batches(0, end))


class FlownJournal:
    """A flight of the jet in a journal, and the work over it."""

    def __init__(self, spark: SparkSession, scratch: Path) -> None:
        fly(scratch / "demo")
        self.spark, self.scratch, self.lake = spark, scratch, scratch / "lake"
        self.location = JournalFolder(str(scratch / "demo" / "journal"))
        reader = self.location.open()
        self.end = reader.end_offset()
        self.count = sample_count(Journal(self.location, reader.identity), self.end)

    def read(self, columns: str) -> DataFrame:
        return slipring.spark.read(
            self.spark, self.location.path, deliver="samples", columns=columns
        )

    def through_format(self, columns: str) -> DataFrame:
        return JournalRows(self.spark, self.location).read("samples", 0, self.end, columns=columns)

    def archive(self) -> str:
        """From the first commit to the last: a stream goes on for days."""
        commits: list[tuple[float, float, int]] = []

        def note(commit: LakeCommit) -> None:
            commits.append((time.perf_counter(), processor_s(), commit.rows["samples"]))

        shutil.rmtree(self.lake, ignore_errors=True)
        journal = Path(self.location.path)
        run(
            journal,
            self.lake,
            once=True,
            spark=self.spark,
            tables=["samples"],
            consumer=None,
            on_batch=note,
        )
        (began_s, began_cpu_s, _), *others = commits
        ended_s, ended_cpu_s, _ = others[-1]
        count = sum(rows for _, _, rows in others)
        seconds, cpu_s = ended_s - began_s, ended_cpu_s - began_cpu_s
        return told("journal to Delta `samples`", count, seconds, cpu_s, "4")

    def roll_up(self) -> None:
        partials = JournalRows(self.spark, self.location).read("rollup", 0, self.end)
        discard(merged(partials, "1s"))

    def derive(self) -> None:
        shutil.rmtree(self.scratch / "derived", ignore_errors=True)
        job = PipelineRun(
            self.location,
            LakeLocation.of(self.scratch / "derived"),
            parse_pipeline({"derive": derived_parameters()}),
            state=self.scratch / "derived" / "state",
            once=True,
            consumer=None,
        )
        job.run(["derive"], self.spark)


def rows(spark: SparkSession, scratch: Path) -> Iterator[str]:
    flown = FlownJournal(spark, scratch)
    count, narrow = flown.count, "index,source_ns,value"

    def work(name: str, bar: str, run: Callable[[], object]) -> str:
        return measure(Work(name, count, bar, run))

    yield flown.archive()
    yield work("read: index, source time, value", "6", lambda: discard(flown.read(narrow)))
    through = flown.through_format
    yield work('the same by `format("slipring")`', "-", lambda: discard(through(narrow)))
    named = f"parameter,{narrow}"
    yield work("read: the name beside them", "-", lambda: discard(flown.read(named)))
    yield work("1 s rollup", "2.5", flown.roll_up)
    fahrenheit = "value * 1.8 + 32 AS value"
    yield work(
        "derived: an expression over every sample",
        "1",
        lambda: discard(flown.read(narrow).selectExpr("index", "source_ns", fahrenheit)),
    )
    yield work(f"derived: the job, {DERIVED_COUNT} parameters at 10 Hz", "1", flown.derive)
    write_json(flown.read("parameter,source_ns,value"), scratch / "json", JSON_SAMPLES)
    today = Work(
        "today: JSON files to Parquet by Spark",
        JSON_SAMPLES,
        "-",
        lambda: json_to_parquet(spark, scratch / "json", scratch / "parquet"),
    )
    yield measure(today)
    seconds, cpu_s = paho_to_parquet(scratch / "json", scratch / "paho.parquet", PAHO_SAMPLES)
    yield told("today: paho, pandas, Parquet", PAHO_SAMPLES, seconds, cpu_s, "-")
    held = status(flown.lake, "samples")
    size = held.bytes / held.rows
    yield f"| bytes per sample in `samples` | {held.rows:,} | {size:.2f} B | - | under 5 B |\n"


def main() -> None:
    head = (
        "| work | samples | million/s and core | million per processor second | to reach |\n"
        "|---|---|---|---|---|\n"
    )
    where = f"{machine()}; Spark {MASTER}, `make bench ARGS=samples_spark`.\n\n"
    with tempfile.TemporaryDirectory() as scratch, own_session(MASTER) as spark:
        found = "".join(rows(spark, Path(scratch)))
    record("samples_spark", where + head + found)


if __name__ == "__main__":
    main()
