"""The broker is killed and started again on the same folder: everybody goes on by themselves.

Nobody does anything about it: selections, the table, writers and the client without asyncio.
"""

import asyncio
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import slipring
from slipring import Parameter, Reason, Status, sync
from slipring.client.connection import ClientConnection
from slipring.client.declaration import Declaration, GrantedDeclaration
from slipring.client.reconnecting import redo_all
from slipring.recording.recording import Recording
from tests.client.table_broker import TableBroker
from tests.frames import reference
from tests.running_broker import RunningBroker

F64 = Parameter("f64")
WAIT_S = 60


async def until(is_so: Callable[[slipring.Frame], bool], frames: slipring.Selection) -> Any:
    """The first frame of which something is so."""
    async with asyncio.timeout(WAIT_S):
        async for frame in frames:
            if is_so(frame):
                return frame
    raise AssertionError("the frames ended")


async def kill(broker: TableBroker) -> None:
    await asyncio.to_thread(broker.restart, kill=True)


@pytest.mark.parametrize(
    ("needs", "by_name"), [({}, True), ({"rate_hz": 50}, False), ({"change": True}, True)]
)
async def test_a_selection_goes_on_and_says_what_is_stale(
    broker_of_its_own: TableBroker, needs: dict[str, Any], by_name: bool
) -> None:
    name = "restart/select/a"
    chosen: dict[str, Any] = {"names": [name]} if by_name else {}
    filters = () if by_name else ("restart/select/#",)
    url = broker_of_its_own.url
    async with slipring.connect(url) as reader, slipring.connect(url) as bus:
        declared = await bus.declare("restart/select", {"a": F64}, qos=1)
        declared.write({"a": 1.0})
        await declared.flush()
        async with reader.select(*filters, **chosen, **needs) as frames:
            await until(lambda frame: frame[name].value == 1.0, frames)
            await bus.close()
            await kill(broker_of_its_own)
            again = await until(lambda frame: not frame[name].quality.is_good, frames)
            assert again[name].quality.status is Status.STALE
            assert again[name].value == 1.0
            async with slipring.connect(url) as other:
                declared = await other.declare("restart/select", {"a": F64}, qos=1)
                declared.write({"a": 3.0})
                await until(
                    lambda frame: frame[name].value == 3.0 and frame[name].quality.is_good, frames
                )


async def test_the_first_frame_of_the_new_connection_has_the_number_0(
    broker_of_its_own: TableBroker,
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus:
        declared = await bus.declare("restart/number", {"a": F64}, qos=1)
        async with bus.select("restart/number/#", beat_ms=0) as frames:
            for number in range(3):
                declared.write({"a": float(number)})
                await declared.flush()
            await until(lambda frame: frame.sequence >= 2, frames)
            await kill(broker_of_its_own)
            again = await until(lambda frame: frame.sequence == 0, frames)
            assert "restart/number/a" in again


@pytest.mark.parametrize("qos", [0, 1])
async def test_a_writer_goes_on_and_what_was_written_meanwhile_arrives(
    broker_of_its_own: TableBroker, qos: int
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus:
        declared = await bus.declare("restart/writer", {"a": F64}, qos=qos)
        declared.write({"a": 1.0})
        await declared.flush()
        changes = bus.changes()
        restarting = asyncio.create_task(kill(broker_of_its_own))
        async with asyncio.timeout(WAIT_S):
            while (await anext(changes)).connected:
                pass
            declared.write({"a": 2.0})
            await restarting
            await declared.flush()
            assert (await bus.newest("restart/writer/a"))[0] == 2.0
            assert (await bus.newest("restart/writer/a")).quality.is_good


async def test_of_a_durable_writer_under_load_nothing_is_refused_and_nothing_is_lost(
    broker_of_its_own: TableBroker, tmp_path: Path
) -> None:
    written = 0
    url, durable = broker_of_its_own.url, {"client_id": "writer", "session_expiry_s": 600}
    async with slipring.connect(url, **durable) as bus:  # type: ignore[arg-type]
        declared = await bus.declare("restart/load", {"a": F64}, qos=1)
        refusals = await bus.refusals()
        for _ in range(3):
            restarting = asyncio.create_task(kill(broker_of_its_own))
            while not restarting.done():
                declared.sample("a", float(written))
                written += 1
                flushing = asyncio.create_task(declared.flush())
                await asyncio.wait([restarting, flushing], return_when="FIRST_COMPLETED")
            async with asyncio.timeout(WAIT_S):
                await restarting
                await declared.flush()
        await bus.close()
        assert [refusal async for refusal in refusals] == []
    assert journaled(tmp_path / "data-0", "restart/load") == set(range(written))


def journaled(data: Path, topic: str) -> set[object]:
    """The values of all frames in the journal."""
    damage = list[slipring.SlipringError]()
    pieces = Recording(data, filters=[topic]).pieces(damage.append)
    payloads = [payload for piece in pieces for payload in piece.rows["payload"].to_pylist()]
    assert damage == []
    frames = [reference.decode(payload) for payload in payloads]
    return {sample.value for frame in frames for sample in frame.samples}


async def test_the_table_goes_on_with_what_came_meanwhile(broker_of_its_own: TableBroker) -> None:
    url = broker_of_its_own.url
    async with slipring.connect(url) as bus, slipring.connect(url) as other:
        await other.declare("restart/table", {"a": F64})
        table = await bus.table()
        changes = await bus.table_changes()
        await kill(broker_of_its_own)
        await other.declare("restart/table", {"b": F64})
        async with asyncio.timeout(WAIT_S):
            while "restart/table/b" not in table:
                await anext(changes)
        assert "restart/table/a" in await bus.table()
        assert table["restart/table/a"].index != table["restart/table/b"].index


async def test_nothing_fresh_is_left_of_a_publisher_that_never_came_back(
    broker_of_its_own: TableBroker,
) -> None:
    url = broker_of_its_own.url
    async with slipring.connect(url) as bus:
        async with slipring.connect(url) as other:
            declared = await other.declare("restart/gone", {"a": F64}, qos=1)
            declared.write({"a": 1.0})
            await declared.flush()
            await kill(broker_of_its_own)
            await other.ping()
        sample = await bus.newest("restart/gone/a")
        assert sample.quality.status is Status.STALE
        assert sample.quality.reason in {Reason.RESTORED, Reason.PUBLISHER_GONE}


def test_without_asyncio_it_goes_on_too(broker_of_its_own: TableBroker) -> None:
    url, seen = broker_of_its_own.url, list[float]()
    with sync.connect(url) as bus, sync.connect(url) as other:
        declared = other.declare("restart/sync", {"a": F64}, qos=1)
        with bus.select("restart/sync/a") as frames, bus.subscribe("restart/plain") as plain:
            reader = threading.Thread(target=read, args=(frames, seen))
            reader.start()
            declared.write({"a": 1.0})
            declared.flush()
            broker_of_its_own.restart(kill=True)
            declared.write({"a": 9.0})
            declared.flush()
            reader.join(WAIT_S)
            assert seen[-1] == 9.0
            other.ping()
            bus.ping()
            other.publish("restart/plain", "x", qos=1)
            assert next(plain).text == "x"


def read(frames: sync.Selection, seen: list[float]) -> None:
    for frame in frames:
        seen.extend(frame.samples("restart/sync/a").values.tolist())
        if 9.0 in seen:
            return


async def test_what_is_refused_again_holds_nothing_else_up_and_heals(
    table_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with slipring.connect(table_url) as bus:
        both = [await bus.declare(f"restart/again/{name}", {"a": F64}) for name in ("x", "y")]
        asked = list[str]()

        async def refuse(declaration: Declaration, _: object) -> GrantedDeclaration:
            asked.append(declaration.prefix)
            raise slipring.DeclareRefused("a clash", problems=[])

        with monkeypatch.context() as patch:
            patch.setattr(Declaration, "ask", refuse)
            await redo_all(bus._table_desk()._works(), bus.url)
        assert sorted(asked) == ["restart/again/x", "restart/again/y"]
        for declared in both:
            with pytest.raises(slipring.DeclareRefused, match="a clash"):
                declared.write({"a": 1.0})
        await redo_all(bus._table_desk()._works(), bus.url)
        for declared in both:
            declared.write({"a": 1.0})


async def test_samples_that_were_never_sent_are_told_when_the_bus_is_closed(
    tmp_path: Path,
) -> None:
    broker = RunningBroker.start(tmp_path / "data", "--console", "off")
    bus = await slipring.connect(broker.url)
    declared = await bus.declare("restart/unsent", {"a": F64})
    changes = bus.changes()
    broker.stop(signal.SIGKILL)
    while (await anext(changes)).connected:
        pass
    declared.write({"a": 1.0})
    with pytest.raises(slipring.ConnectionLost, match="accepted bytes were not sent"):
        await bus.close()
    await bus.close()


async def test_questions_wait_for_the_connection_as_other_calls_do(
    broker_of_its_own: TableBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus, asyncio.timeout(WAIT_S):
        declared = await bus.declare("restart/asked", {"a": F64}, qos=1)
        declared.write({"a": 1.0})
        await declared.flush()
        await bus.table()
        changes = bus.changes()
        broker_of_its_own.kill()
        while (await anext(changes)).connected:
            pass
        monkeypatch.setattr(ClientConnection.ask, "__defaults__", (0.05,))
        asking = asyncio.create_task(bus.current("restart/asked/#"))
        assert not (await asyncio.wait([asking], timeout=0.5))[0]
        monkeypatch.undo()
        await asyncio.to_thread(broker_of_its_own.start_again)
        assert "restart/asked/a" in await asking
