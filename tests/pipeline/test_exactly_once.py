"""Every sample is in the lake once, whatever is killed between read and commit (D1).

`ROUNDS=100` kills a hundred times; the default is for every day.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path

import pytest

from slipring.journal.columns import record_batch
from slipring.lake.status import open_table
from slipring.native import JournalReader
from tests.pipeline import held_archive
from tests.pipeline.numbered_frames import NumberedFrames, NumberedSample, numbered_frames
from tests.running_broker import RunningBroker, kept_address

ROUNDS = int(os.environ.get("ROUNDS", "20"))
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
HAPPENINGS = ("archive killed", "both killed", "broker killed", "compacted")
SOURCES = ("folder", "network")

pytestmark = pytest.mark.timeout(3600)


@dataclass
class Scene:
    """A broker at one address, its lake, and what has happened to them."""

    folder: Path
    address: str
    broker: RunningBroker
    killed: Counter[str] = field(default_factory=Counter)

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    async def restart_broker(self) -> None:
        """Kill the broker, and start it again on the same folder."""
        self.broker.process.kill()
        await asyncio.to_thread(self.broker.process.communicate)
        self.broker = await asyncio.to_thread(start_broker, self.folder, self.address)
        self.killed["broker"] += 1

    async def compact(self) -> int:
        """Compact all tables of the lake, as it is done beside the archive."""
        replaced = await asyncio.to_thread(held_archive.compact, str(self.lake), is_held=False)
        self.killed["compacted files"] += replaced
        return replaced

    def arguments(self, source: str, *options: str) -> list[str]:
        """What `slipring` is called with."""
        where = ["--broker", self.broker.url] if source == "network" else []
        known = ["--data", str(self.broker.data), "--lake", str(self.lake)]
        return ["archive", "pipeline", "run", *known, *where, *options]


def start_broker(folder: Path, address: str) -> RunningBroker:
    return RunningBroker.start(folder / "data", "--mqtt", address, "--console", "off")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with kept_address() as address:
        made = Scene(tmp_path, address, start_broker(tmp_path, address))
        yield made
        code, errors = made.broker.stop()
        assert code == 0, errors
        print(dict(made.killed))


class HeldProcess:
    """A run that waits at each step until it may go on."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        assert process.stdin is not None
        self.process = process
        self._output, self._input = process.stdout, process.stdin
        self._told = list[str]()

    async def steps(self) -> AsyncIterator[str]:
        """Each step at which it waits; it goes on when the next one is asked for."""
        while line := (await asyncio.wait_for(self._output.readline(), PATIENCE_S)).decode():
            self._told.append(line)
            if line.startswith("step "):
                yield line.removeprefix("step ").strip()
                with suppress(BrokenPipeError, ConnectionResetError):
                    self._input.write(b"go on\n")

    async def reach(self, step: str) -> None:
        """Go on until it waits at this step."""
        async for found in self.steps():
            if found == step:
                return
        raise AssertionError(f"it ended before {step!r}: {''.join(self._told)}")

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    async def end(self) -> None:
        """Go on to the end, which must be a good one."""
        self._input.write(b"go on\n")
        async for _ in self.steps():
            pass
        assert await self.process.wait() == 0, "".join(self._told)


@asynccontextmanager
async def held(*arguments: str) -> AsyncIterator[HeldProcess]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.pipeline.held_archive",
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


async def happen(what: str, scene: Scene, archive: HeldProcess) -> None:
    """Something happens while the archive waits at a step."""
    if what in {"broker killed", "both killed"}:
        await scene.restart_broker()
    if what == "compacted":
        await scene.compact()
    if what in {"archive killed", "both killed"}:
        await archive.kill()
        scene.killed["archive"] += 1
    else:
        await archive.end()


def lake_samples(lake: Path) -> Counter[NumberedSample]:
    columns = ["parameter", "source_ns", "value", "text"]
    rows = open_table(lake, "samples").to_pyarrow_table(columns=columns).to_pylist()
    return Counter(NumberedSample(**row) for row in rows)


def assert_all_is_there_once(scene: Scene, publisher: NumberedFrames) -> None:
    found = lake_samples(scene.lake)
    assert found - publisher.acknowledged == Counter(), "more than was acknowledged"
    assert publisher.acknowledged - found == Counter(), "less than was acknowledged"
    assert set(found.values()) == {1}
    frames = open_table(scene.lake, "frames").to_pyarrow_table(columns=["sequence", "samples"])
    assert sorted(frames.column("sequence").to_pylist()) == [*range(publisher.frames)]
    assert set(frames.column("samples").to_pylist()) == {10}
    messages = open_table(scene.lake, "messages").to_pyarrow_table(columns=["offset", "payload"])
    expected = payloads_in(scene.broker.data / "journal")
    rows = zip(*(messages.column(name).to_pylist() for name in ("offset", "payload")), strict=True)
    assert sorted(rows) == expected
    assert open_table(scene.lake, "set_aside").to_pyarrow_table().num_rows == 0


def payloads_in(journal: Path) -> list[tuple[int, bytes]]:
    reader = JournalReader(journal)
    start, end, found = reader.first_offset, reader.end_offset(), list[tuple[int, bytes]]()
    while start < end:
        read = reader.read(start, end, 1 << 26)
        rows = record_batch(read, ("offset", "payload"))
        found += [(row["offset"], row["payload"]) for row in rows.to_pylist()]
        start = read.end
    return found


async def finish(scene: Scene) -> None:
    """Carry the rest without trouble, and compact everything once more."""
    async with held(*scene.arguments("folder", "--once")) as archive:
        await archive.end()
    assert await scene.compact() > 0


async def test_every_sample_is_in_the_lake_once_whatever_is_killed_at_any_step(
    scene: Scene,
) -> None:
    rounds = islice(cycle(scattered([*product(STEPS, HAPPENINGS, SOURCES)])), ROUNDS)
    async with numbered_frames(scene.broker.url) as publisher:
        for number, (step, what, source) in enumerate(rounds):
            await publisher.publish(BURST // 2)
            async with held(*scene.arguments(source, "--once")) as archive:
                meanwhile = asyncio.create_task(publisher.publish(BURST // 2))
                await archive.reach(step)
                await happen(what, scene, archive)
                await meanwhile
            if number % 10 == 9:
                await kill_compaction(scene)
        await finish(scene)
    assert_all_is_there_once(scene, publisher)


def scattered(rounds: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The same, so that neighbours differ in everything and a few are already of all kinds."""
    # 37 and the number of rounds have no common factor.
    return [rounds[37 * number % len(rounds)] for number in range(len(rounds))]


async def kill_compaction(scene: Scene) -> None:
    """New files are written, and the old ones not yet replaced, when it is killed."""
    async with held("upkeep", str(scene.lake)) as upkeep:
        await upkeep.reach("compacted")
        await upkeep.kill()
    scene.killed["compaction"] += 1
