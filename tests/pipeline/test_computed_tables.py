"""The jobs rollup, limits, latency and budget over the journal of a real broker (D1, V4)."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slipring import AlarmLimits, Parameter, connect
from slipring.journal.location import JournalFolder
from slipring.lake.status import open_table
from slipring.lake.storage import LakeLocation
from slipring.pipeline.config import parse_pipeline
from slipring.pipeline.pipeline_run import PipelineRun
from tests.pipeline.steps.partials_by_hand import SECOND_NS, START_NS, Measured, rolled_up
from tests.running_broker import RunningBroker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 400
HOPS = ("measured_to_published", "published_to_received", "received_to_lake", "measured_to_lake")
WAVE = np.round(800 + 200 * np.sin(np.arange(ROWS) / 20), 3)


async def fly(url: str) -> None:
    """Publish 10 s of two parameters at 40 Hz, of which one has a limit."""
    limited = Parameter("f64", unit="K", limits=AlarmLimits(high=900.0))
    async with connect(url) as bus:
        engine = await bus.declare("jet/1", {"egt": limited, "rpm": Parameter("f64")}, qos=1)
        times = START_NS + np.arange(ROWS, dtype=np.int64) * (SECOND_NS // 40)
        for start in range(0, ROWS, 50):
            part = slice(start, start + 50)
            engine.write_rows(np.column_stack([WAVE[part], WAVE[part] * 10]), times[part])
            await engine.flush()


def rows_of(lake: Path, name: str) -> list[dict[str, Any]]:
    found = open_table(LakeLocation.of(lake), name).to_pyarrow_table()
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def test_a_flight_is_in_every_table_once(
    tmp_path: Path, broker: RunningBroker, spark: "SparkSession"
) -> None:
    asyncio.run(fly(broker.url))
    broker.stop()
    lake = tmp_path / "lake"
    config = parse_pipeline(
        {"budget": {"vehicle": "jet/{vehicle}/#"}, "rollup": {"late": "36500d"}}
    )
    run = PipelineRun(
        JournalFolder(str(broker.data / "journal")),
        LakeLocation.of(lake),
        config,
        state=tmp_path / "state",
        once=True,
        consumer=None,
    )
    run.run(["archive"], spark)
    for _ in range(2):  # the second run has nothing to do
        run.run(["rollup", "limits", "latency", "budget"], spark)

    samples = [Measured(0, n * (SECOND_NS // 40), float(value)) for n, value in enumerate(WAVE)]
    truth = rolled_up(samples, SECOND_NS)
    egt = [row for row in rows_of(lake, "rollup_1s") if row["parameter"] == "jet/1/egt"]
    assert len(egt) == len(truth)
    for row in egt:
        expected = truth[0, row["window_ns"]]
        for name in ("count", "min", "max", "first", "last", "weighted_ns"):
            assert row[name] == expected[name], name
        assert abs(row["time_weighted_mean"] - expected["time_weighted_mean"]) < 1e-6
    assert sum(row["count"] for row in rows_of(lake, "rollup_1h")) == 2 * ROWS

    crossings = np.flatnonzero(np.diff((WAVE > 900).astype(int))) + 1
    events = sorted(rows_of(lake, "events"), key=lambda row: int(row["source_ns"]))
    assert [(row["source_ns"] - START_NS) * 40 // SECOND_NS for row in events] == [*crossings]
    assert {row["unit"] for row in events} == {"K"}

    ages: Counter[str] = Counter()
    for row in rows_of(lake, "latency"):
        ages[row["hop"]] += row["count"]
    assert ages == dict.fromkeys(HOPS, 2 * ROWS)
    budget = rows_of(lake, "budget")
    assert {row["vehicle"] for row in budget} == {"1"}
    assert sum(row["bytes"] for row in budget) > 2 * ROWS * 8
