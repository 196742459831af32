"""From `slipring serve` to its ready line: wall time and CPU time. Asserts nothing about either.

`make bench` runs it. It replaces its part of benches/RESULTS.md.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benches.results import machine, record

ROUNDS = 11
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def start(data: Path) -> tuple[float, float]:
    """Start one broker with its console; seconds on the clock, and of the CPU."""
    arguments = ["--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0", "--data", str(data)]
    command = [sys.executable, "-m", "slipring", "serve", *arguments]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - began
        used = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        process.terminate()
    return seconds, (int(used[11]) + int(used[12])) * TICK_S


def main() -> None:
    """Measure and record."""
    with tempfile.TemporaryDirectory() as folder:
        rounds = [start(Path(folder)) for _ in range(ROUNDS)]
    wall_s, cpu_s = (statistics.median(column) for column in zip(*rounds, strict=True))
    slowest_s = max(seconds for seconds, _ in rounds)
    row = f"| {wall_s:.2f} s | {slowest_s:.2f} s | {cpu_s:.2f} s |\n"
    print(row, end="")
    head = "| to the ready line, median | slowest | CPU time, median |\n|---|---|---|\n"
    record("start", f"{machine()}; {ROUNDS} starts, `benches/start.py`.\n\n{head}{row}")


if __name__ == "__main__":
    main()
