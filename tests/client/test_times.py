"""Source times from clocks, arrays and pandas; and times in another unit."""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import slipring

SECONDS = ["2026-01-02T03:04:05", "2026-01-02T03:04:06"]
SECONDS_NS = [1_767_323_045_000_000_000, 1_767_323_046_000_000_000]


@pytest.mark.parametrize(
    "times",
    [
        SECONDS_NS,
        np.array(SECONDS, "datetime64[s]"),
        np.array(SECONDS, "datetime64[us]"),
        pd.DatetimeIndex(SECONDS),
        pd.DatetimeIndex(SECONDS).as_unit("ms"),
        pd.DatetimeIndex(SECONDS, tz="UTC").tz_convert("Europe/Stockholm").as_unit("us"),
        pd.Series(pd.DatetimeIndex(SECONDS, tz="UTC")),
    ],
)
async def test_times_of_rows_may_be_dates_in_any_unit(table_url: str, times: Any) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("times/rows", {"a": "f64"})
        async with bus.select("times/rows/#", beat_ms=0) as frames:
            declared.write_rows([[1.0], [2.0]], times)
            found = list[int]()
            while len(found) < len(SECONDS_NS):  # the value before comes first
                found = (await anext(frames)).samples("times/rows/a").times.tolist()
    assert found == SECONDS_NS


@pytest.mark.parametrize(
    "write",
    [
        lambda one: one.write({"a": 1.0}, time_ns=time.time()),
        lambda one: one.write({"a": 1.0}, time_ns=datetime.now(UTC)),
        lambda one: one.write({"a": 1.0}, time_ns=np.datetime64("2026-01-02", "s")),
        lambda one: one.write_row([1.0], time_ns=1.5),
        lambda one: one.write_rows([[1.0]], [time.time()]),
        lambda one: one.write_rows([[1.0]], [datetime.now(UTC)]),
        lambda one: one.write_rows([[1.0]], ["2026-01-02"]),
    ],
)
async def test_a_time_that_is_none_is_refused_with_what_to_give(
    table_url: str, write: Callable[[Any], None]
) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("times/none", {"a": "f64"})
        with pytest.raises(TypeError, match=r"nanoseconds since 1970, such as time\.time_ns\(\)"):
            write(declared)


async def test_a_row_without_a_date_is_refused(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("times/nat", {"a": "f64"})
        with pytest.raises(ValueError, match="row 1 has no time"):
            declared.write_rows([[1.0], [2.0]], np.array([SECONDS[0], "NaT"], "datetime64[ns]"))


@pytest.mark.parametrize("per_second", [1, 1_000, 1_000_000])
async def test_times_that_look_like_another_unit_are_one_warning(
    table_url: str, per_second: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "slipring.client")
    given = int(time.time() * per_second)
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("times/unit", {"a": "f64"})
        declared.write({"a": 1.0}, time_ns=time.time_ns())
        declared.write_rows([[1.0]], [time.time_ns()])
        assert caplog.text == ""
        declared.write({"a": 1.0}, time_ns=given)
        declared.write_rows([[1.0]], [given])
    assert caplog.text.count("is it in another unit?") == 1
    assert f"{given} ns" in caplog.text
