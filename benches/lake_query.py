"""One parameter out of five minutes of a million samples per second: how long, and how many bytes.

`make bench ARGS=lake_query` runs it. It replaces its part of benches/RESULTS.md. It needs 2 GB of
disk and some minutes. `python -m benches.lake_query FOLDER` keeps the lake, and uses it again.
"""
# ruff: noqa: S608 (the statements are our own)

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benches.results import machine, record
from benches.rounds import head, row
from slipring.demo.jet import PREFIX, Jet
from slipring.lake.compaction import FILE_BYTES
from slipring.lake.files import TableFile, WrittenFile, constant, write_file
from slipring.lake.specs import PARAMETERS, SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable

SECONDS = 300
RATE_HZ = 50
START_S = 600.0
"""Into the flight: the jet is in the air."""
START_NS = 1_767_322_800_000_000_000
JOURNAL = "5d2f0d6e4a1b4c0f9a3e7c1d2b4f6a80"
ROUNDS = 3
PARAMETERS_AT_ONCE = 50
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


class JetFlight:
    """The samples of a flight, all in memory, and rows of them sorted by index and time."""

    def __init__(self) -> None:
        jet = Jet(start_s=START_S)
        definitions = jet.parameters
        self.names = [f"{PREFIX}/{name}" for name in definitions]
        self.kinds = [_kind(one.type) for one in definitions.values()]
        self.units = [one.unit or None for one in definitions.values()]
        places = {
            kind: np.flatnonzero(np.array(self.kinds) == kind) for kind in dict.fromkeys(self.kinds)
        }
        self.values = np.full((SECONDS * RATE_HZ, len(self.names)), np.nan)
        for step in range(len(self.values)):
            for kind, some in jet.step().row.items():
                if kind != "text":
                    self.values[step, places[kind]] = some

    def rows(self, parameters: range, steps: range) -> pa.RecordBatch:
        """Samples of some parameters at some steps; a text is left null."""
        index = np.repeat(np.arange(parameters.start, parameters.stop, dtype=np.int32), len(steps))
        step = np.tile(np.arange(steps.start, steps.stop), len(parameters))
        source_ns = START_NS + step * (1_000_000_000 // RATE_HZ)
        receive_ns = source_ns + 3_000_000 + step % 7 * 1_000
        values = self.values[steps.start : steps.stop, parameters.start : parameters.stop]
        return pa.record_batch(
            {
                "journal": constant(JOURNAL, len(index)),
                "parameter": _coded(self.names, index),
                "index": pa.array(index),
                "source_time": _times(source_ns),
                "source_ns": pa.array(source_ns),
                "receive_time": _times(receive_ns),
                "receive_ns": pa.array(receive_ns),
                "value": pa.array(values.T.ravel(), from_pandas=True),
                "quality": pa.array(np.zeros(len(index), np.int16)),
                "kind": _coded(self.kinds, index),
                "unit": _coded(self.units, index),
                "offset": pa.array(step),
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


def fill_as_committed(lake: LakeLocation, flight: JetFlight) -> None:
    """A commit for each second, as the pipeline makes them."""
    table = LakeTable.open(lake, SAMPLES)
    for second in range(SECONDS):
        steps = range(second * RATE_HZ, (second + 1) * RATE_HZ)
        rows = flight.rows(range(len(flight.names)), steps)
        table.commit(write_file(lake, SAMPLES, [rows]), {"bench": second + 1})


def fill_compacted(lake: LakeLocation, flight: JetFlight) -> None:
    """Files as compaction leaves them: each goes on where the one before ended, in index order."""
    table = LakeTable.open(lake, SAMPLES)
    files, day = table.location.filesystem(), "2026-01-02"
    layout = SAMPLES.compacted(is_last=True)
    written: list[WrittenFile] = []
    file: TableFile | None = None
    for first in range(0, len(flight.names), PARAMETERS_AT_ONCE):
        file = file or TableFile(files, layout, day, "run1")
        some = range(first, min(first + PARAMETERS_AT_ONCE, len(flight.names)))
        file.add(flight.rows(some, range(len(flight.values))))
        if file.bytes >= FILE_BYTES:
            written.append(file.finish())
            file = None
    table.commit([*written, file.finish()] if file else written, {"bench": SECONDS})


LAYOUTS = {"as committed": fill_as_committed, "compacted": fill_compacted}


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
    lakes = {layout: LakeLocation.of(folder / layout.replace(" ", "-")) for layout in LAYOUTS}
    flight: JetFlight | None = None
    for layout, lake in lakes.items():
        if not (lake.path / "samples").exists():
            flight = flight or JetFlight()
            LAYOUTS[layout](lake, flight)
            table = LakeTable.open(lake, PARAMETERS)
            table.commit(write_file(lake, PARAMETERS, [flight.definitions()]), {"bench": 1})
    rows = [line for layout, lake in lakes.items() for line in measure(lake, layout)]
    held = LakeTable.open(lakes["compacted"], SAMPLES).files()
    count, size = sum(file.rows for file in held), sum(file.bytes for file in held)
    return rows, f"{count:,} rows, {size / count:.2f} bytes each when compacted."


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
        f"not in memory, the median of {ROUNDS} by CPU time; both times include the start of the "
        f"command. {note}\n\n"
    )
    columns = ("lake", "query", "rows", "CPU", "time", "bytes read", "of all bytes")
    record("lake_query", text + head(columns) + "".join(rows))


def _kind(word: str) -> str:
    return "u8" if word == "enum" else word


def _times(nanoseconds: np.ndarray) -> pa.Array:
    return pa.array(nanoseconds // 1_000).cast(pa.timestamp("us", tz="UTC"))


def _coded(texts: Sequence[str | None], index: np.ndarray) -> pa.DictionaryArray:
    """The text of each index; only those that occur are in the dictionary."""
    first, last = int(index[0]), int(index[-1]) + 1
    known = [one for one in dict.fromkeys(texts[first:last]) if one]
    order = {one: place for place, one in enumerate(known)}
    codes = np.array([order.get(one or "", -1) for one in texts[first:last]], np.int32)
    found = codes[index - first]
    return pa.DictionaryArray.from_arrays(pa.array(found, mask=found < 0), pa.array(known))


if __name__ == "__main__":
    main()
