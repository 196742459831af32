"""Publishes numbered batches again and again, in processes that die by SIGKILL at a step.

Usage: killed_publish.py URL FOLDER KIND STEP:COUNT...; each process but the last dies when it
comes to its step for the COUNTth time. The first one has a batch to publish, and each later one has
one more. With `STEP:COUNT:broker` it
kills the broker instead, whose process is in the file FOLDER.pid, and goes on. This program itself
is never connected, so that it can fork.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from slipring.journal.location import JournalBroker
from slipring.publication import publisher, sample_frames
from slipring.publication.publisher import BatchPublisher, PublicationTarget, Step
from tests.publication.batches import rows_of

publisher.SEND_MESSAGES = 16
sample_frames.FRAME_SAMPLES_MAX = 50


def killing_at(step: str, count: int, victim: Callable[[], int]) -> Step:
    """Kills a process when this one comes to the step for the COUNTth time."""
    seen = 0

    def on_step(name: str) -> None:
        nonlocal seen
        seen += name == step
        if name == step and seen == count:
            os.kill(victim(), signal.SIGKILL)

    return on_step


def publish_all(url: str, folder: str, kind: str, batches: int, on_step: Step) -> None:
    target = PublicationTarget(JournalBroker(url), "test", kind)  # type: ignore[arg-type]
    made = BatchPublisher(target, Path(folder), on_step)
    for number in range(batches):
        # As after a crash of Spark: the query begins with its first batch again.
        made.publish(number, lambda number=number: rows_of(kind, number))  # type: ignore[misc]
    made.close()


if __name__ == "__main__":
    url, folder, kind, *kills = sys.argv[1:]
    for batches, kill in enumerate([*kills, "none:0"], start=1):
        step, count, *whom = kill.split(":")
        victim = (lambda: int(Path(f"{folder}.pid").read_text())) if whom else os.getpid
        child = os.fork()
        if child == 0:
            publish_all(url, folder, kind, batches, killing_at(step, int(count), victim))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        died = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        told = "killed" if died else str(os.waitstatus_to_exitcode(status))
        sys.stdout.write(f"{kill} {told}\n")
        sys.stdout.flush()
