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

    from slipring.pipeline.destination import Committed

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
    on_step: Callable[[str], None] = lambda _step: None,
    consumer: str | None = CONSUMER,
    keep_bytes: int | None = None,
) -> None:
    """Stream the journal into the Delta table `<lake>/messages`, each message exactly once.

    Returns when `stop` is set, or with `once` when all that is there now has arrived. `on_batch`
    is called after each commit to the lake, from a thread of its own, and `on_step` is told what
    is being done. A `spark` session given is used and left running; without one the pipeline starts
    its own on `master`, unless `once` finds so little that this process brings it into the lake
    sooner than Spark is started (where `master` is this machine). The journal keeps
    what `consumer` has not brought into the lake; each lake needs a name of its own. The journal
    is a folder, or that of a broker elsewhere. With `keep_bytes` the table has the newest messages
    only: when it is larger, its oldest files are removed.
    """
    require_packages("deltalake")
    from slipring.pipeline.catch_up import MESSAGES_MAX, catch_up
    from slipring.pipeline.destination import Destination

    stop = stop or threading.Event()
    place = journal if isinstance(journal, Broker) else Folder(str(journal.absolute()))
    destination = Destination(place, lake, consumer, keep_bytes)
    start, end = destination.backlog()
    on_step(_told(start, end))
    if once and spark is None and master.startswith("local") and end - start <= MESSAGES_MAX:
        catch_up(
            destination, end, batch_messages_max=batch_messages_max, stop=stop, on_batch=on_batch
        )
        return
    require_packages("pyspark")
    require_java()
    from slipring.pipeline.ingest import Ingest
    from slipring.pipeline.query import Schedule, carry

    where = checkpoint or lake / "_checkpoints" / "messages"
    schedule = Schedule(where, batch_messages_max, None if once else trigger_ms)
    ingest = Ingest(destination, on_batch)
    carry(ingest, schedule, spark=spark or master, stop=stop, on_step=on_step)


def _told(start: int, end: int) -> str:
    if start >= end:
        return f"the lake has everything, up to offset {end:,}"
    return f"{end - start:,} messages are not in the lake yet, from offset {start:,} on"


def require_packages(*names: str) -> None:
    """Raise PipelineError, with the remedy, when Slipring was installed without its Spark half."""
    for name in names:
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
