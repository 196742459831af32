"""A client that calculates publishes its results as parameters, with the time of what it
read (G12).
"""

import asyncio
import math
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import slipring
from slipring import Parameter, Quality, Reason, Status

EXAMPLE = Path(__file__).parents[2] / "examples" / "derived.py"
ENGINE = "gripen/39-7/engine"
WAIT_S = 60


async def power_of(frames: slipring.Selection) -> slipring.Sample:
    frame = await asyncio.wait_for(anext(frames), WAIT_S)
    return frame[f"{ENGINE}/derived/power"]


async def test_the_example_publishes_a_result_with_the_time_of_its_inputs(table_url: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", str(EXAMPLE), table_url
    )
    try:
        await _check_results(table_url)
    finally:
        process.terminate()
        await process.wait()


async def _check_results(url: str) -> None:
    time_ns = time.time_ns() - 1_000_000_007
    async with slipring.connect(url) as bus, bus.select(f"{ENGINE}/derived/#") as frames:
        engine = await bus.declare(
            ENGINE, {"rpm": Parameter("f64", unit="1/min"), "torque": Parameter("f64", unit="N.m")}
        )
        engine.write({"rpm": 6000.0}, time_ns=time_ns)
        engine.write({"torque": 100.0}, time_ns=time_ns + 5)
        first = await power_of(frames)
        assert first.value == pytest.approx(6000 / 60 * 2 * math.pi * 100 / 1000)
        assert (first.time_ns, first.quality) == (time_ns + 5, Quality())
        failed = Quality(Status.BAD, Reason.SENSOR_FAILED)
        engine.write({"torque": 0.0}, time_ns=time_ns + 9, quality=failed)
        second = await power_of(frames)
    assert second == (0.0, time_ns + 9, Quality(Status.BAD, Reason.BAD_INPUTS), None)


async def test_every_sample_can_be_calculated_at_once_with_its_own_time(table_url: str) -> None:
    name, rows = "computing/raw/volts", 1_000
    times = time.time_ns() + np.arange(rows)
    async with slipring.connect(table_url) as source, slipring.connect(table_url) as bus:
        raw = await source.declare("computing/raw", {"volts": Parameter("f32")})
        derived = await bus.declare("computing/derived", {"squared": Parameter("f64")})
        async with (
            bus.select(name) as inputs,
            source.select("computing/derived/squared") as results,
        ):
            raw.write_rows(np.arange(rows, dtype=np.float32).reshape(rows, 1), times)
            seen: list[slipring.Samples] = []
            while sum(len(one.times) for one in seen) < rows:
                frame = await asyncio.wait_for(anext(inputs), WAIT_S)
                found = frame.samples(name)
                derived.write_rows(found.values.astype(float)[:, None] ** 2, found.times)
                result = await asyncio.wait_for(anext(results), WAIT_S)
                seen.append(result.samples("computing/derived/squared"))
    assert np.concatenate([one.times for one in seen]).tolist() == times.tolist()
    squares = (np.arange(rows, dtype=float) ** 2).tolist()
    assert np.concatenate([one.values for one in seen]).tolist() == squares
