"""Every sample is in the lake once, whatever is killed between read and commit (D1).

`ROUNDS=100` kills a hundred times; the default is for every day.
"""

import asyncio
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from slipring.errors import PipelineError
from slipring.journal.columns import record_batch
from slipring.journal.location import JournalBroker
from slipring.lake.files import put_file, write_file
from slipring.lake.status import open_table
from slipring.native import JournalReader
from slipring.pipeline import ingest, range_files, run
from slipring.pipeline.range_files import LakeTarget
from tests.faults.telling import TOLD
from tests.pipeline import held_archive
from tests.pipeline.numbered_frames import NumberedFrames, NumberedSample, numbered_frames
from tests.running_broker import RunningBroker, kept_address

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = int(os.environ.get("ROUNDS", "14"))
SPARK_ROUNDS = max(1, ROUNDS // 20)
PATIENCE_S = 200
"""Spark alone may take minutes on a busy machine."""
BURST = 12
"""Frames of one round."""
STEPS = (
    "begun",
    "decoded",
    "written samples",
    "written frames",
    "written messages",
    "writing done",
    "committed set_aside",
    "committed samples",
    "committed frames",
    "committed messages",
    "noted",
)
DEADLY = ("archive killed", "both killed")
HAPPENINGS = (*DEADLY, "broker killed", "compacted")
SOURCES = ("folder", "network")

pytestmark = pytest.mark.timeout(3600)


@dataclass
class ArchivedBroker:
    """A broker at one address, its lake, and what has happened to them."""

    folder: Path
    address: str
    broker: RunningBroker
    tell: Callable[[str, object], None]
    killed: Counter[str] = field(default_factory=Counter)

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    async def restart_broker(self) -> None:
        """Kill the broker, and start it again on the same folder."""
        self.broker.process.kill()
        await asyncio.to_thread(self.broker.process.communicate)
        self.broker = await asyncio.to_thread(start_broker, self.folder, self.address)
        self.killed["broker killed"] += 1

    async def compact(self) -> int:
        """Compact all tables of the lake, as it is done beside the archive."""
        replaced = await asyncio.to_thread(held_archive.compact, str(self.lake), is_held=False)
        self.killed["files compacted"] += replaced
        return replaced

    def arguments(self, source: str, *options: str) -> list[str]:
        """What `slipring` is called with."""
        where = ["--broker", self.broker.url] if source == "network" else []
        known = ["--data", str(self.broker.data), "--lake", str(self.lake)]
        return ["archive", "pipeline", "run", *known, *where, *options]


def start_broker(folder: Path, address: str) -> RunningBroker:
    return RunningBroker.start(folder / "data", "--mqtt", address, "--console", "off")


@pytest.fixture
def archived(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> Iterator[ArchivedBroker]:
    """A broker that is stopped well at the end."""
    with kept_address() as address:
        made = ArchivedBroker(tmp_path, address, start_broker(tmp_path, address), record_property)
        yield made
        code, errors = made.broker.stop()
        assert code == 0, errors


class HeldProcess:
    """A run that waits at each step until it may go on."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self.process = process
        self._output, self._input = process.stdout, process.stdin
        self._told = list[str]()
        self._waits = False

    async def next_step(self) -> str | None:
        """Go on to the next step, or to the end: None."""
        if self._waits:
            self._input.write(b"go on\n")
        while line := (await asyncio.wait_for(self._output.readline(), PATIENCE_S)).decode():
            self._told.append(line)
            if line.startswith("step "):
                self._waits = True
                return line.removeprefix("step ").strip()
        return None

    async def reach(self, step: str) -> None:
        """Go on until it waits at this step."""
        while (found := await self.next_step()) != step:
            assert found is not None, f"it ended before {step!r}: {self._told}"

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def end(self) -> None:
        """Go on to the end, which must be a good one."""
        while await self.next_step() is not None:
            pass
        assert await self.process.wait() == 0, "".join(self._told)


@asynccontextmanager
async def held(*arguments: str) -> AsyncIterator[HeldProcess]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        held_archive.__file__,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield HeldProcess(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def happen(what: str, archived: ArchivedBroker, archive: HeldProcess) -> None:
    """Something happens while the archive waits at a step."""
    if what in {"broker killed", "both killed"}:
        await archived.restart_broker()
    if what == "compacted":
        await archived.compact()
    if what in DEADLY:
        await archive.kill()
        archived.killed["archive killed"] += 1


def lake_samples(lake: Path) -> Counter[NumberedSample]:
    columns = ["parameter", "source_ns", "value", "text"]
    rows = open_table(lake, "samples").to_pyarrow_table(columns=columns).to_pylist()
    return Counter(NumberedSample(**row) for row in rows)


def assert_all_is_there_once(archived: ArchivedBroker, publisher: NumberedFrames) -> None:
    found = lake_samples(archived.lake)
    assert found - publisher.acknowledged == Counter(), "more than was acknowledged"
    assert publisher.acknowledged - found == Counter(), "less than was acknowledged"
    assert set(found.values()) == {1}
    frames = open_table(archived.lake, "frames").to_pyarrow_table(columns=["sequence", "samples"])
    assert sorted(frames.column("sequence").to_pylist()) == [*range(publisher.frames)]
    assert set(frames.column("samples").to_pylist()) == {10}
    messages = open_table(archived.lake, "messages").to_pyarrow_table(columns=["offset", "payload"])
    expected = payloads_in(archived.broker.data / "journal")
    rows = zip(*(messages.column(name).to_pylist() for name in ("offset", "payload")), strict=True)
    assert sorted(rows) == expected
    assert open_table(archived.lake, "set_aside").to_pyarrow_table().num_rows == 0
    happened = ", ".join(f"{what} {count}" for what, count in archived.killed.items())
    archived.tell(TOLD, f"{len(expected)} messages, {len(found)} samples, once each; {happened}")


def payloads_in(journal: Path) -> list[tuple[int, bytes]]:
    reader = JournalReader(journal)
    start, end, found = reader.first_offset, reader.end_offset(), list[tuple[int, bytes]]()
    while start < end:
        read = reader.read(start, end, 1 << 26)
        rows = record_batch(read, ("offset", "payload"))
        found += [(row["offset"], row["payload"]) for row in rows.to_pylist()]
        start = read.end
    return found


async def finish(archived: ArchivedBroker) -> None:
    """Carry the rest without trouble, and compact everything once more."""
    async with held(*archived.arguments("folder", "--once")) as archive:
        await archive.end()
    assert await archived.compact() > 0


async def test_every_sample_is_in_the_lake_once_whatever_is_killed_at_any_step(
    archived: ArchivedBroker,
) -> None:
    rounds = islice(cycle(planned()), ROUNDS)
    async with numbered_frames(archived.broker.url) as publisher:
        for number, (step, what, source) in enumerate(rounds):
            await publisher.publish(BURST // 2)
            async with held(*archived.arguments(source, "--once")) as archive:
                meanwhile = asyncio.create_task(publisher.publish(BURST // 2))
                await archive.reach(step)
                await happen(what, archived, archive)
                if what not in DEADLY:
                    await archive.end()
                await meanwhile
            if number % 5 == 4:
                await kill_compaction(archived)
        await finish(archived)
    assert_all_is_there_once(archived, publisher)


def planned() -> list[tuple[str, str, str]]:
    """All that can happen at each step: first a kill at each, then the others in mixed order."""
    every = [*product(STEPS, HAPPENINGS, SOURCES)]
    kills = [
        (step, DEADLY[number % 2], SOURCES[number // 2 % 2]) for number, step in enumerate(STEPS)
    ]
    # 37 and the number of rounds have no common factor, so that neighbours differ in everything.
    mixed = [every[37 * number % len(every)] for number in range(len(every))]
    return kills + [one for one in mixed if one not in kills]


async def kill_compaction(archived: ArchivedBroker) -> None:
    """New files are written, and the old ones not yet replaced, when it is killed."""
    async with held("upkeep", str(archived.lake)) as upkeep:
        # There may be nothing to compact.
        if await upkeep.next_step() == "compacted":
            await upkeep.kill()
            archived.killed["compaction killed"] += 1


DRIVER_STEPS = ("begun", *STEPS[STEPS.index("writing done") :])
WORKER_STEPS = (
    "writing samples",
    "written samples",
    "writing frames",
    "written frames",
    "writing messages",
    "written messages",
)


async def test_every_sample_is_there_once_although_spark_s_driver_is_killed(
    archived: ArchivedBroker,
) -> None:
    """The driver waits in Spark's batch: what is killed there is before Spark's own commit."""
    steps = cycle(reversed(DRIVER_STEPS))
    async with numbered_frames(archived.broker.url) as publisher:
        for source in islice(cycle(SOURCES), SPARK_ROUNDS):
            await publisher.publish(BURST)
            async with held(*archived.arguments(source, "--trigger-ms", "50")) as archive:
                for what in ("broker killed", "compacted", "both killed"):
                    await archive.reach(next(steps))
                    meanwhile = asyncio.create_task(publisher.publish(BURST))
                    await happen(what, archived, archive)
                    await meanwhile
        await finish(archived)
    assert_all_is_there_once(archived, publisher)


def write_and_be_killed(
    ranges: Iterator[pa.RecordBatch], target: LakeTarget, *, step: str, alive: Path
) -> Iterator[pa.RecordBatch]:
    """In Spark's worker: `write_ranges`, killed at a step while the file `alive` is there."""
    module: Any = range_files

    def die_at(reached: str) -> None:
        if reached == step and alive.exists():
            alive.unlink()
            os.kill(os.getpid(), signal.SIGKILL)

    def or_die(write: Any, lake: Any, spec: Any, *given: Any, **options: Any) -> Any:
        die_at(f"writing {spec.name}")
        made = write(lake, spec, *given, **options)
        die_at(f"written {spec.name}")
        return made

    module.write_file, module.put_file = partial(or_die, write_file), partial(or_die, put_file)
    try:
        yield from range_files.write_ranges(ranges, target)
    finally:
        module.write_file, module.put_file = write_file, put_file


async def test_every_sample_is_there_once_although_spark_s_workers_are_killed(
    spark: "SparkSession", archived: ArchivedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    alive, journal = archived.folder / "alive", archived.broker.data / "journal"
    network = JournalBroker.from_options(archived.broker.url, {})
    sources: list[Path | JournalBroker] = [journal, network]

    async def carry(source: Path | JournalBroker) -> None:
        await asyncio.to_thread(run, source, archived.lake, once=True, spark=spark)

    async with numbered_frames(archived.broker.url) as publisher:
        for step, source in zip(WORKER_STEPS * SPARK_ROUNDS, cycle(sources), strict=False):
            alive.touch()
            await publisher.publish(BURST)
            killed = partial(write_and_be_killed, step=step, alive=alive)
            monkeypatch.setattr(ingest, "write_ranges", killed)
            with pytest.raises(PipelineError):
                await carry(source)
            assert not alive.exists()
            archived.killed["worker killed"] += 1
        await carry(journal)
        await finish(archived)
    assert_all_is_there_once(archived, publisher)
