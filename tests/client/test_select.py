"""A selection gets what it chose, at its rate, the current values first (G8, P3, P4, P5)."""

import asyncio
import time
from typing import Any

import numpy as np
import pytest

import slipring
from slipring import Parameter, Quality, Reason, Status
from slipring.client.choice import ResolvedChoice
from slipring.client.desk import Desk
from tests.client.table_broker import TableBroker

F64, BOOL = Parameter("f64"), Parameter("bool")
WAIT_S = 60


async def first(frames: slipring.Selection) -> slipring.Frame:
    return await asyncio.wait_for(anext(frames), WAIT_S)


async def series(frames: slipring.Selection, name: str, last: float) -> list[object]:
    """All values of a parameter, until this one."""
    seen: list[object] = []
    while last not in seen:
        frame = await first(frames)
        if name in frame:
            seen += frame.samples(name).values.tolist()
    return seen


async def test_the_current_values_come_first(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        declared = await bus.declare("select/first", {"a": F64, "b": F64, "never": F64})
        declared.write({"a": 1.0, "b": 2.0}, time_ns=5)
        await declared.flush()
        async with other.select("select/first/#") as frames:
            frame = await first(frames)
    assert frame.names == ["select/first/a", "select/first/b"]
    assert frame["select/first/b"] == (2.0, 5, Quality(), None)


async def test_without_a_rate_every_sample_comes_in_its_order(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/every", {"a": F64}, beat_ms=0)
        async with bus.select("select/every/a", beat_ms=0) as frames:
            for number in range(500):
                declared.sample("a", float(number))
            assert await series(frames, "select/every/a", 499.0) == list(range(500))


async def test_with_a_rate_the_newest_wins(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/rate", {"a": F64, "b": F64}, beat_ms=0)
        async with bus.select("select/rate/#", rate_hz=5) as frames:
            for number in range(500):
                declared.sample("a", float(number))
            seen = await series(frames, "select/rate/a", 499.0)
    assert len(seen) < 50
    assert seen == sorted(seen, key=float)  # type: ignore[arg-type]


async def test_a_deadband_holds_back_what_hardly_moved(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/band", {"a": F64})
        async with bus.select("select/band/a", deadband=0.5) as frames:
            times = time.time_ns() + np.arange(5)
            declared.write_rows([[1.0], [1.2], [1.4], [1.6], [9.0]], times)
            assert await series(frames, "select/band/a", 9.0) == [1.0, 1.6, 9.0]


async def test_a_deadband_may_be_a_part_of_the_value(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/percent", {"a": F64})
        async with bus.select("select/percent/a", deadband="10%") as frames:
            times = time.time_ns() + np.arange(4)
            declared.write_rows([[100.0], [105.0], [111.0], [900.0]], times)
            assert await series(frames, "select/percent/a", 900.0) == [100.0, 111.0, 900.0]


async def test_change_holds_back_what_is_as_it_was(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/change", {"on": BOOL, "end": F64})
        async with bus.select("select/change/#", change=True) as frames:
            times = time.time_ns() + np.arange(5)
            states = [[True], [True], [False], [False], [True]]
            declared.write_rows({"bool": states, "f64": [[1], [1], [1], [1], [2]]}, times)
            frame = await first(frames)
    assert frame.samples("select/change/on").values.tolist() == [True, False, True]
    assert frame.samples("select/change/end").values.tolist() == [1.0, 2.0]


async def test_names_that_are_not_there_are_told_and_come_when_they_are(table_url: str) -> None:
    names = ["select/names/a", "select/names/later", "select/names/a"]
    async with slipring.connect(table_url) as bus, slipring.connect(table_url) as other:
        await bus.declare("select/names", {"a": F64, "unwanted": F64})
        async with other.select(names=names) as frames:
            assert list(frames.missing) == ["select/names/later"]
            assert "no parameter" in frames.missing["select/names/later"]
            later = await bus.declare("select/names", {"later": BOOL, "unwanted": F64})
            later.write({"later": True, "unwanted": 1.0})
            frame = await first(frames)
            assert frame.names == ["select/names/later"]
            assert frames.missing == {}


async def test_a_name_that_comes_while_another_one_is_being_chosen_comes_too(
    table_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["select/while/a", "select/while/b"]
    async with (
        slipring.connect(table_url) as bus,
        slipring.connect(table_url) as other,
        other.select(names=names) as frames,
    ):
        resolve, told = frames._choice.resolve, other._table_desk().mirror.changes()

        async def resolve_late(desk: Desk[Any]) -> ResolvedChoice:
            """The broker's answer is older than what the table knows by then."""
            chosen = await resolve(desk)
            if "select/while/b" in chosen.missing:
                declared = await bus.declare("select/while", {"b": F64})
                declared.write({"b": 2.0})
                while "select/while/b" not in (await anext(told)).names:
                    pass
            return chosen

        monkeypatch.setattr(frames._choice, "resolve", resolve_late)
        await bus.declare("select/while", {"a": F64})
        assert (await first(frames)).names == ["select/while/b"]


@pytest.mark.parametrize("by_name", [False, True])
async def test_the_same_is_chosen_twice_with_other_needs(table_url: str, by_name: bool) -> None:
    prefix = f"select/same/{by_name}"
    name = f"{prefix}/a"
    chosen, names = ((), [name]) if by_name else ((f"{prefix}/#",), None)
    async with slipring.connect(table_url) as bus, bus.subscribe(f"{prefix}/#") as plain:
        declared = await bus.declare(prefix, {"a": F64}, beat_ms=0)
        async with (
            bus.select(*chosen, names=names, beat_ms=0) as alarm,
            bus.select(*chosen, names=names, rate_hz=2) as plot,
        ):
            for number in range(300):
                declared.sample("a", float(number))
            assert await series(alarm, name, 299.0) == list(range(300))
            assert len(await series(plot, name, 299.0)) < 100
        async with bus.select(*chosen, names=names, rate_hz=1) as again:
            assert (await first(again))[name].value == 299.0
        assert (await anext(plain)).text == "0.0"


async def test_frames_of_two_selections_on_one_bus_do_not_mix(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/two", {"a": F64, "b": F64})
        async with (
            bus.select("select/two/a") as one,
            bus.select("select/two/#") as both,
            bus.subscribe("select/two/+") as plain,
        ):
            declared.write({"a": 1.0, "b": 2.0})
            assert (await first(one)).names == ["select/two/a"]
            assert (await first(both)).names == ["select/two/a", "select/two/b"]
            texts = [(await anext(plain)).text for _ in range(2)]
    assert sorted(texts) == ["1.0", "2.0"]


async def test_what_a_broker_cannot_do_is_refused_with_its_words(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        with pytest.raises(slipring.Refused, match="rate"):
            async with bus.select("select/#", rate_hz=5000):
                pass
        with pytest.raises(ValueError, match="by filters, or by names"):
            bus.select()


async def test_closing_ends_who_iterates(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        selection = bus.select("select/closed/#")
        with pytest.raises(RuntimeError, match="async with"):
            await anext(selection)
        async with selection as frames:
            reading = asyncio.create_task(_all(frames))
            await asyncio.sleep(0)
            frames.close()
            assert await asyncio.wait_for(reading, WAIT_S) == 0


async def _all(frames: slipring.Selection) -> int:
    return len([frame async for frame in frames])


async def test_frames_come_in_lists_that_can_be_joined(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/lists", {"a": F64}, beat_ms=0)
        seen: list[float] = []
        async with bus.select("select/lists/a", beat_ms=0) as selection:
            for number in range(100):
                declared.sample("a", float(number))
            async for frames in selection.frames():
                seen += slipring.Frame.joined(frames).samples("select/lists/a").values.tolist()
                if 99.0 in seen:
                    break
    assert seen == list(range(100))


async def test_a_publisher_that_goes_leaves_stale_values(table_url: str) -> None:
    async with slipring.connect(table_url) as other, other.select("select/gone/#") as frames:
        async with slipring.connect(table_url) as bus:
            declared = await bus.declare("select/gone", {"a": F64})
            declared.write({"a": 4.0})
            await declared.flush()
        sample = (await first(frames))["select/gone/a"]
        while sample.quality.is_good:
            sample = (await first(frames))["select/gone/a"]
    assert (sample.value, sample.quality) == (4.0, (Status.STALE, Reason.PUBLISHER_GONE))


async def test_a_parameter_that_is_silent_goes_stale_and_is_fresh_again(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, bus.select("select/silent/#") as frames:
        declared = await bus.declare("select/silent", {"a": Parameter("f64", rate_hz=50)})
        declared.write({"a": 4.0})
        statuses: list[Quality] = []
        while len(statuses) < 3:
            frame = await first(frames)
            statuses += [
                Quality.of_byte(one) for one in frame.samples("select/silent/a").qualities.tolist()
            ]
            if len(statuses) == 2:
                declared.write({"a": 4.0})
    assert statuses[:3] == [Quality(), (Status.STALE, Reason.SILENT), Quality()]


async def test_a_selection_by_names_goes_on_when_the_broker_has_started_again(
    broker_of_its_own: TableBroker,
) -> None:
    async with slipring.connect(broker_of_its_own.url) as bus:
        declared = await bus.declare("select/again", {"a": F64, "b": F64})
        async with bus.select(names=["select/again/b"]) as frames:
            declared.write({"a": 1.0, "b": 2.0})
            assert (await first(frames)).names == ["select/again/b"]
            for value, empty in ((3.0, False), (4.0, True)):
                broker_of_its_own.restart(empty=empty)
                found = asyncio.create_task(_good(frames, "select/again/b", value))
                while not found.done():
                    declared.write({"a": 1.0, "b": value})
                    await asyncio.wait([found], timeout=0.05)
                await found


async def _good(frames: slipring.Selection, name: str, value: float) -> None:
    """Reads on to this value, which is none of before the restart."""
    while True:
        frame = await first(frames)
        assert frame.names == [name]
        if frame[name].value == value and frame[name].quality.is_good:
            return


async def test_the_current_samples_are_asked_for_once(table_url: str) -> None:
    mode = Parameter("enum", labels={0: "off", 1: "on"})
    asked = {"a": F64, "mode": mode, "raw": Parameter("bytes"), "never": F64}
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("select/current", asked)
        quality = Quality(Status.UNCERTAIN, 40)
        values: dict[str, float | str | bytes] = {"a": float("inf"), "mode": "on", "raw": b"\xff"}
        declared.write(values, time_ns=7, quality=quality)
        await declared.flush()
        found = await bus.current("select/current/#")
        assert found == {
            "select/current/a": (float("inf"), 7, quality, None),
            "select/current/mode": (1, 7, quality, "on"),
            "select/current/raw": (b"\xff", 7, quality, None),
        }
        some = await bus.current(["select/current/mode", "select/current/none"])
        assert list(some) == ["select/current/mode"]


async def test_only_the_names_that_are_chosen_are_asked_for(table_url: str) -> None:
    many = {f"p{number:03}": F64 for number in range(300)}
    names = ["narrow/a/p000", "narrow/a/p001", "narrow/a/p200", "narrow/b/p299", "narrow/c/late"]
    async with slipring.connect(table_url) as writer, slipring.connect(table_url) as bus:
        for prefix in ("narrow/a", "narrow/b"):
            declared = await writer.declare(prefix, many)
            declared.write_row(np.arange(300.0))
            await declared.flush()
        async with bus.select(names=names, beat_ms=0) as frames:
            newest, frame = slipring.Newest(names[:4]), await first(frames)
            newest.update(frame)
            while not newest.is_complete:
                newest.update(frame := await first(frames))
            assert newest.values.tolist() == [0.0, 1.0, 200.0, 299.0]
            assert list(frame.table) == names[:4]
            late = await writer.declare("narrow/c", {"early": F64, "late": F64, "later": F64})
            late.write({"early": 1.0, "late": 2.0, "later": 3.0})
            while names[4] not in frame:
                frame = await first(frames)
            assert set(frame) <= set(names)
            assert list(frame.table) == names
            assert (await bus.newest("narrow/b/p007")).value == 7.0
            assert len(frame.table) == 6
