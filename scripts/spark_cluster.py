"""Start a Spark cluster on this machine: a master, and workers as processes of their own.

It prints `spark cluster ready` with the address of the master and the process ids of the workers,
and ends them all when it is ended (Ctrl-C, SIGTERM). For tests and for trying things: a cluster of
many machines starts the same Java classes on each of them.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from pyspark.find_spark_home import _find_spark_home

HOST = "127.0.0.1"
DEPLOY = "org.apache.spark.deploy"
MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = re.compile(r"Successfully registered with master (\S+)")
# Such a process schedules and starts others; it computes nothing.
JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
PATIENCE_S = 120
END_S = 20
LOOK_S = 0.1


class SparkCluster:
    """The processes of a cluster; their logs and the files of jobs are in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, workers: int, cores: int, memory: str) -> str:
        """Start it; the address of its master, at which all workers have registered."""
        self._start("master", "master.Master", "--port", "0", "--webui-port", "0")
        master = self._said("master", MASTER)
        names = [f"worker-{number}" for number in range(workers)]
        for name in names:
            sizes = ("--cores", str(cores), "--memory", memory, "--webui-port", "0")
            work = ("--work-dir", str(self.folder / name))
            self._start(name, "worker.Worker", *sizes, *work, master)
        for name in names:
            self._said(name, REGISTERED)
        return master

    def stop(self) -> None:
        """End all processes: the workers first, which end what they run for jobs."""
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(END_S)

    def _start(self, name: str, java_class: str, *arguments: str) -> None:
        home = _find_spark_home()
        command = [f"{home}/bin/spark-class", f"{DEPLOY}.{java_class}", "--host", HOST, *arguments]
        environment = {
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JAVA,
            "SPARK_LAUNCHER_OPTS": JAVA,
            **os.environ,
            "SPARK_HOME": home,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_NO_DAEMONIZE": "1",
        }
        with self._log(name).open("wb") as log:
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            )

    def _said(self, name: str, words: re.Pattern[str]) -> str:
        """What a process says of itself in its log, as soon as it does."""
        process, deadline = self.processes[-1], time.monotonic() + PATIENCE_S
        while (found := words.search(text := self._log(name).read_text(errors="replace"))) is None:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"the {name} of Spark did not start: {text[-3000:]}")
            time.sleep(LOOK_S)
        return found[1]

    def _log(self, name: str) -> Path:
        return self.folder / f"{name}.log"


def main() -> None:
    """Start a cluster, and end it with this process."""
    options = _options()
    cluster: SparkCluster | None = None
    with tempfile.TemporaryDirectory(prefix="spark-cluster-", ignore_cleanup_errors=True) as folder:
        cluster = SparkCluster(Path(folder))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _end)
        try:
            master = cluster.start(options.workers, options.cores, options.memory)
            pids = ",".join(str(process.pid) for process in cluster.processes[1:])
            print(f"spark cluster ready master={master} workers={pids} logs={folder}", flush=True)
            cluster.processes[0].wait()
        finally:
            cluster.stop()


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add: Callable[..., object] = parser.add_argument
    add("--workers", type=int, default=2, help="how many workers (2)")
    add("--cores", type=int, default=1, help="cores of each worker (1)")
    add("--memory", default="1g", help="memory of each worker, for its executors (1g)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
