"""Runs the pipeline and kills itself with SIGKILL at a step: `before` or `after` the lake's commit.

Usage: killed_run.py STEP WAY JOURNAL LAKE; the way is `spark` or `alone`.
"""

import os
import signal
import sys
from pathlib import Path

from slipring.pipeline import catch_up, run
from slipring.pipeline.archive_table import ArchiveTable


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    step, way, journal, lake = sys.argv[1:]
    if way == "spark":
        catch_up.BYTES_MAX = 0  # every backlog is then worth starting Spark for
    if step == "before":
        ArchiveTable.commit = die  # type: ignore[method-assign, assignment]
    run(Path(journal), Path(lake), once=True, on_batch=die, batch_messages_max=70)
