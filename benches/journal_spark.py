"""Messages per second from the journal to the lake: written, read, through Spark, into Delta.

`make bench` runs it. It replaces its part of benches/RESULTS.md; asserts nothing about time.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

from benches.results import machine, record
from slipring.journal.columns import read_batches
from slipring.journal.location import Journal, JournalFolder
from slipring.lake.status import status
from slipring.native import JournalReader, JournalWriter
from slipring.pipeline import run
from slipring.pipeline.session import own_session

BATCH_MESSAGES = 100
PAYLOAD = bytes(64)
MASTER = "local[2]"
MESSAGES = 4_000_000
WARM = 100_000


def journal_messages(path: Path, count: int) -> None:
    messages = [(f"plane/1/engine/{number}", PAYLOAD) for number in range(BATCH_MESSAGES)]
    writer = JournalWriter(path)
    for _ in range(count // BATCH_MESSAGES):
        writer.append("bench", time.time_ns(), messages)
    writer.close()


def read_arrow(path: Path, count: int) -> None:
    journal = Journal(JournalFolder(str(path)), JournalReader(path).identity)
    assert sum(batch.num_rows for batch in read_batches(journal, 0, count)) == count


def read_spark(spark: SparkSession, path: Path) -> None:
    spark.read.format("slipring").load(str(path)).write.format("noop").mode("overwrite").save()


def into_delta(spark: SparkSession, path: Path, where: Path, count: int) -> None:
    run(path, where, once=True, spark=spark)
    assert status(where).rows == count


def measure(name: str, count: int, work: Callable[[], None]) -> str:
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    row = f"| {name} | {count:,} | {seconds:.2f} | {count / seconds:,.0f} |\n"
    print(row, end="", flush=True)
    return row


def rows(count: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as scratch, own_session(MASTER) as spark:
        warm, path = Path(scratch, "warm"), Path(scratch, "journal")
        journal_messages(warm, WARM)
        yield measure("journaled and synced", count, lambda: journal_messages(path, count))
        yield measure("read as Arrow, one process", count, lambda: read_arrow(path, count))
        read_spark(spark, warm)
        yield measure("Spark batch read", count, lambda: read_spark(spark, path))
        into_delta(spark, warm, Path(scratch, "warm-lake"), WARM)
        where = Path(scratch, "lake")
        yield measure("into Delta", count, lambda: into_delta(spark, path, where, count))


def main() -> None:
    head = "| step, 64-byte payloads | messages | seconds | messages/s |\n|---|---|---|---|\n"
    where = f"{machine()}; Spark {MASTER}, `benches/journal_spark.py`.\n\n"
    record("pipeline", where + head + "".join(rows(MESSAGES)))


if __name__ == "__main__":
    main()
