"""Selections without number: what the broker keeps for them does not grow with them."""

import re
from contextlib import AsyncExitStack
from pathlib import Path

import slipring
from slipring import Parameter
from tests.running_broker import RunningBroker

TEXTS = {f"t{number}": Parameter("text") for number in range(8)}
LENGTH = 256 * 1024
TEXT_BYTES = 2 * len(TEXTS) * LENGTH
FEW, MANY = 15, 300
SELDOM_HZ = 0.001


def peak_bytes(broker: RunningBroker) -> int:
    """The most memory that the broker ever had."""
    status = Path(f"/proc/{broker.process.pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


async def choose(broker: RunningBroker, selections: int) -> None:
    """Selections one by one, each of which knows other texts as sent than the others."""
    async with slipring.connect(broker.url) as bus, AsyncExitStack() as open_ones:
        declared = await bus.declare("hostile/texts", TEXTS, beat_ms=0)
        for number in range(selections):
            declared.write(dict.fromkeys(TEXTS, f"{number:04}" * (LENGTH // 4)))
            await declared.flush()
            selection = bus.select("hostile/texts/#", rate_hz=SELDOM_HZ, change=True)
            frames = await open_ones.enter_async_context(selection)
            heard: dict[str, str] = {}
            async for frame in frames:
                heard |= {name: frame.samples(name).values[-1] for name in frame.names}
                if len(heard) == len(TEXTS):
                    break
            assert {text[:4] for text in heard.values()} == {f"{number:04}"}


def start(folder: Path, **limits: int) -> RunningBroker:
    folder.mkdir()
    config = folder / "broker.toml"
    rows = "".join(f"{key} = {bound}\n" for key, bound in limits.items())
    config.write_text(f"[limits]\n{rows}", encoding="utf-8")
    return RunningBroker.start(folder / "data", "--config", str(config), "--console", "off")


async def growth_bytes(folder: Path, selections: int) -> int:
    """By how much the memory of a new broker grows, at most, with so many selections."""
    broker = start(folder, parameter_bytes=TEXT_BYTES)
    try:
        before = peak_bytes(broker)
        await choose(broker, selections)
        return peak_bytes(broker) - before
    finally:
        code, errors = broker.stop()
        assert code == 0, errors


async def test_texts_that_many_selections_know_as_sent_take_no_more_memory_than_those_of_a_few(
    tmp_path: Path,
) -> None:
    few = await growth_bytes(tmp_path / "few", FEW)
    many = await growth_bytes(tmp_path / "many", MANY)
    # What an allocator holds is chance; texts kept for each would be four times as much.
    bound = few + (MANY - FEW) * len(TEXTS) * LENGTH // 4
    assert many < bound, f"{few} bytes for {FEW} selections, {many} for {MANY}"


NUMBERS = {f"n{number}": Parameter("f64") for number in range(20_000)}
EACH_BYTES = 27 * len(NUMBERS)
"""What a selection of them that compares remembers."""
ROOM = 10
"""Selections that there is room for."""


async def compare(broker: RunningBroker, selections: int) -> int:
    """Selections that remember what they sent, each with its own band; how many are refused."""
    refused = 0
    async with slipring.connect(broker.url) as bus, AsyncExitStack() as open_ones:
        await bus.declare("hostile/numbers", NUMBERS)
        for number in range(selections):
            selection = bus.select("hostile/numbers/#", rate_hz=SELDOM_HZ, deadband=number)
            try:
                await open_ones.enter_async_context(selection)
            except slipring.Refused:
                refused += 1
    return refused


async def test_what_many_selections_remember_takes_no_more_memory_than_what_a_few_do(
    tmp_path: Path,
) -> None:
    undivided = {"owner_selections_percent": 100, "reserve_percent": 0}
    broker = start(tmp_path / "broker", selection_bytes=ROOM * EACH_BYTES, **undivided)
    try:
        assert await compare(broker, ROOM) == 0
        few = peak_bytes(broker)
        assert await compare(broker, MANY) == MANY - ROOM
        assert peak_bytes(broker) - few < (MANY - ROOM) * EACH_BYTES // 4
    finally:
        code, errors = broker.stop()
        assert code == 0, errors
