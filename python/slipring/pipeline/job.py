"""`slipring pipeline run`: starts the query, waits, stops it. Loads pyspark only when it runs."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from slipring import errors
from slipring.errors import PipelineError, SlipringError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from slipring.pipeline.ingest import Committed, Ingest

# Bounds the work of one micro-batch, and so the memory and the time of a catch-up.
BATCH_MESSAGES_MAX = 4_000_000
STOP_POLL_S = 0.1
# Spark gives its Python process ten seconds to start, which a busy machine may not keep.
START_ATTEMPTS = 3
SLOW_START = "Python worker failed to connect back"


def run(
    journal: Path,
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
) -> None:
    """Stream the journal into the Delta table `<lake>/messages`, each message exactly once.

    Returns when `stop` is set, or with `once` when all that is there now has arrived. `on_batch`
    is called after each commit to the lake, from a thread of its own. A `spark` session given is
    used and left running; without one the pipeline starts its own on `master`.
    """
    _require_spark()
    from slipring.pipeline.ingest import Ingest
    from slipring.pipeline.session import own_session

    ingest = Ingest(journal, lake, on_batch)
    where = checkpoint or lake / "_checkpoints" / "messages"
    trigger = {"availableNow": True} if once else {"processingTime": f"{trigger_ms} milliseconds"}
    with nullcontext(spark) if spark else own_session(master) as session:
        stream = (
            ingest.ranges(session, batch_messages_max)
            .writeStream.foreachBatch(ingest.write)
            .option("checkpointLocation", str(where.absolute()))
            .trigger(**trigger)
        )
        _follow(stream, stop or threading.Event(), ingest)


def _follow(stream: DataStreamWriter, stop: threading.Event, ingest: Ingest) -> None:
    """Run the query; a slow start is tried again, which is safe where nothing happens twice."""
    from pyspark.errors import StreamingQueryException

    for attempts_left in reversed(range(START_ATTEMPTS)):
        try:
            return _wait(stream.start(), stop, ingest)
        except StreamingQueryException as failure:
            if SLOW_START not in str(failure) or attempts_left == 0:
                raise explained(failure) from failure


def _wait(query: StreamingQuery, stop: threading.Event, ingest: Ingest) -> None:
    while query.isActive and not stop.wait(STOP_POLL_S):
        pass
    if (failure := query.exception()) is not None:
        raise ingest.failure or failure
    ingest.finish()
    query.stop()
    if ingest.failure is not None:
        raise ingest.failure


def explained(failure: Exception) -> SlipringError:
    """Our own error out of Spark's account of what happened in its Python processes."""
    ours = re.findall(r"^slipring\.errors\.(\w+): (.+)$", str(failure), re.MULTILINE)
    if not ours:
        return PipelineError(f"the stream into the lake ended: {failure}")
    name, message = ours[-1]
    kind: type[SlipringError] = getattr(errors, name)
    return kind(message)


def _require_spark() -> None:
    try:
        import deltalake  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise PipelineError(
            f"the pipeline needs {error.name}: install it with pip install 'slipring[spark]'"
        ) from error
    from slipring.pipeline.session import require_java

    require_java()
