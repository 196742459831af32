"""How much memory `slipring export --parameters` takes, and that of a recording four times as long.

`make bench ARGS=export` runs it. It replaces its part of benches/RESULTS.md.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benches.results import machine, record
from benches.rounds import head, row
from slipring import Parameter, connect

TIMES = 4
"""How many times longer the longer recording is."""
START_NS = 1_767_323_045_000_000_000
READY = re.compile(r"slipring ready mqtt=(\S+)")
FORMS = {
    "long Parquet": ("out.parquet",),
    "wide Parquet": ("out.parquet", "--wide"),
    "CSV": ("out.csv",),
    "CSV, grid of 1 s": ("out.csv", "--grid", "1s"),
    "MCAP": ("out.mcap",),
}


class Flight(NamedTuple):
    """What is recorded: how many parameters of which type, how often and how long."""

    words: str
    type: str
    parameters: int
    rate_hz: int
    seconds: int
    characters: int = 0
    """Characters of each text."""

    @property
    def rows(self) -> int:
        return self.rate_hz * self.seconds


FLIGHTS = (
    Flight("1,000 f64 at 50 Hz, 100 s", "f64", 1_000, 50, 100),
    Flight("20 texts of 1,000 characters at 10 Hz, 500 s", "text", 20, 10, 500, 1_000),
)


@contextmanager
def broker(data: Path) -> Iterator[str]:
    """A broker with a journal; its address."""
    command = ("serve", "--data", data, "--mqtt", "127.0.0.1:0", "--console", "off")
    with slipring(*command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = READY.match(process.stdout.readline().decode())
        assert ready, "the broker did not start"
        try:
            yield f"mqtt://{ready[1]}"
        finally:
            process.terminate()


def slipring(*arguments: object, stdout: int | None = None) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "slipring", *map(str, arguments)]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)


async def fly(url: str, flight: Flight, times: int) -> None:
    """Record a flight, a frame for each tenth of a second."""
    step, period_ns = max(1, flight.rate_hz // 10), 1_000_000_000 // flight.rate_hz
    async with connect(url) as bus:
        names = [f"p{number}" for number in range(flight.parameters)]
        plane = await bus.declare("plane", dict.fromkeys(names, Parameter(flight.type)), qos=1)
        for start in range(0, flight.rows * times, step):
            rows = np.arange(start, start + step, dtype=np.int64)
            if flight.characters:
                for one in rows.tolist():
                    text = f"{one:0{flight.characters}}"
                    plane.write(dict.fromkeys(names, text), time_ns=START_NS + one * period_ns)
            else:
                values = rows[:, None] + np.arange(flight.parameters) / 7
                plane.write_rows(values, START_NS + rows * period_ns)
            await plane.flush()


def peak_mib(data: Path, out: Path, options: tuple[str, ...]) -> float:
    """The most memory that an export had."""
    process = slipring("export", data, out, "--parameters", "#", *options)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the export to {out} failed")
    return usage.ru_maxrss / 1024


def measure(flight: Flight, folder: Path) -> Iterator[str]:
    """A line of the table for each form."""
    journals = {times: folder / f"data-{times}" for times in (1, TIMES)}
    for times, data in journals.items():
        with broker(data) as url:
            asyncio.run(fly(url, flight, times))
    for words, (name, *options) in FORMS.items():
        peaks = [peak_mib(data, folder / name, tuple(options)) for data in journals.values()]
        cells = (f"{peak:,.0f} MiB" for peak in peaks)
        line = row((flight.words, words, *cells, f"{peaks[1] / peaks[0]:.2f}"))
        print(line, end="", flush=True)
        yield line


def main() -> None:
    """Measure and record."""
    where, rows = machine(), list[str]()
    for flight in FLIGHTS:
        with tempfile.TemporaryDirectory() as folder:
            rows += measure(flight, Path(folder))
    text = (
        f"{where}; `make bench ARGS=export`. The peak memory (resident set) of the exporting "
        f"process, of a recording and of one {TIMES} times as long.\n\n"
    )
    columns = ("recording", "form", "peak", f"{TIMES} times as long", "ratio")
    record("export", text + head(columns) + "".join(rows))


if __name__ == "__main__":
    main()
