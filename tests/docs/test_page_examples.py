"""Examples of the pages that are parts of a program, with what they expect around them."""

import asyncio
import textwrap
from pathlib import Path
from typing import Any

import pytest

import slipring
from tests.docs.page_shell import page_blocks
from tests.running_broker import RunningBroker


async def ran(example: str, **names: Any) -> dict[str, Any]:
    """Run an example that may await, with these names; returns those that it has made."""
    body = textwrap.indent(example, "    ")
    made: dict[str, Any] = {"slipring": slipring}
    head = f"async def example({', '.join(names)}):"
    exec(compile(f"{head}\n{body}\n    return locals()", "example", "exec"), made)
    return dict(await made["example"](**names))


async def test_the_jet_flies_as_its_page_says() -> None:
    [example] = page_blocks("docs/aircraft.md", "python")
    found = await ran(example)
    assert found["step"].phase == "turn"
    assert len(found["step"].row["f32"]) == 8_000


async def test_a_dictionary_is_declared_as_its_page_says(
    shared_broker: RunningBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine.csv").write_text("name,type,unit\noil,f32,kPa\n")
    [example] = page_blocks("docs/dictionaries.md", "python")
    async with slipring.connect(shared_broker.url) as bus:
        found = await ran(example, bus=bus)
        assert list(await bus.table()) == ["gripen/39-7/engine/oil"]
    assert found["found"].problems == ()


class Player:
    """Something that plays sound; it has enough after the first chunk."""

    def __init__(self) -> None:
        self.played = b""

    def write(self, payload: bytes) -> None:
        self.played += payload
        raise asyncio.CancelledError


async def test_a_stream_is_sent_and_heard_as_its_page_says(shared_broker: RunningBroker) -> None:
    [example] = page_blocks("docs/streams.md", "python")
    player = Player()
    example = example.replace("mqtt://127.0.0.1", shared_broker.url)
    with pytest.raises(asyncio.CancelledError):
        await ran(example, chunk=b"a sound", player=player)
    assert player.played == b"a sound"


async def test_a_history_of_definitions_is_read_as_its_page_says(
    broker: RunningBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [example] = [one for one in page_blocks("docs/table.md", "python") if "paho" not in one]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slipring-data").symlink_to(broker.data)
    async with slipring.connect(broker.url) as bus:
        engine = await bus.declare("gripen/39-7/engine", {"rpm": "f64", "egt": "f64"})
        engine.write({"rpm": 1.0, "egt": 2.0})
        await engine.flush()
    assert (await ran(example))["history"].to_arrow().num_rows == 2
