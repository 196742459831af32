"""Messages per second from the journal to the lake: written, read, through Spark, into Delta.

`make bench` runs it. It replaces its part of benches/RESULTS.md; asserts nothing about time.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import slipring.spark
from benches.results import machine, record
from slipring.journal.columns import read_batches
from slipring.journal.location import Journal, JournalFolder
from slipring.lake.status import status
from slipring.native import JournalReader, JournalWriter
from slipring.pipeline import run
from slipring.pipeline.destination import ALL_TABLES
from slipring.pipeline.session import own_session

BATCH_MESSAGES = 100
PAYLOAD = bytes(64)
MASTER = "local[2]"
MESSAGES = 12_000_000
WARM, WARM_RUNS = 1_000_000, 6


def journal_messages(path: Path, count: int) -> None:
    messages = [(f"plane/1/engine/{number}", PAYLOAD) for number in range(BATCH_MESSAGES)]
    writer = JournalWriter(path)
    for _ in range(count // BATCH_MESSAGES):
        writer.append("bench", time.time_ns(), messages)
    writer.close()


def read_arrow(path: Path, count: int) -> None:
    journal = Journal(JournalFolder(str(path)), JournalReader(path).identity)
    assert sum(batch.num_rows for batch in read_batches(journal, 0, count)) == count


def discard(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


def through_format(spark: SparkSession, path: Path) -> None:
    discard(spark.read.format("slipring").load(str(path)))


def read_spark(spark: SparkSession, path: Path) -> None:
    discard(slipring.spark.read(spark, path))


def into_delta(spark: SparkSession, path: Path, where: Path, tables: Sequence[str]) -> None:
    shutil.rmtree(where, ignore_errors=True)
    run(path, where, once=True, spark=spark, tables=tables, consumer=None)


def measure(name: str, count: int, work: Callable[[], None]) -> str:
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    row = f"| {name} | {count:,} | {seconds:.2f} | {count / seconds:,.0f} |\n"
    print(row, end="", flush=True)
    return row


def rows(count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as scratch, own_session(MASTER) as spark:
        warm, path, lake = (Path(scratch, name) for name in ("warm", "journal", "lake"))
        journal_messages(warm, WARM)
        yield measure("journaled and synced", count, lambda: journal_messages(path, count))
        yield measure("read as Arrow, one process", count, lambda: read_arrow(path, count))
        for name, read in (
            ("read by `slipring.spark.read`", read_spark),
            ('read by `format("slipring")`', through_format),
        ):
            for _ in range(WARM_RUNS):
                read(spark, warm)
            yield measure(name, count, partial(read, spark, path))
        for tables in (("messages",), ALL_TABLES):
            into_delta(spark, warm, lake, tables)
            name = f"into Delta: {', '.join(tables)}"
            yield measure(name, count, partial(into_delta, spark, path, lake, tables))
            assert status(lake).rows == count


def main() -> None:
    head = "| step, 64-byte payloads | messages | seconds | messages/s |\n|---|---|---|---|\n"
    where = f"{machine()}; Spark {MASTER}, `make bench ARGS=journal_spark`.\n\n"
    record("pipeline", where + head + "".join(rows(MESSAGES)))


if __name__ == "__main__":
    main()
