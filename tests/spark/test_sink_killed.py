"""Spark's own processes are killed while they write to the bus; each row is there once (D1)."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException

from slipring.publication.publisher import BatchPublisher
from slipring.spark.sink import BusStreamWriter
from slipring.spark.sink_options import parse_sink_options
from slipring.spark.source import SlipringDataSource
from tests.publication.batches import messages_in
from tests.running_broker import RunningBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(900)
ROWS = 300
WORKER_STEP = "write"


class KilledWriter(BusStreamWriter):
    """Dies once at a step: the file is there until then."""

    def __init__(self, raw: dict[str, str]) -> None:
        self.file, self.step = Path(raw.pop("file")), raw.pop("step")
        super().__init__(parse_sink_options(raw))

    def die_at(self, step: str) -> None:
        if step == self.step and self.file.exists():
            self.file.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, iterator: Iterator[Any]) -> Any:
        made = super().write(iterator)
        self.die_at(WORKER_STEP)
        return made

    def publish(self, messages: Any, number: int | None, state: Path) -> None:
        made = BatchPublisher.__init__

        def watched(self_: BatchPublisher, target: Any, folder: Path) -> None:
            made(self_, target, folder, self.die_at)

        BatchPublisher.__init__ = watched  # type: ignore[method-assign, assignment]
        try:
            super().publish(messages, number, state)
        finally:
            BatchPublisher.__init__ = made  # type: ignore[method-assign]


class KilledDataSource(SlipringDataSource):
    """The sink with a writer that dies."""

    @classmethod
    def name(cls) -> str:
        return "killed"

    def streamWriter(self, schema: Any, overwrite: bool) -> KilledWriter:  # noqa: N802 (Spark's)
        return KilledWriter(dict(self.options))


def test_a_killed_worker_or_driver_process_repeats_nothing(
    spark: "SparkSession", broker: RunningBroker, tmp_path: Path
) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    spark.dataSource.register(KilledDataSource)
    steps = (WORKER_STEP, "logged", "sent", "acknowledged", "finished")
    failures = 0
    for number, step in enumerate(steps):
        begin = number * ROWS
        rows = spark.range(begin, begin + ROWS, 1, 2).selectExpr(
            "'out' as topic", "cast(id as string) as payload"
        )
        rows.write.mode("append").parquet(str(tmp_path / "in"))
        file = tmp_path / "alive"
        file.touch()
        stream = spark.readStream.schema(rows.schema).parquet(str(tmp_path / "in")).writeStream
        stream.format("killed").option("broker", broker.url).option("deliver", "messages")
        stream.option("file", str(file)).option("step", step)
        stream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        while True:
            try:
                stream.start().awaitTermination()
            except StreamingQueryException:
                failures += 1
            else:
                break
        assert not file.exists()
    broker.stop()
    assert failures == len(steps)
    expected = {str(row).encode(): 1 for row in range(ROWS * len(steps))}
    assert messages_in(broker.data, "out") == expected
