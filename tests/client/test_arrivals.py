"""A client reports how regularly data arrive at its selections (P's table 6)."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import slipring
from slipring import Parameter, sync
from slipring.client.arrivals import ArrivalCounter
from slipring.model.arrival_report import ARRIVALS_TOPIC, ArrivalTotals, parse_report

WAIT_S = 60
MS = 1_000_000
LONG_S = 3_600
"""So long that only closing the bus reports."""


class _KnownSource:
    def ns(self) -> int:
        return 20 * MS


def counter() -> ArrivalCounter:
    return ArrivalCounter("jet/#", 100 * MS, _KnownSource())  # type: ignore[arg-type]


def test_intervals_are_summed_up_against_the_wish() -> None:
    count, at = counter(), 0
    for number, step_ms in enumerate([0, 100, 101, 104, 106, 100]):
        at += step_ms * MS
        count.note(number, at)
    assert count.take() == ArrivalTotals("jet/#", 100 * MS, 5, 511 * MS, 106 * MS, 3, 4, 20 * MS)


def test_an_interval_across_two_reports_counts_in_the_second() -> None:
    count = counter()
    count.note(1, 0)
    assert count.take().arrivals == 0
    count.note(2, 100 * MS)
    assert (found := count.take()).arrivals == 1
    assert found.sum_ns == 100 * MS


def test_frames_that_were_sent_together_are_one_arrival() -> None:
    count = counter()
    for sent_ns, arrived_ms in (1, 0), (1, 3), (1, 4), (2, 100), (2, 103):
        count.note(sent_ns, arrived_ms * MS)
    assert (found := count.take()).arrivals == 1
    assert found.sum_ns == 100 * MS


def test_an_arrival_before_the_last_one_is_no_negative_interval() -> None:
    count = counter()
    count.note(1, 100)
    count.note(2, 50)
    assert count.take().sum_ns == 0


@asynccontextmanager
async def published(url: str, prefix: str, **definition: Any) -> AsyncIterator[None]:
    """A parameter that has a new sample 50 times a second."""
    async with slipring.connect(url) as bus:
        declared = await bus.declare(prefix, {"a": Parameter("f64", **definition)}, beat_ms=0)

        async def write() -> None:
            while True:
                declared.write({"a": time.time()})
                await asyncio.sleep(0.02)

        writing = asyncio.create_task(write())
        try:
            yield
        finally:
            writing.cancel()


async def next_report(messages: slipring.Subscription) -> list[ArrivalTotals]:
    message = await asyncio.wait_for(anext(messages), WAIT_S)
    assert message.content_type == "application/json"
    return parse_report(message.payload)


async def some_arrivals(frames: slipring.Selection, count: int) -> list[int]:
    """When this many sendings arrived, by the wall clock."""
    seen = dict[int, int]()
    while len(seen) < count:
        frame = await asyncio.wait_for(anext(frames), WAIT_S)
        if frame.header.published is not None:
            seen.setdefault(frame.sent_ns, frame.arrival.arrived_ns)
    return list(seen.values())


async def test_the_report_says_what_the_reader_saw(table_url: str) -> None:
    async with (
        published(table_url, "arrivals/one", rate_hz=50),
        slipring.connect(table_url) as other,
        other.subscribe(ARRIVALS_TOPIC) as messages,
    ):
        async with (
            slipring.connect(table_url, report_arrivals_s=LONG_S) as bus,
            bus.select("arrivals/one/#", rate_hz=10) as frames,
        ):
            times = await some_arrivals(frames, 8)
        (found,) = await next_report(messages)
    steps = [end - start for start, end in itertools.pairwise(times)]
    assert (found.subscription, found.wish_ns) == ("arrivals/one/#", 100 * MS)
    assert (found.arrivals, found.source_ns) == (7, 20 * MS)
    assert found.sum_ns == pytest.approx(sum(steps), abs=20 * MS)
    assert found.max_ns == pytest.approx(max(steps), abs=20 * MS)


async def test_reports_come_again_and_again_and_add_up(table_url: str) -> None:
    async with (
        published(table_url, "arrivals/again"),
        slipring.connect(table_url) as other,
        other.subscribe(ARRIVALS_TOPIC) as messages,
    ):
        async with (
            slipring.connect(table_url, report_arrivals_s=0.05) as bus,
            bus.select(names=["arrivals/again/a"], rate_hz=50) as frames,
        ):
            await some_arrivals(frames, 21)
        found = list[ArrivalTotals]()
        while sum(one.arrivals for one in found) < 20:
            found += await next_report(messages)
    assert sum(one.arrivals for one in found) == 20
    assert len(found) > 1
    assert {one.subscription for one in found} == {"arrivals/again/a"}
    assert {one.source_ns for one in found} == {None}, "its definition has no rate"


async def test_a_selection_that_gets_nothing_is_reported_as_silent(table_url: str) -> None:
    async with slipring.connect(table_url) as other, other.subscribe(ARRIVALS_TOPIC) as messages:
        async with (
            slipring.connect(table_url, report_arrivals_s=LONG_S) as bus,
            bus.select("arrivals/nobody/#", rate_hz=5),
        ):
            pass
        assert await next_report(messages) == [ArrivalTotals("arrivals/nobody/#", 200 * MS)]


async def test_only_selections_with_a_wish_are_reported(
    table_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a rate there is no wish; with a dead-band silence is what was asked for."""
    async with slipring.connect(table_url) as other, other.subscribe(ARRIVALS_TOPIC) as messages:
        async with (
            slipring.connect(table_url, report_arrivals_s=LONG_S) as bus,
            slipring.connect(table_url) as silent,
            bus.select("arrivals/x/#"),
            bus.select("arrivals/x/#", rate_hz=5, change=True),
            bus.select("arrivals/x/#", rate_hz=5, deadband=1),
            bus.select("arrivals/x/#", "arrivals/y/#", rate_hz=5),
            silent.select("arrivals/off/#", rate_hz=5),
            bus.select("arrivals/z/#", rate_hz=5),
        ):
            pass
        assert [one.subscription for one in await next_report(messages)] == ["arrivals/z/#"]
    assert "arrivals of arrivals/x/#, arrivals/y/# are not reported" in caplog.text


def test_programs_without_asyncio_report_too(table_url: str) -> None:
    with sync.connect(table_url) as other, other.subscribe(ARRIVALS_TOPIC) as messages:
        with (
            sync.connect(table_url, report_arrivals_s=LONG_S) as bus,
            bus.select("arrivals/sync/#", rate_hz=5),
        ):
            pass
        assert json.loads(next(messages).payload)["subscriptions"][0]["wish_ns"] == 200 * MS


@pytest.mark.parametrize("every_s", [0, -1, float("nan")])
def test_reports_need_some_seconds_between_them(every_s: float) -> None:
    with pytest.raises(ValueError, match="report_arrivals_s is seconds"):
        slipring.connect(report_arrivals_s=every_s)
