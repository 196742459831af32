"""Files of the table `samples`: the processor's time and the bytes of a row, written and compacted.

`make bench ARGS=lake_files` chains it. It replaces its part of benches/RESULTS.md, and asserts
nothing about time. Processor time of this process, on one core; the least of several rounds.
"""

import io
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from benches.jet_batches import JetBatches
from benches.results import machine, record
from slipring.lake.columns import conform
from slipring.lake.compaction import Chain, PlannedMerge, compact
from slipring.lake.files import write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable

STEP_COUNTS = (25, 250)
"""Half a second and five seconds of the jet's flight."""
ROUNDS = 5
COMPACTED_BATCHES = 32
ENCODINGS: dict[str, str | None] = {
    "plain": "",
    "dictionary": None,
    "delta": "DELTA_BINARY_PACKED",
    "split": "BYTE_STREAM_SPLIT",
}
GO_ON = threading.Event()


def least_ns(work: Callable[[], object], rows: int) -> float:
    """Nanoseconds of the processor for a row."""
    spent = []
    for _ in range(ROUNDS):
        start = time.process_time_ns()
        work()
        spent.append(time.process_time_ns() - start)
    return min(spent) / rows


def written(batch: pa.RecordBatch) -> tuple[float, float]:
    """Time and bytes of a row in a file as the archive writes it."""
    with tempfile.TemporaryDirectory() as folder:
        lake = LakeLocation.of(folder)
        (file,) = write_file(lake, SAMPLES, [batch])
        spent = least_ns(lambda: write_file(lake, SAMPLES, [batch]), batch.num_rows)
        return spent, file.bytes / file.rows


def columns(batch: pa.RecordBatch) -> Iterator[str]:
    """Each column alone, in each encoding that it can have."""
    rows = conform(batch, SAMPLES.file_schema)
    for name in SAMPLES.file_schema.names:
        one = pa.table({name: rows.column(name)})
        cells = []
        for word, encoding in ENCODINGS.items():
            try:
                size = _encoded(one, encoding)
                spent = least_ns(partial(_encoded, one, encoding), rows.num_rows)
                cells.append(f"{spent:.0f} ns, {size / rows.num_rows:.2f} B")
            except (OSError, pa.ArrowException):
                cells.append("")
            print(name, word, cells[-1], flush=True)
        yield f"| {name} | {' | '.join(cells)} |\n"


def _encoded(one: pa.Table, encoding: str | None) -> int:
    """The bytes of a file with one column."""
    sink = io.BytesIO()
    (name,) = one.column_names
    chosen = {name: encoding} if encoding else None
    with pq.ParquetWriter(
        sink,
        one.schema,
        compression="zstd",
        compression_level=SAMPLES.level,
        use_dictionary=encoding is None,
        column_encoding=chosen,
        store_schema=False,
    ) as writer:
        writer.write_table(one, row_group_size=SAMPLES.group_rows)
    return len(sink.getvalue())


def compacted() -> tuple[float, float, float]:
    """Time and bytes of a row when batches of half a second are merged, and how much memory."""
    with tempfile.TemporaryDirectory() as folder:
        lake = LakeLocation.of(folder)
        table = LakeTable.open(lake, SAMPLES)
        for batch in JetBatches().batches(STEP_COUNTS[0], COMPACTED_BATCHES):
            table.commit(write_file(lake, SAMPLES, [batch]), {})
        chains = tuple(Chain(0, (file,)) for file in table.files())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time_ns()
        files = compact(table, PlannedMerge(chains, is_last=True), GO_ON)
        spent = time.process_time_ns() - start
        rows = sum(file.rows for file in files)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        return spent / rows, sum(file.bytes for file in files) / rows, grown / 1024


def report() -> Iterator[str]:
    yield f"{machine()}. The jet's numbers, 19,900 parameters at 50 Hz, all columns.\n\n"
    yield "| | rows | ns of the processor for a row | bytes for a row |\n|---|---|---|---|\n"
    spent, size, grown_mb = compacted()
    for steps in STEP_COUNTS:
        batch = JetBatches().batch(steps)
        yield _row(f"written, {steps / 50:g} s", batch.num_rows, *written(batch))
    yield _row(f"{COMPACTED_BATCHES} files of 0.5 s compacted", 15_920_000, spent, size)
    yield f"\nMemory grew by {grown_mb:.0f} MB while files were compacted.\n\nColumns of 0.5 s:\n\n"
    yield f"| | {' | '.join(ENCODINGS)} |\n|---|---|---|---|---|\n"
    yield from columns(JetBatches().batch(STEP_COUNTS[0]))


def _row(name: str, rows: int, spent: float, size: float) -> str:
    return f"| {name} | {rows:,} | {spent:.0f} | {size:.2f} |\n"


def main() -> None:
    text = "".join(report())
    print(text)
    record("lake_files", text)


if __name__ == "__main__":
    main()
