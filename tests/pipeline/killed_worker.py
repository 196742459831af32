"""Runs the archive on a cluster, and kills a worker of it while the second batch is computed.

Usage: killed_worker.py BROKER LAKE MASTER PID. User, password and keys are in the environment.
"""

import os
import signal
import sys
import threading

from pyspark import SparkContext

from slipring.journal.location import JournalBroker
from slipring.lake.storage import LakeLocation
from slipring.pipeline import run
from slipring.pipeline.destination import LakeCommit

BATCH_MESSAGES = 1_000
LOOK_S = 0.005


class WorkerDeath:
    """Ends a worker once, as soon as Spark has tasks to run after a commit: one for each worker."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.commits = 0
        self.happened = threading.Event()
        self._thread: threading.Thread | None = None

    def on_batch(self, batch: LakeCommit) -> None:
        self.commits += 1
        if self._thread is None:
            self._thread = threading.Thread(target=self._kill, daemon=True)
            self._thread.start()

    def _kill(self) -> None:
        context = SparkContext._active_spark_context
        assert context is not None
        tracker = context.statusTracker()
        while not tracker.getActiveStageIds():
            self.happened.wait(LOOK_S)
        os.kill(self.pid, signal.SIGKILL)
        self.happened.set()


if __name__ == "__main__":
    broker, lake, master, pid = sys.argv[1:]
    death = WorkerDeath(int(pid))
    run(
        JournalBroker.from_options(broker, {}),
        LakeLocation.of(lake),
        once=True,
        master=master,
        batch_messages_max=BATCH_MESSAGES,
        on_batch=death.on_batch,
    )
    assert death.happened.is_set(), "the run ended before a worker was killed"
    assert death.commits > 2, f"the run had {death.commits} batches only"
