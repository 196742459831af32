"""Each sample has the definition that was true when it was measured (D1), after any restart."""

import asyncio
import json
import pickle
import signal
import struct
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from slipring import Bus, Parameter, connect
from slipring.errors import DeclareRefused, JournalError
from slipring.journal.definitions import PARAMETERS_SCHEMA, DefinitionHistory
from slipring.journal.location import (
    Journal,
    JournalBroker,
    JournalFolder,
    OpenJournal,
    settled_end,
)
from slipring.journal.samples import JournalSamples
from slipring.model import AlarmLimits
from slipring.native import JournalReader, journal_definitions
from tests.hostile.siege import resident_bytes
from tests.journal_messages import write_messages
from tests.running_broker import RunningBroker

NAME = "p/x"
KELVIN = Parameter("f64", unit="K", limits=AlarmLimits(high=900.0))
CAREFUL = Parameter("f64", unit="K", limits=AlarmLimits(high=800.0), description="less")
CELSIUS = Parameter("f64", unit="degC", range=(-50.0, 99.5), rate_hz=5.0)
WORDS = Parameter("enum", labels={0: "cold", 300: "hot"}, source="ECU")


async def redeclare(bus: Bus, before: Parameter, parameter: Parameter) -> None:
    """Another type, unit or labels need a new life of the name."""
    with pytest.raises(DeclareRefused, match="a parameter keeps its type, unit and labels"):
        await bus.declare("p", {"x": parameter})
    declared = await bus.declare("p", {"x": before})
    await declared.remove()
    await bus.publish(NAME, "nobody's", qos=1)
    await bus.declare("p", {"x": parameter})


async def live(bus: Bus) -> None:
    """A name with four definitions, and a sample of each."""
    await bus.declare("p", {"x": KELVIN})
    await bus.declare("p", {"x": KELVIN})
    await bus.publish(NAME, "1", qos=1)
    await bus.declare("p", {"x": CAREFUL})
    await bus.publish(NAME, "2", qos=1)
    await redeclare(bus, CAREFUL, CELSIUS)
    await bus.publish(NAME, "3", qos=1)
    await redeclare(bus, CELSIUS, WORDS)
    await bus.publish(NAME, "hot", qos=1)


def told(history: DefinitionHistory) -> list[tuple[int, Parameter, int, int | None]]:
    return [(one.index, one.parameter, one.since, one.until) for one in history]


def sampled(journal: OpenJournal) -> dict[int, int]:
    """The parameter of each sample, by offset."""
    _, pairs = journal.samples(0, settled_end(journal))
    return dict(struct.iter_unpack("<QI", pairs))


def both(broker: RunningBroker) -> DefinitionHistory:
    """The definitions from the folder; the broker's are the same."""
    folder = JournalFolder(str(broker.data / "journal")).open()
    found = DefinitionHistory.of(folder)
    assert DefinitionHistory.of(JournalBroker(broker.url).open()) == found
    assert journal_definitions(broker.data / "journal") == found.json
    return found


def run(broker: RunningBroker, act: Callable[[Bus], Awaitable[object]]) -> None:
    async def meet() -> None:
        async with connect(broker.url) as bus:
            await act(bus)

    asyncio.run(meet())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_each_sample_has_the_definition_of_its_time_also_after_restarts(
    tmp_path: Path, number: signal.Signals
) -> None:
    broker = RunningBroker.start(tmp_path)
    run(broker, live)
    # Messages 2 and 4 were nobody's samples.
    expected = [
        (0, KELVIN, 0, 1),
        (0, CAREFUL, 1, 2),
        (1, CELSIUS, 3, 4),
        (2, WORDS, 5, None),
    ]
    assert told(both(broker)) == expected
    broker.stop(number)
    broker = RunningBroker.start(tmp_path)
    first = both(broker)
    assert told(first) == expected
    journal = JournalBroker(broker.url).open()
    assert sampled(journal) == {0: 0, 1: 0, 3: 1, 5: 2}
    measured = [first.at(index, offset) for offset, index in sampled(journal).items()]
    assert [one.parameter for one in measured if one] == [KELVIN, CAREFUL, CELSIUS, WORDS]

    assert first.refresh(journal) is first
    run(broker, lambda bus: redeclare(bus, WORDS, CAREFUL))
    second = first.refresh(journal)
    assert second == both(broker) == DefinitionHistory.of(journal)
    assert [one[:2] for one in told(second)] == [*(one[:2] for one in expected), (3, CAREFUL)]
    assert second.indices(NAME) == [0, 1, 2, 3]
    assert broker.stop()[0] == 0
    assert told(DefinitionHistory.of(JournalReader(tmp_path / "journal"))) == told(second)


def test_a_definition_that_came_back_has_its_index_and_a_gap(broker: RunningBroker) -> None:
    async def act(bus: Bus) -> None:
        for _ in range(2):
            declared = await bus.declare("p", {"x": KELVIN})
            await bus.publish(NAME, "1", qos=1)
            await declared.remove()
            await bus.publish("other", b"", qos=1)

    run(broker, act)
    history = both(broker)
    assert told(history) == [(0, KELVIN, 0, 1), (0, KELVIN, 2, 3)]
    version = history.at(0, 1)
    assert version is not None
    assert version.until == 1, "a frame on its way when the parameter was removed"
    assert history.at(1, 0) is None


def test_a_reader_follows_a_journal_that_is_being_written(broker: RunningBroker) -> None:
    journal = JournalFolder(str(broker.data / "journal")).open()
    empty = DefinitionHistory.of(journal)
    assert (empty.table, len(empty), empty.names(), empty.flaws) == (0, 0, [], [])
    assert empty == both(broker)
    assert empty.refresh(journal) is empty
    for count in range(1, 4):
        run(broker, partial(Bus.declare, prefix="q", parameters={f"x{count}": "u8"}))
        found = empty.refresh(journal)
        assert found.names() == [f"q/x{number}" for number in range(1, count + 1)]
        assert found == both(broker)
        assert found.refresh(journal) is found


def test_the_lakes_rows_and_a_pickled_history_have_every_field(broker: RunningBroker) -> None:
    run(broker, live)
    history = both(broker)
    assert pickle.loads(pickle.dumps(history)) == history
    table = history.to_arrow()
    assert table.schema == PARAMETERS_SCHEMA
    rows = table.to_pylist()
    assert rows[2] == {
        "journal": history.journal,
        "table": history.table,
        "index": 1,
        "name": NAME,
        "type": "f64",
        "kind": "f64",
        "unit": "degC",
        "description": None,
        "labels": None,
        "limits": None,
        "range_low": -50.0,
        "range_high": 99.5,
        "rate_hz": 5.0,
        "source": None,
        "since_offset": 3,
        "until_offset": 4,
        "since_ns": [one.since_ns for one in history][2],
    }
    assert json.loads(rows[1]["limits"]) == {"high": 800.0}
    assert json.loads(rows[3]["labels"]) == {"0": "cold", "300": "hot"}
    assert (rows[3]["type"], rows[3]["kind"], rows[3]["source"]) == ("enum", "u16", "ECU")
    assert rows[3]["until_offset"] is None
    assert 0 < rows[0]["since_ns"] <= rows[3]["since_ns"]


def test_definitions_that_take_several_answers_arrive_whole(broker: RunningBroker) -> None:
    long = "d" * 900
    names = {
        f"x{number}": Parameter("f32", description=f"{long}{number}") for number in range(6000)
    }

    run(broker, lambda bus: bus.declare("many", names))
    history = both(broker)
    assert len(history.json) > 5 << 20
    assert {one.name: one.parameter for one in history} == {
        f"many/{name}": parameter for name, parameter in names.items()
    }


def test_a_client_that_declares_a_hundred_thousand_times_does_not_fill_the_memory(
    broker: RunningBroker,
) -> None:
    async def act(bus: Bus) -> None:
        for number in range(50):
            changed = Parameter("f64", description=f"round {number}")
            await bus.declare("p", {f"x{index}": changed for index in range(2000)})
            await bus.publish("between", b"", qos=1)

    before = resident_bytes(broker.process.pid)
    run(broker, act)
    history = both(broker)
    assert len(history) == 32 * 2000
    oldest, newest = history.at(0, 0), history.at(0, 49)
    assert oldest is not None
    assert newest is not None
    assert (oldest.since, newest.since, newest.until) == (18, 49, None)
    assert resident_bytes(broker.process.pid) - before < 200 << 20
    assert broker.stop()[0] == 0
    snapshots = sum(file.stat().st_size for file in (broker.data / "journal").glob("*.snap*"))
    assert 0 < snapshots < 16 << 20
    found = json.loads(journal_definitions(broker.data / "journal"))
    assert found["versions"] == json.loads(history.json)["versions"]


def test_a_journal_without_parameters_has_no_definitions(tmp_path: Path) -> None:
    write_messages(tmp_path, 3)
    found = json.loads(journal_definitions(tmp_path))
    assert (found["table"], found["versions"], found["flaws"]) == (0, [], [])


def test_no_journal_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=f"there is no journal in {tmp_path}"):
        journal_definitions(tmp_path)


@pytest.mark.parametrize("is_remote", [False, True])
def test_samples_of_a_parameter_that_is_newer_than_the_reader_are_read(
    broker: RunningBroker, *, is_remote: bool
) -> None:
    """A worker that has read the journal before, and a reader that was open before."""
    where = JournalBroker(broker.url) if is_remote else JournalFolder(str(broker.data / "journal"))

    async def first(bus: Bus) -> None:
        await bus.declare("p", {"x": KELVIN})
        await bus.publish(NAME, "1", qos=1)

    async def second(bus: Bus) -> None:
        await bus.declare("p", {"y": KELVIN})
        await bus.publish("p/y", "2", qos=1)

    run(broker, first)
    journal = Journal(where, where.open().identity)
    before = JournalSamples(journal)
    assert values_of(before, journal) == [("p/x", 1.0)]
    run(broker, second)
    assert values_of(JournalSamples(journal), journal) == [("p/x", 1.0), ("p/y", 2.0)]
    assert values_of(before, journal) == [("p/x", 1.0), ("p/y", 2.0)]
    assert before.set_aside == []


def values_of(reader: JournalSamples, journal: Journal) -> list[tuple[str, float]]:
    rows = [
        row for batch in reader.batches(0, settled_end(journal.open())) for row in batch.to_pylist()
    ]
    return [(row["parameter"], row["value"]) for row in rows]
