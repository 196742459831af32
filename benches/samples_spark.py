"""Samples per second and core from the journal through Spark: read, into the lake, rolled up.

Beside it what a user would do today: a JSON message for each sample, through Spark's file source
into Parquet. `make bench` runs it. It replaces its part of benches/RESULTS.md; asserts nothing
about time. The journal is the demo's own: its jet flies for some seconds first.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from benches.results import machine, record
from slipring.journal.location import Journal, JournalFolder
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.lake.status import status
from slipring.pipeline import run
from slipring.pipeline.journal_rows import JournalRows
from slipring.pipeline.session import own_session
from slipring.pipeline.steps.rollup import merged

MASTER, CORES = "local[2]", 2
FLIGHT_S = 20
JSON_SAMPLES = 1_000_000
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


def measure(work: Work) -> str:
    """By the clock on both cores, and by processor time, which a busy machine disturbs less."""
    work.run()
    began_s, began_cpu_s = time.perf_counter(), processor_s()
    work.run()
    seconds, cpu_s = time.perf_counter() - began_s, processor_s() - began_cpu_s
    per_core, per_cpu = work.rows / seconds / CORES / 1e6, work.rows / max(cpu_s, 0.01) / 1e6
    row = f"| {work.name} | {work.rows:,} | {per_core:.2f} | {per_cpu:.2f} | {work.bar} |\n"
    print(row, end="", flush=True)
    return row


def discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def sample_count(journal: Journal, end: int) -> int:
    reader = JournalSamples(journal, SampleRequest(("index",)))
    return sum(batch.num_rows for batch in reader.batches(0, end))


def as_json(rows: DataFrame, where: Path) -> None:
    """A JSON message for each sample, as bridges from MQTT write them."""
    rows.limit(JSON_SAMPLES).write.mode("overwrite").json(str(where))


def rows(spark: SparkSession, scratch: Path) -> Iterator[str]:
    fly(scratch / "demo")
    location = JournalFolder(str(scratch / "demo" / "journal"))
    reader = location.open()
    journal, end = Journal(location, reader.identity), reader.end_offset()
    source, count = JournalRows(spark, location), sample_count(journal, end)
    lake = scratch / "lake"

    def read(columns: str) -> DataFrame:
        return source.read("samples", 0, end, columns=columns)

    def archive() -> None:
        shutil.rmtree(lake, ignore_errors=True)
        run(Path(location.path), lake, once=True, spark=spark, tables=["samples"], consumer=None)

    def json_to_parquet() -> None:
        shutil.rmtree(scratch / "parquet", ignore_errors=True)
        schema = "parameter string, source_ns bigint, value double"
        found = spark.read.schema(schema).json(str(scratch / "json"))
        found.withColumn("time", f.timestamp_micros(f.expr("source_ns div 1000"))).write.parquet(
            str(scratch / "parquet")
        )

    narrow = "index,source_ns,value"
    yield measure(Work("journal to Delta `samples`", count, "4", archive))
    held = status(lake, "samples")
    yield measure(
        Work("read: index, source time, value", count, "6", lambda: discard(read(narrow)))
    )
    named = f"parameter,{narrow}"
    yield measure(Work("read: the name beside them", count, "-", lambda: discard(read(named))))
    partials = source.read("rollup", 0, end)
    yield measure(Work("1 s rollup", count, "2.5", lambda: discard(merged(partials, "1s"))))
    as_json(read("parameter,source_ns,value"), scratch / "json")
    yield measure(Work("today: JSON files to Parquet", JSON_SAMPLES, "-", json_to_parquet))
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
