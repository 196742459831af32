"""Parameters are declared once, keep their indices, and are written without a step per
sample (P2, S9).
"""

import asyncio
import logging
import time

import numpy as np
import pytest

import slipring
from slipring import DeclareRefused, Parameter, Quality, Reason, Status
from tests.client.table_broker import TableBroker

F64, BOOL, TEXT = Parameter("f64"), Parameter("bool"), Parameter("text")
MODE = Parameter("enum", labels={0: "off", 1: "on", 2: "failed"})
WAIT_S = 60


async def first(frames: slipring.Selection) -> slipring.Frame:
    return await asyncio.wait_for(anext(frames), WAIT_S)


async def test_indices_are_given_by_kind_and_are_the_same_for_everybody(table_url: str) -> None:
    asked = {"a": F64, "b": BOOL, "c": F64, "d": BOOL}
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        declared = await bus.declare("declare/kinds", asked)
        a, b, c, d = declared.indices.tolist()
        assert (d, a, c) == (b + 1, b + 2, b + 3)
        again = await other.declare("declare/kinds", {"c": F64, "new": F64, "a": F64})
        assert again.indices.tolist() == [c, c + 1, a]
        assert declared.topics[0] == "declare/kinds/a"


async def test_a_clash_shows_both_definitions(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await bus.declare("declare/clash", {"rpm": Parameter("f64", unit="1/min")})
        with pytest.raises(DeclareRefused, match=r"declare/clash/rpm.*f64.*1/min.*i32"):
            await bus.declare("declare/clash", {"fine": F64, "rpm": Parameter("i32")})
        assert "declare/clash/fine" not in await bus.table()


async def test_all_problems_of_a_declaration_are_told(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        with pytest.raises(DeclareRefused) as refused:
            await bus.declare("declare/many", {"a/#": F64, "b": F64, "c+": BOOL})
    names = [problem["name"] for problem in refused.value.problems]
    assert sorted(names) == ["declare/many/a/#", "declare/many/c+"]


async def test_samples_reach_a_plain_subscriber_as_text(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as plain:
        declared = await bus.declare("declare/plain", {"rpm": F64, "on": BOOL, "mode": MODE})
        async with plain.subscribe("declare/plain/#") as messages:
            declared.write({"rpm": 12034.5, "on": True, "mode": "failed"})
            found = {(one := await anext(messages)).topic: one.text for _ in range(3)}
    assert found == {
        "declare/plain/rpm": "12034.5",
        "declare/plain/on": "true",
        "declare/plain/mode": "failed",
    }


async def test_a_sample_keeps_its_time_and_its_quality(table_url: str) -> None:
    quality = Quality(Status.BAD, Reason.SENSOR_FAILED)
    time_ns = time.time_ns() - 5_000_000_123
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("declare/kept", {"rpm": F64})
        async with bus.select("declare/kept/#") as frames:
            declared.sample("rpm", 1.5, time_ns=time_ns, quality=quality)
            assert (await first(frames))["declare/kept/rpm"] == (1.5, time_ns, quality, None)


async def test_rows_are_arrays_in_the_order_of_declaration(table_url: str) -> None:
    asked = {"z": F64, "on": BOOL, "a": F64, "note": TEXT, "off": BOOL}
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("declare/rows", asked)
        async with bus.select("declare/rows/#") as frames:
            row = {"f64": np.array([1.5, 2.5]), "bool": [True, False], "text": ["grün"]}
            declared.write_row(row, time_ns=1_000)
            frame = await first(frames)
    assert [frame[name].value for name in declared.topics] == [1.5, True, 2.5, "grün", False]
    assert {frame[name].time_ns for name in declared.topics} == {1_000}


async def test_many_rows_arrive_with_all_their_times(table_url: str) -> None:
    count, rows = 100, 7
    names = [f"p{number}" for number in range(count)]
    times = 1_000 + np.arange(rows) * 10
    values = np.arange(count * rows, dtype=np.float64).reshape(rows, count)
    qualities = (np.arange(count * rows) % 3 * 64).astype(np.uint8).reshape(rows, count)
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("declare/grid", dict.fromkeys(names, F64))
        async with bus.select("declare/grid/#") as frames:
            declared.write_rows(values, times, quality=qualities)
            frame = await first(frames)
        for number, name in enumerate(declared.topics):
            found = frame.samples(name)
            assert found.times.tolist() == times.tolist()
            assert found.values.tolist() == values[:, number].tolist()
            assert found.qualities.tolist() == qualities[:, number].tolist()


async def test_what_cannot_be_written_is_told_where_it_is_written(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("declare/wrong", {"rpm": F64, "on": BOOL, "mode": MODE})
        with pytest.raises(KeyError, match="'speed' is not declared here"):
            declared.write({"speed": 1})
        with pytest.raises(slipring.FrameError):
            declared.write({"rpm": "fast"})
        with pytest.raises(ValueError, match="'half' is not one of the labels: off, on, failed"):
            declared.write({"mode": "half"})
        with pytest.raises(ValueError, match='a dict of arrays for "bool", "u8", "f64"'):
            declared.write_row([1.0])
        with pytest.raises(ValueError, match="nothing of this type is declared: i64"):
            declared.write_row({"i64": [1]})
        with pytest.raises(ValueError, match=r"shape \(2,\), not \(1,\)"):
            declared.write_row({"f64": [1.0, 2.0]})
        await declared.close()
        with pytest.raises(slipring.ConnectionLost, match="closed"):
            declared.write({"rpm": 1.0})


async def test_leaving_the_bus_sends_what_is_gathered(table_url: str) -> None:
    async with slipring.connect(table_url) as other, other.select("declare/left/#") as frames:
        async with slipring.connect(table_url) as bus:
            declared = await bus.declare("declare/left", {"rpm": F64}, beat_ms=10_000)
            declared.write({"rpm": 7.0})
        assert (await first(frames))["declare/left/rpm"].value == 7.0


async def test_flush_sends_at_once_and_waits_for_the_broker(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, bus.select("declare/flush/#") as frames:
        declared = await bus.declare("declare/flush", {"rpm": F64}, beat_ms=10_000, qos=1)
        declared.write({"rpm": 7.0})
        await asyncio.wait_for(declared.flush(), WAIT_S)
        assert declared.unsent_bytes == 0
        assert (await first(frames))["declare/flush/rpm"].value == 7.0


@pytest.mark.parametrize("qos", [0, 1])
async def test_samples_that_the_broker_refuses_are_told(
    table_url: str, caplog: pytest.LogCaptureFixture, qos: int
) -> None:
    tomorrow_ns = time.time_ns() + 86_400_000_000_000
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare(f"declare/refused/{qos}", {"rpm": F64}, qos=qos)
        refusals = await bus.refusals()
        with caplog.at_level(logging.WARNING):
            declared.write({"rpm": 1.0}, time_ns=tomorrow_ns)
            refusal = await asyncio.wait_for(anext(refusals), WAIT_S)
    assert refusal.topic == f"declare/refused/{qos}"
    assert refusal.count == 1
    assert "refused" in caplog.text
    assert refusal.message in caplog.text


async def test_what_is_removed_is_gone_and_comes_back_with_its_index(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("declare/removed", {"rpm": F64})
        await declared.remove()
        again = await bus.declare("declare/removed", {"rpm": F64})
        assert again.indices.tolist() == declared.indices.tolist()
        await again.remove()
        other = await bus.declare("declare/removed", {"rpm": TEXT})
        assert other.indices[0] != declared.indices[0]


async def test_more_than_fits_into_one_request_is_declared(table_url: str) -> None:
    described = Parameter("f64", description="d" * 900)
    asked = {f"p{number}": described for number in range(2_000)}
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("declare/large", asked)
        table = await bus.table()
        assert [table[topic].index for topic in declared.topics] == declared.indices.tolist()
        assert table["declare/large/p1999"].parameter == described


async def test_a_broker_that_starts_again_gives_the_same_indices_and_gets_the_samples(
    broker_of_its_own: TableBroker,
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus:
        declared = await bus.declare("declare/again", {"rpm": F64, "on": BOOL})
        before = declared.indices.tolist()
        broker_of_its_own.restart()
        async with bus.select("declare/again/#") as frames:
            declared.write({"rpm": 3.0})
            while (sample := (await first(frames)).get("declare/again/rpm")) is None:
                pass
            assert sample.value == 3.0
        assert declared.indices.tolist() == before


async def test_a_broker_that_has_forgotten_its_table_is_told_everything_again(
    broker_of_its_own: TableBroker,
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus:
        await bus.declare("declare/earlier", {f"p{number}": F64 for number in range(5)})
        declared = await bus.declare("declare/anew", {"rpm": F64})
        async with bus.select("declare/anew/#") as frames:
            declared.write({"rpm": 1.0})
            assert (await first(frames))["declare/anew/rpm"].value == 1.0
            broker_of_its_own.restart(empty=True)
            found = asyncio.create_task(first(frames))
            while not found.done():
                declared.write({"rpm": 2.0})  # what is of the table that is no more is dropped
                await asyncio.wait([found], timeout=0.05)
            assert (await found)["declare/anew/rpm"].value == 2.0
        assert declared.indices.tolist() == (await bus.table()).indices(declared.topics).tolist()
