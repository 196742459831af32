"""`slipring pipeline run`, up to where Spark is needed. Must never import pyspark itself."""

from __future__ import annotations

import importlib.util
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.errors import PipelineError
from slipring.spark.place import Broker, Folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slipring.pipeline.ingest import Committed

# Bounds the work of one micro-batch, and so the memory and the time of a catch-up.
BATCH_MESSAGES_MAX = 4_000_000

# Its name among the journal's consumers.
CONSUMER = "lake"


def run(  # noqa: PLR0913 (every option has its name at the call)
    journal: Path | Broker,
    lake: Path,
    *,
    checkpoint: Path | None = None,
    trigger_ms: int = 500,
    once: bool = False,
    master: str = "local[2]",
    spark: SparkSession | None = None,
    batch_messages_max: int = BATCH_MESSAGES_MAX,
    stop: threading.Event | None = None,
    on_batch: Callable[[Committed], None] | None = None,
    consumer: str | None = CONSUMER,
    keep_bytes: int | None = None,
) -> None:
    """Stream the journal into the Delta table `<lake>/messages`, each message exactly once.

    Returns when `stop` is set, or with `once` when all that is there now has arrived. `on_batch`
    is called after each commit to the lake, from a thread of its own. A `spark` session given is
    used and left running; without one the pipeline starts its own on `master`. The journal keeps
    what `consumer` has not brought into the lake; each lake needs a name of its own. The journal
    is a folder, or that of a broker elsewhere. With `keep_bytes` the table has the newest messages
    only: when it is larger, its oldest files are removed.
    """
    require_packages()
    require_java()
    from slipring.pipeline.query import Schedule, carry

    where = checkpoint or lake / "_checkpoints" / "messages"
    schedule = Schedule(where, batch_messages_max, None if once else trigger_ms)
    stop = stop or threading.Event()
    carry(
        journal if isinstance(journal, Broker) else Folder(str(journal.absolute())),
        lake,
        schedule,
        spark=spark or master,
        stop=stop,
        on_batch=on_batch,
        consumer=consumer,
        keep_bytes=keep_bytes,
    )


def require_packages() -> None:
    """Raise PipelineError, with the remedy, when Slipring was installed without its Spark half."""
    for name in "pyspark", "deltalake":
        if importlib.util.find_spec(name) is None:
            raise PipelineError(
                f"the pipeline needs {name}: install it with pip install 'slipring[spark]'"
            )


def require_java() -> None:
    """Raise PipelineError, with the remedy, when Spark would not find Java."""
    home = os.environ.get("JAVA_HOME")
    if (home and (Path(home) / "bin" / "java").exists()) or (not home and shutil.which("java")):
        return
    where = f"JAVA_HOME is {home}, where there is none" if home else "there is none on the path"
    raise PipelineError(
        f"Spark needs Java 17 or newer, and {where}; install it, on Debian or Ubuntu with: "
        "apt-get install openjdk-17-jre-headless"
    )
