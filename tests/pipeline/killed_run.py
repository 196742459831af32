"""Runs the pipeline and kills itself with SIGKILL at a step: `before` or `after` the lake's commit.

Usage: killed_run.py STEP JOURNAL LAKE
"""

import os
import signal
import sys
from pathlib import Path

from slipring.pipeline import run
from slipring.pipeline.table import MessageTable


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    step, journal, lake = sys.argv[1:]
    if step == "before":
        MessageTable.commit = die  # type: ignore[method-assign, assignment]
    run(Path(journal), Path(lake), once=True, on_batch=die, batch_messages_max=70)
