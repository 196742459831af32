"""`slipring pipeline run`, up to the start of Spark. Must never import pyspark itself."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.errors import PipelineError
from slipring.journal.location import JournalFolder, JournalLocation, has_consumers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from slipring.lake.storage import LakeLocation
    from slipring.pipeline.destination import Destination, LakeCommit

# Bounds a micro-batch, and so the memory and the time of a catch-up.
BATCH_MESSAGES_MAX = 4_000_000

# The pipeline's name among the journal's consumers.
CONSUMER = "lake"

CHECKPOINT = "slipring-checkpoint-"
"""How the name of a checkpoint begins that is gone with the run."""


def run(  # noqa: PLR0913 (every option has its name at the call)
    journal: Path | JournalLocation,
    lake: Path | LakeLocation,
    *,
    checkpoint: Path | None = None,
    trigger_ms: int = 500,
    once: bool = False,
    master: str = "local[2]",
    conf: Mapping[str, str] | None = None,
    spark: SparkSession | None = None,
    batch_messages_max: int = BATCH_MESSAGES_MAX,
    stop: threading.Event | None = None,
    on_batch: Callable[[LakeCommit], None] = lambda _commit: None,
    on_step: Callable[[str], None] = lambda _step: None,
    consumer: str | None = CONSUMER,
    keep_bytes: int | None = None,
    tables: Sequence[str] = ("samples", "frames", "messages"),
) -> None:
    """Stream the journal into Delta tables of the lake, each sample and message exactly once.

    The journal is a folder, that of a broker elsewhere, or an archive with or without its broker.
    The run ends when `stop` is set, or with `once` when all messages that are there now have
    arrived. `on_batch` is called after each commit to the lake, from another thread; `on_step` is
    called with what is being done.

    A `spark` session is used and left running; without one the pipeline starts its own on `master`,
    with the settings of `conf`. It needs none with `once` and a short backlog, if `master` is this
    machine: this process then writes the messages itself, sooner than Spark would have started.

    The journal keeps the messages that `consumer` has not read; each lake needs a name of its own.
    With `keep_bytes` the tables have the newest rows only: beyond it the oldest files go.
    """
    require_packages("deltalake")
    from slipring.pipeline.catch_up import BYTES_MAX, catch_up
    from slipring.pipeline.destination import Destination

    stop = stop or threading.Event()
    location = JournalFolder(str(journal.absolute())) if isinstance(journal, Path) else journal
    noted = consumer if has_consumers(location) else None
    destination = Destination(location, lake, noted, keep_bytes, tables)
    start, end = destination.backlog()
    on_step(_backlog_words(start, end))
    is_short = destination.bytes(start, end) <= BYTES_MAX
    if once and spark is None and master.startswith("local") and is_short:
        catch_up(
            destination, end, batch_messages_max=batch_messages_max, stop=stop, on_batch=on_batch
        )
        return
    require_packages("pyspark")
    require_java()
    from slipring.pipeline.ingest import Ingest
    from slipring.pipeline.query import QuerySchedule, carry
    from slipring.pipeline.session import QUICK_JAVA, own_session

    ingest = Ingest(destination, on_batch)
    session = nullcontext(spark) if spark else own_session(master, on_step, conf, QUICK_JAVA)
    with nullcontext(checkpoint) if checkpoint else _checkpoint(destination) as where:
        schedule = QuerySchedule(where, batch_messages_max, None if once else trigger_ms)
        carry(ingest, schedule, session=session, stop=stop, on_step=on_step)


@contextmanager
def _checkpoint(destination: Destination) -> Iterator[Path]:
    """Where Spark notes its progress: in a local lake, or in a folder that is gone with the run.

    The tables know how far they are, so that a lost checkpoint does no harm.
    """
    if destination.lake.is_local:
        yield destination.lake.path / "_checkpoints" / "archive" / destination.journal.identity
        return
    # Spark may still write there when a run is interrupted.
    with tempfile.TemporaryDirectory(prefix=CHECKPOINT, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _backlog_words(start: int, end: int) -> str:
    if start >= end:
        return f"the lake has everything, up to offset {end:,}"
    return f"{end - start:,} messages are not in the lake yet, from offset {start:,} on"


def require_packages(*names: str) -> None:
    """Raise PipelineError, with the remedy, if a package of the `spark` extra is missing."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise PipelineError(
                f"the pipeline needs {name}: install it with pip install 'slipring[spark]'"
            )


def require_java() -> None:
    """Raise PipelineError, with the remedy, if Spark would not find Java."""
    home = os.environ.get("JAVA_HOME")
    if (home and (Path(home) / "bin" / "java").exists()) or (not home and shutil.which("java")):
        return
    where = f"JAVA_HOME is {home}, where there is none" if home else "there is none on the path"
    raise PipelineError(
        f"Spark needs Java 17 or newer, and {where}; install it, on Debian or Ubuntu with: "
        "apt-get install openjdk-17-jre-headless"
    )
