"""How long after it is published a sample is visible in the lake, through the whole product.

A broker, a publisher of 50,000 samples/s and `slipring pipeline run`, as processes of their own.
`make bench` runs it. It replaces its part of benches/RESULTS.md; asserts nothing about time.
A sample is visible when the file of its commit is in the table's log, which is when that was made.
"""

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benches.results import machine, record
from slipring import connect
from slipring.journal.frame_rows import read_frames
from slipring.journal.location import Journal, JournalFolder

PARAMETERS, ROWS_S, ROWS_PER_FRAME = 1_000, 50, 2
WARM_S, MEASURED_S = 20.0, 60.0
PATIENCE_S = 120.0


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command of slipring that is stopped with the block."""
    command = [sys.executable, "-m", "slipring", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.terminate()
            started.communicate(timeout=PATIENCE_S)


def has_commits(log: Path) -> bool:
    return any(log.glob("*1.json"))


async def publish(url: str, log: Path) -> tuple[int, int]:
    """Publish for the measured time after the first commit and a while; its begin and end."""
    names = {f"p{number}": "f64" for number in range(PARAMETERS)}
    step_ns = 1_000_000_000 // ROWS_S
    async with connect(url) as bus:
        device = await bus.declare("bench", names)
        begin_ns, number, random = 0, 0, np.random.default_rng(1)
        start_ns = time.time_ns()
        while not begin_ns or time.time_ns() < begin_ns + MEASURED_S * 1e9:
            times = start_ns + step_ns * np.arange(number, number + ROWS_PER_FRAME)
            wait_s = (int(times[-1]) - time.time_ns()) / 1e9
            await asyncio.sleep(max(0.0, wait_s))
            device.write_rows(random.normal(size=(ROWS_PER_FRAME, PARAMETERS)), times)
            await device.flush()
            number += ROWS_PER_FRAME
            if not begin_ns and await asyncio.to_thread(has_commits, log):
                begin_ns = time.time_ns() + int(WARM_S * 1e9)
        return begin_ns, time.time_ns()


def visible_ns(log: Path, end: int) -> NDArray[np.int64]:
    """When the message of each offset was in the lake first; 0 if it is not.

    Compaction adds files, too, whose rows were there before.
    """
    found = np.zeros(end, np.int64)
    for file in sorted(log.glob("*.json"), reverse=True):
        actions = [json.loads(line) for line in file.read_text().splitlines()]
        for stats in (json.loads(one["add"]["stats"]) for one in actions if "add" in one):
            first, last = stats["minValues"]["offset"], stats["maxValues"]["offset"]
            found[first : last + 1] = file.stat().st_mtime_ns
    return found


def lags_s(data: Path, log: Path, measured: tuple[int, int]) -> NDArray[np.float64]:
    """By the time at which a frame was sent; each has the same number of samples."""
    location = JournalFolder(str(data / "journal"))
    reader = location.open()
    end = reader.end_offset()
    visible, found = visible_ns(log, end), []
    journal = Journal(location, reader.identity)
    for batch in read_frames(journal, 0, end, ("offset", "sent_ns")):
        offset, sent = (column.to_numpy() for column in batch.columns)
        chosen = (sent >= measured[0]) & (sent < measured[1]) & (visible[offset] > 0)
        found.append((visible[offset] - sent)[chosen] / 1e9)
    return np.concatenate(found)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        data, lake = Path(scratch, "data"), Path(scratch, "lake")
        log = lake / "samples" / "_delta_log"
        where = ("--data", str(data))
        with process("serve", *where, "--mqtt", "127.0.0.1:0", "--console", "off") as broker:
            assert broker.stdout is not None
            ready = re.search(r"mqtt=(\S+)", broker.stdout.readline())
            assert ready, "the broker does not start"
            with process("pipeline", "run", "archive", *where, "--lake", str(lake)):
                measured = asyncio.run(publish(f"mqtt://{ready[1]}", log))
        lags = lags_s(data, log, measured)
    p50, p95, p99 = np.percentile(lags, [50, 95, 99])
    rate = PARAMETERS * ROWS_S
    text = (
        f"{machine()}; `make bench ARGS=lake_lag`: {rate:,} samples/s for {MEASURED_S:.0f} s.\n\n"
        "| publish to visible in the lake | s | to reach |\n|---|---|---|\n"
        f"| p50 | {p50:.2f} | 0.5 |\n| p95 | {p95:.2f} | 1.0 |\n| p99 | {p99:.2f} | - |\n"
    )
    print(text, flush=True)
    record("lake_lag", text)


if __name__ == "__main__":
    main()
