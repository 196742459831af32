"""One parameter out of five minutes of a million samples per second: how long, and how many bytes.

`make bench ARGS=lake_query` runs it. It replaces its part of benches/RESULTS.md. It needs 2 GB of disk
and some minutes. `python -m benches.lake_query FOLDER` keeps the lake there, and uses it again.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benches.results import machine, record
from benches.rounds import head, row
from slipring.demo.jet import PREFIX, Jet
from slipring.lake.files import constant, write_file
from slipring.lake.specs import PARAMETERS, SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.lake.upkeep import TableUpkeep, UpkeepPolicy

SECONDS = 300
RATE_HZ = 50
START_S = 600.0
"""Into the flight: the jet is in the air."""
START_NS = 1_767_322_800_000_000_000
JOURNAL = "5d2f0d6e4a1b4c0f9a3e7c1d2b4f6a80"
ROUNDS = 3
NAME = f"{PREFIX}/engine/egt"
ONE_HOUR = "source_time >= '2026-01-02T03:00:00Z' AND source_time < '2026-01-02T04:00:00Z'"
QUERIES = {
    "nothing: the start of the command": "SELECT 1",
    "every sample of one parameter": (
        f"SELECT source_time, value, quality FROM samples WHERE parameter = '{NAME}' AND {ONE_HOUR}"
    ),
    "one of the last parameters": (
        "SELECT source_time, value, quality FROM samples WHERE "
        f"parameter = '{PREFIX}/acquisition/discrete/b/14/34' AND {ONE_HOUR}"
    ),
    "mean by minute of four parameters": (
        "SELECT parameter, date_bin(INTERVAL '1 minute', source_time) AS minute, avg(value) "
        f"FROM samples WHERE parameter IN ('{NAME}', '{PREFIX}/engine/rpm', '{PREFIX}/engine/n1', "
        f"'{PREFIX}/engine/n2') AND {ONE_HOUR} GROUP BY 1, 2"
    ),
}
COUNTED = (
    "import sys; from slipring.cli import main\n"
    "try: main()\n"
    "except SystemExit: pass\n"
    "print(open('/proc/self/io').read().split()[1], file=sys.stderr)"
)
"""The command, and then how many bytes it has read."""


class JetSamples:
    """All samples of the jet, second by second, sorted by index and time."""

    def __init__(self) -> None:
        self.jet = Jet(start_s=START_S)
        definitions = self.jet.parameters
        self.names = [f"{PREFIX}/{name}" for name in definitions]
        self.kinds = [_kind(one.type) for one in definitions.values()]
        self.units = [one.unit or None for one in definitions.values()]
        self._places = {
            kind: np.flatnonzero(np.array(self.kinds) == kind) for kind in dict.fromkeys(self.kinds)
        }

    def second(self, number: int) -> pa.RecordBatch:
        values = np.empty((RATE_HZ, len(self.names)))
        texts: list[list[str]] = []
        for step in range(RATE_HZ):
            made = self.jet.step().row
            texts.append(made.pop("text"))
            for kind, some in made.items():
                values[step, self._places[kind]] = some
        count = values.size
        index = np.repeat(np.arange(len(self.names), dtype=np.int32), RATE_HZ)
        step_ns = 1_000_000_000 // RATE_HZ
        steps = np.tile(np.arange(number * RATE_HZ, (number + 1) * RATE_HZ), len(self.names))
        source_ns = START_NS + steps * step_ns
        receive_ns = source_ns + 3_000_000 + steps % 7 * 1_000
        is_text = np.isin(index, self._places["text"])
        text_column = np.full(count, None, object)
        text_column[is_text] = np.array(texts, object).T.ravel()
        return pa.record_batch(
            {
                "journal": constant(JOURNAL, count),
                "parameter": pa.DictionaryArray.from_arrays(index, pa.array(self.names)),
                "index": pa.array(index),
                "source_time": _times(source_ns),
                "source_ns": pa.array(source_ns),
                "receive_time": _times(receive_ns),
                "receive_ns": pa.array(receive_ns),
                "value": pa.array(values.T.ravel(), mask=is_text),
                "text": pa.array(text_column, pa.string()),
                "quality": pa.array(np.zeros(count, np.int16)),
                "kind": _coded(self.kinds, index),
                "unit": _coded(self.units, index),
                "offset": pa.array(steps),
            }
        )

    def definitions(self) -> pa.RecordBatch:
        count = len(self.names)
        return pa.record_batch(
            {
                "journal": constant(JOURNAL, count),
                "table": pa.array([1] * count, pa.int64()),
                "index": pa.array(range(count), pa.int32()),
                "name": pa.array(self.names),
                "type": pa.array(self.kinds),
                "since_offset": pa.array([0] * count, pa.int64()),
                "unit": pa.array(self.units),
            }
        )


def fill(lake: LakeLocation) -> None:
    """A commit for each second, as the pipeline makes them."""
    samples, table = JetSamples(), LakeTable.open(lake, SAMPLES)
    definitions = LakeTable.open(lake, PARAMETERS)
    definitions.commit(write_file(lake, PARAMETERS, [samples.definitions()]), {"bench": 1})
    for second in range(SECONDS):
        table.commit(write_file(lake, SAMPLES, [samples.second(second)]), {"bench": second + 1})
        if second % 30 == 29:
            print(f"  {second + 1} s of samples", flush=True)


def compact(lake: LakeLocation) -> float:
    """Compact as the pipeline does when the hour is over; returns the seconds that it took."""
    upkeep, began_s = TableUpkeep(lake, SAMPLES, UpkeepPolicy()), time.monotonic()
    later = datetime.now(UTC) + timedelta(days=1)
    while not upkeep.turn(later).is_idle:
        pass
    return time.monotonic() - began_s


class Measured(NamedTuple):
    """One run of the command."""

    cpu_s: float
    seconds: float
    bytes: int
    rows: int


def ask(lake: LakeLocation, sql: str) -> Measured:
    """Run `slipring query` in a process of its own, with no file of the lake in memory."""
    for file in lake.path.rglob("*"):
        if file.is_file():
            forget(file)
    began_s, before_s = time.monotonic(), cpu_s()
    command = [sys.executable, "-c", COUNTED, "query", sql, "--lake", lake.uri, "--format", "csv"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    seconds, rows = time.monotonic() - began_s, len(done.stdout.splitlines()) - 1
    return Measured(cpu_s() - before_s, seconds, int(done.stderr.split()[-1]), rows)


def cpu_s() -> float:
    """Processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def forget(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def measure(lake: LakeLocation, layout: str) -> Iterator[str]:
    """A line for each query; bytes are those that the start of the command does not read."""
    held = LakeTable.open(lake, SAMPLES).files()
    total = sum(file.bytes for file in held)
    started = 0
    for words, sql in QUERIES.items():
        runs = [ask(lake, sql) for _ in range(ROUNDS)]
        found = sorted(runs)[ROUNDS // 2]
        started = started or found.bytes
        read = max(0, found.bytes - started)
        line = row(
            (
                f"{layout}, {len(held):,} files, {total / 1e6:,.0f} MB",
                words,
                f"{found.rows:,}",
                f"{found.cpu_s:.2f} s",
                f"{found.seconds:.2f} s",
                f"{read / 1e6:,.2f} MB",
                f"{read / total:.3%}",
            )
        )
        print(line, end="", flush=True)
        yield line


def run(folder: Path) -> tuple[list[str], str]:
    lake = LakeLocation.of(folder)
    rows: list[str] = []
    note = ""
    if not (folder / "samples").exists():
        fill(lake)
        rows += measure(lake, "as committed")
        seconds = compact(lake)
        note = f" Compaction took {seconds:,.0f} s."
    rows += measure(lake, "compacted")
    count = sum(file.rows for file in LakeTable.open(lake, SAMPLES).files())
    size = sum(file.bytes for file in LakeTable.open(lake, SAMPLES).files())
    return rows, f"{count:,} rows, {size / count:.2f} bytes each when compacted.{note}"


def main() -> None:
    """Measure and record."""
    where = machine()
    if len(sys.argv) > 1:
        rows, note = run(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            rows, note = run(Path(folder, "lake"))
    text = (
        f"{where}; `make bench ARGS=lake_query`. `slipring query` as a process of its own, files "
        f"not in memory, the median of {ROUNDS} by CPU time; both times include the start of the command. {note}\n\n"
    )
    columns = ("lake", "query", "rows", "CPU", "time", "bytes read", "of all bytes")
    record("lake_query", text + head(columns) + "".join(rows))


def _kind(word: str) -> str:
    return "u8" if word == "enum" else word


def _times(nanoseconds: np.ndarray) -> pa.Array:
    return pa.array(nanoseconds // 1_000).cast(pa.timestamp("us", tz="UTC"))


def _coded(texts: list[str] | list[str | None], index: np.ndarray) -> pa.DictionaryArray:
    known = [text for text in dict.fromkeys(texts) if text is not None]
    codes = np.array([-1 if one is None else known.index(one) for one in texts], np.int32)[index]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(known))


if __name__ == "__main__":
    main()
