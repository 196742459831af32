"""A pipeline with all jobs that is stopped at any moment loses nothing and doubles nothing (D1)."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from slipring.journal.location import Journal, JournalFolder
from slipring.journal.samples import JournalSamples
from slipring.lake.status import open_table
from slipring.native import JournalReader, list_consumers
from tests.pipeline import stopped_run
from tests.pipeline.numbered_frames import (
    TIMES,
    NumberedFrames,
    NumberedSample,
    numbered_frames,
)
from tests.running_broker import RunningBroker

JOBS = ("archive", "rollup", "derive", "limits", "latency", "budget")
MOMENTS = (
    (signal.SIGTERM, "starting Spark"),
    (signal.SIGINT, "reading the journal through Spark"),
    (signal.SIGTERM, "first rows in the lake"),
    (signal.SIGTERM, "compacting"),
    (signal.SIGINT, "latency: up to"),
)
"""The signal, and what the run has said when it comes."""
BACKLOG = 60
"""Frames; the archive takes some of them in a batch."""
CONFIG = """
[pipeline.rollup]
late = "36500d"

[pipeline.derive."sum"]
expression = "`jet/egt` * 2"
unit = "Cel"
late = "0s"

[[pipeline.limits.rule]]
filter = "jet/egt"
high = 1000.0

[pipeline.budget]
vehicle = "{vehicle}/#"
"""
PATIENCE_S = 300
"""Spark alone may take minutes on a busy machine."""

pytestmark = pytest.mark.timeout(3600)


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[RunningBroker]:
    """Where results are published: not into the journal that is read."""
    running = RunningBroker.start(tmp_path / "bus", "--console", "off")
    yield running
    code, errors = running.stop()
    assert code == 0, errors


@pytest.fixture
def command(tmp_path: Path, broker: RunningBroker, bus: RunningBroker) -> list[str]:
    config = tmp_path / "pipeline.toml"
    config.write_text(CONFIG)
    places = ("--data", str(broker.data), "--lake", str(tmp_path / "lake"), "--bus", bus.url)
    known = (*places, "--config", str(config), "--trigger-ms", "50")
    return [sys.executable, stopped_run.__file__, "pipeline", "run", *JOBS, *known]


@asynccontextmanager
async def started(command: list[str]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=STDOUT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def until_said(process: Process, words: str, said: list[str]) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        said.append(line.decode())
        if words in said[-1]:
            return
    raise AssertionError(f"it never said {words!r}: {said}")


async def run_and_stop(command: list[str], number: int, words: str) -> None:
    """Start it, and stop it as soon as it says this: then it ends well."""
    said = list[str]()
    async with started(command) as process, asyncio.timeout(PATIENCE_S):
        await until_said(process, words, said)
        process.send_signal(number)
        rest, _ = await process.communicate()
        assert process.returncode == 0, "".join(said) + rest.decode()


async def test_a_pipeline_that_is_stopped_at_any_moment_goes_on_where_it_was(
    tmp_path: Path, broker: RunningBroker, bus: RunningBroker, command: list[str]
) -> None:
    async with numbered_frames(broker.url) as publisher:
        await publisher.publish(BACKLOG)
        for number, words in MOMENTS:
            meanwhile = asyncio.create_task(publisher.publish(BACKLOG // 2))
            await run_and_stop(command, number, words)
            await meanwhile
    async with started([*command, "--once"]) as process, asyncio.timeout(PATIENCE_S):
        said, _ = await process.communicate()
        assert process.returncode == 0, said.decode()
    lake, end = tmp_path / "lake", JournalReader(broker.data / "journal").end_offset()
    assert_samples_are_there_once(lake, publisher)
    assert_computed_once(lake, publisher)
    assert_derived_are_on_the_bus_once(lake, bus)
    positions = {one.name: one.offset for one in list_consumers(broker.data / "journal")}
    assert positions == {"lake": end} | {f"lake-{name}": end for name in JOBS[1:]}


def column(lake: Path, table: str, name: str) -> list[int]:
    found: list[int] = open_table(lake, table).to_pyarrow_table(columns=[name])[name].to_pylist()
    return found


def assert_samples_are_there_once(lake: Path, publisher: NumberedFrames) -> None:
    columns = ["parameter", "source_ns", "value", "text"]
    rows = open_table(lake, "samples").to_pyarrow_table(columns=columns).to_pylist()
    assert Counter(NumberedSample(**row) for row in rows) == publisher.acknowledged
    assert sorted(column(lake, "frames", "sequence")) == [*range(publisher.frames)]
    offsets = column(lake, "messages", "offset")
    assert len(offsets) == len(set(offsets))


def assert_computed_once(lake: Path, publisher: NumberedFrames) -> None:
    numbers = sum(one.value is not None for one in publisher.acknowledged)
    for table in ("rollup_1s", "rollup_1m", "rollup_1h"):
        assert sum(column(lake, table, "count")) == numbers
    assert sum(column(lake, "budget", "messages")) == 2 * publisher.frames
    rows = open_table(lake, "latency").to_pyarrow_table(columns=["hop", "count"]).to_pylist()
    ages = sum(row["count"] for row in rows if row["hop"] == "measured_to_published")
    assert ages == 2 * TIMES * publisher.frames
    events = column(lake, "events", "source_ns")
    assert len(events) == len(set(events))


def assert_derived_are_on_the_bus_once(lake: Path, bus: RunningBroker) -> None:
    derived = column(lake, "derived", "source_ns")
    assert derived
    assert len(derived) == len(set(derived))
    reader = JournalReader(bus.data / "journal")
    journal = Journal(JournalFolder(str(bus.data / "journal")), reader.identity)
    batches = JournalSamples(journal).batches(0, reader.end_offset())
    found = [time for batch in batches for time in batch.column("source_ns").to_pylist()]
    assert sorted(found) == sorted(derived)
