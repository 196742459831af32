"""Spark's streaming query of the pipeline: starts, watches and stops it. Reads no message."""

import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from slipring import errors
from slipring.errors import PipelineError, SlipringError
from slipring.pipeline.ingest import Ingest

STOP_POLL_S = 0.1
# Spark gives its Python process ten seconds to start, which a busy machine may exceed.
START_ATTEMPTS = 6
SLOW_START = "Python worker failed to connect back"


@dataclass(frozen=True)
class QuerySchedule:
    """How much a micro-batch takes, and when. Without an interval: all that is there now, once."""

    checkpoint: Path
    batch_messages_max: int
    interval_ms: int | None

    def of(self, ingest: Ingest, spark: SparkSession) -> DataStreamWriter:
        ranges = ingest.ranges(spark, self.batch_messages_max)
        stream = ranges.writeStream.foreachBatch(ingest.write).option(
            "checkpointLocation", str(self.checkpoint.absolute())
        )
        if self.interval_ms is None:
            return stream.trigger(availableNow=True)
        return stream.trigger(processingTime=f"{self.interval_ms} milliseconds")


def carry(
    ingest: Ingest,
    schedule: QuerySchedule,
    *,
    session: AbstractContextManager[SparkSession],
    stop: threading.Event,
    on_step: Callable[[str], None],
) -> None:
    """Carry the journal into the lake, in a session."""
    with session as spark:
        on_step("reading the journal through Spark")
        follow(schedule.of(ingest, spark), stop, ingest)


def follow(stream: DataStreamWriter, stop: threading.Event, ingest: Ingest) -> None:
    """Run the query; try again after a slow start. That is safe: each batch is committed once."""
    for attempts_left in reversed(range(START_ATTEMPTS)):
        try:
            _wait(stream.start(), stop, ingest)
        except (PySparkException, Py4JError) as failure:
            if SLOW_START not in str(failure) or attempts_left == 0:
                raise explained(failure) from failure
            ingest.failure = None
        else:
            return


def explained(failure: Exception) -> SlipringError:
    """The Slipring error that Spark reports from one of its Python processes."""
    ours = re.findall(r"^slipring\.errors\.(\w+): (.+)$", str(failure), re.MULTILINE)
    if not ours:
        return PipelineError(f"the stream into the lake ended: {failure}")
    name, message = ours[-1]
    kind: type[SlipringError] = getattr(errors, name)
    try:
        return kind(message)
    except TypeError:  # one that needs more than its message
        return PipelineError(message)


def _wait(query: StreamingQuery, stop: threading.Event, ingest: Ingest) -> None:
    while query.isActive and not stop.wait(STOP_POLL_S):
        pass
    if (failure := query.exception()) is not None:
        raise ingest.failure or failure
    ingest.finish()
    query.stop()
    if ingest.failure is not None:
        raise ingest.failure
