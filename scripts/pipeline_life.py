"""Measures how long `slipring pipeline run` takes to start and to stop, and what memory it takes.

A broker continues a copy of a journal (`--journal`), which is the backlog, and a client publishes
50,000 samples per second meanwhile. Each measurement prints a table for docs/pipeline.md.
"""

import argparse
import asyncio
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import slipring

JOBS = ("archive", "rollup", "derive", "limits", "latency", "budget")
PARAMETERS = 1_000
RATE_HZ = 50
LOOK_S = 0.2
END_S = 300
CONFIG = """\
[pipeline.derive."life/sum"]
expression = "`life/0` + `life/1`"
every = "100ms"

[[pipeline.limits.rule]]
filter = "life/+"
high = 900.0
"""
KINDS = {"java": "Java", "pyspark.daemon": "Python workers", "slipring": "driver"}


class LiveBroker:
    """A broker with a backlog, and a client that publishes to it."""

    def __init__(self, folder: Path, journal: Path | None) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.data.mkdir()
        (folder / "pipeline.toml").write_text(CONFIG)
        if journal is not None:
            shutil.copytree(journal, self.data / "journal")
            shutil.rmtree(self.data / "journal" / "consumers", ignore_errors=True)
        self._broker = start("serve", "--data", self.data, "--mqtt", "127.0.0.1:0", "--console=off")
        assert self._broker.stdout is not None
        found = re.search(r"mqtt=(\S+)", line := self._broker.stdout.readline())
        assert found, line
        self.url = f"mqtt://{found[1]}"
        self._stop = threading.Event()
        self._client = threading.Thread(target=lambda: asyncio.run(self._publish()))
        self._client.start()

    async def _publish(self) -> None:
        values, random = np.zeros(PARAMETERS), np.random.default_rng(1)
        async with slipring.connect(self.url) as bus:
            declared = await bus.declare("life", {str(one): "f64" for one in range(PARAMETERS)})
            while not self._stop.is_set():
                values += random.normal(0.0, 1.0, PARAMETERS)
                declared.write_row({"f64": values}, time_ns=time.time_ns())
                await asyncio.sleep(1 / RATE_HZ)
            await declared.flush()

    def run(self, lake: str, jobs: tuple[str, ...], *options: str) -> "PipelineProcess":
        """Start the pipeline."""
        where = ("--data", self.data, "--lake", self.folder / lake, "--bus", self.url)
        consumer = ("--consumer", lake, "--config", self.folder / "pipeline.toml")
        return PipelineProcess(start("pipeline", "run", *jobs, *where, *consumer, *options))

    def close(self) -> None:
        self._stop.set()
        self._client.join()
        self._broker.terminate()
        self._broker.wait(END_S)


class PipelineProcess:
    """A run of the pipeline, and when it said what."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.began_s = time.monotonic()
        self.said: list[tuple[float, str]] = []
        self.peak: dict[str, int] = defaultdict(int)
        """The most proportional resident bytes, by kind of process and in all."""
        self.cpu_s = 0.0
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append((time.monotonic() - self.began_s, line.strip()))

    def wait_for(self, pattern: str) -> float:
        """When it first said this, in seconds after the start."""
        while True:
            for at_s, line in self.said:
                if re.search(pattern, line):
                    return at_s
            assert self.process.poll() is None, self.said[-5:]
            time.sleep(0.02)

    def stop(self) -> float:
        """How long it takes to end after SIGTERM, with all its processes."""
        family = [*family_of(self.process.pid)]
        began_s = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(END_S)
        ended_s = time.monotonic() - began_s
        assert self.process.returncode == 0, (self.process.returncode, self.said[-5:])
        while any(Path(f"/proc/{pid}/cmdline").exists() for pid in family):
            time.sleep(0.02)
        print(f"    ended after {ended_s:.2f} s; {time.monotonic() - began_s:.2f} s its children")
        return ended_s

    def look(self) -> None:
        """Note memory and processor time of all its processes."""
        now: dict[str, int] = defaultdict(int)
        cpu_s = 0.0
        for pid in family_of(self.process.pid):
            with_kind = kind_of(pid)
            try:
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            size = re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)
            now[with_kind] += int(size[1]) * 1024 if size else 0
            cpu_s += (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        now["all"] = sum(now.values())
        self.cpu_s = max(self.cpu_s, cpu_s)
        for kind, size_now in now.items():
            self.peak[kind] = max(self.peak[kind], size_now)


def start(*words: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "slipring", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def family_of(leader: int) -> Iterator[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        children[int(parent)].append(int(path.parent.name))
    found = [leader]
    while found:
        pid = found.pop()
        yield pid
        found += children[pid]


def kind_of(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return "driver"
    return next((kind for word, kind in KINDS.items() if word in words), "driver")


def measure_stop(live: LiveBroker, moments: list[float], jobs: tuple[str, ...]) -> None:
    """SIGTERM at moments after Spark is ready; the same lake goes on each time."""
    print("| SIGTERM after Spark is ready by | ends after |\n|---|---|")
    for moment_s in moments:
        run = live.run("lake", jobs)
        run.wait_for("Spark is ready")
        time.sleep(moment_s)
        print(f"| {moment_s:g} s | {run.stop():.1f} s |", flush=True)


def measure_start(live: LiveBroker, rounds: int, jobs: tuple[str, ...]) -> None:
    """From the start of the command to the first commit of samples."""
    print("| run | Spark is ready | first rows in the lake | processor time till then |")
    print("|---|---|---|---|")
    firsts = []
    for number in range(rounds):
        run = live.run(f"lake-{number}", jobs)
        first_s = run.wait_for("samples.* into the lake")
        run.look()
        ready_s = run.wait_for("Spark is ready")
        firsts.append(first_s)
        print(f"| {number} | {ready_s:.1f} s | {first_s:.1f} s | {run.cpu_s:.1f} s |", flush=True)
        run.stop()
    print(f"median of the first row: {statistics.median(firsts):.1f} s")


def measure_memory(live: LiveBroker, seconds: float, jobs: tuple[str, ...]) -> None:
    """The peak of each kind of process while a backlog is carried, and then for so long."""
    run = live.run("lake", jobs)
    began_s, told_s = time.monotonic(), 0.0
    while (now_s := time.monotonic() - began_s) < seconds:
        run.look()
        if now_s - told_s > seconds / 10:
            told_s = now_s
            print(f"    {now_s:.0f} s: {dict(run.peak)} {run.said[-1][1]}", flush=True)
        time.sleep(LOOK_S)
    print("| processes | peak |\n|---|---|")
    for kind, size in run.peak.items():
        print(f"| {kind} | {size / 1e6:,.0f} MB |")
    run.stop()


@contextmanager
def live_broker(journal: Path | None) -> Iterator[LiveBroker]:
    with tempfile.TemporaryDirectory() as folder:
        live = LiveBroker(Path(folder), journal)
        try:
            yield live
        finally:
            live.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["start", "stop", "memory"])
    parser.add_argument("--journal", type=Path, help="a journal's folder; it is copied")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--moments", default="0,1,2,4,8,16", help="seconds, for stop")
    parser.add_argument("--rounds", type=int, default=5, help="for start")
    parser.add_argument("--seconds", type=float, default=90, help="for memory")
    given = parser.parse_args()
    jobs = tuple(given.jobs.split(","))
    with live_broker(given.journal) as live:
        if given.what == "stop":
            measure_stop(live, [float(one) for one in given.moments.split(",")], jobs)
        elif given.what == "start":
            measure_start(live, given.rounds, jobs)
        else:
            measure_memory(live, given.seconds, jobs)


if __name__ == "__main__":
    main()
