"""The programs in examples/ do what they say."""

import asyncio
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType

import slipring
from slipring import Parameter, Quality, Reason, Status
from tests.client.table_broker import TableBroker

EXAMPLES = Path(__file__).parents[2] / "examples"
F64 = Parameter("f64", unit="1/min")
WAIT_S = 60


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_a_history_has_a_column_for_each_parameter(table_url: str) -> None:
    names = ["history/engine/rpm", "history/engine/oil"]
    async with slipring.connect(table_url) as bus:
        engine = await bus.declare("history/engine", {"rpm": F64, "oil": F64, "other": F64})
        engine.write({"rpm": 1.0, "oil": 2.0, "other": 3.0}, time_ns=5)
        await engine.flush()
        # What is there comes at once, but a busy machine may need longer for that.
        async with asyncio.timeout(WAIT_S):
            while (found := await example("history").history(table_url, 0.5, names)).empty:
                pass
    assert sorted(found.columns) == sorted(names)
    assert found["history/engine/rpm"].tolist() == [1.0]
    assert found.index[0].value == 5


async def test_samples_are_forwarded_with_their_time_and_quality(
    table_url: str, broker_of_its_own: TableBroker
) -> None:
    name, failed = "forward/engine/rpm", Quality(Status.BAD, Reason.SENSOR_FAILED)
    time_ns = time.time_ns() - 1_000_000_007
    async with (
        slipring.connect(table_url) as aircraft,
        slipring.connect(broker_of_its_own.url) as ground,
        ground.select("forward/#") as frames,
    ):
        engine = await aircraft.declare("forward/engine", {"rpm": F64})
        engine.write({"rpm": 12034.5}, time_ns=time_ns, quality=failed)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", str(EXAMPLES / "forward.py")),
            *(table_url, broker_of_its_own.url, "forward/#"),
        )
        try:
            frame = await asyncio.wait_for(anext(frames), WAIT_S)
            assert frame[name] == (12034.5, time_ns, failed, None)
            assert (await ground.table())[name].parameter == F64
        finally:
            process.terminate()
            await process.wait()
