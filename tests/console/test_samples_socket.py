"""What comes in, over the WebSocket /api/samples, from a real broker."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

import slipring
from slipring import Parameter
from tests.console.test_login import PASSWORD, USERS
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

Json = dict[str, Any]
PLANE = {"egt": Parameter("f64"), "mode": Parameter("enum", labels={0: "off", 1: "run"})}
PLANE |= {"note": Parameter("text")}


def watch(broker: RunningBroker, **headers: str) -> connect:
    url = broker.console.replace("http", "ws") + "/api/samples"
    return connect(url, additional_headers=headers, open_timeout=PATIENCE_S, max_size=None)


async def ask(page: ClientConnection, *names: str, step_ms: float = 50) -> Json:
    """Ask, and read until the answer to that comes."""
    await page.send(json.dumps({"names": names, "step_ms": step_ms}))
    async for text in page:
        told: Json = json.loads(text)
        if ("left_out" in told and told["step_ms"] != 25) or not names:
            return told
    raise AssertionError("the console closed the connection")


async def until(page: ClientConnection, name: str, value: Any) -> Json:
    """Read until a bucket of this parameter ends with this value."""
    async for text in page:
        for series in json.loads(text)["series"]:
            if series["name"] == name and series["last"][-1:] == [value]:
                return dict(series)
    raise AssertionError("the console closed the connection")


@pytest.fixture(scope="module", params=["#", "nothing/at/all"])
def broker_(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[RunningBroker]:
    """One that journals everything, and one that journals nothing of this."""
    config = f'[journal]\ntopics = ["{request.param}"]\n'
    with broker_in(tmp_path_factory.mktemp("samples"), config=config) as running:
        yield running


async def test_a_page_is_sent_what_comes_in_journaled_or_not(broker_: RunningBroker) -> None:
    async with slipring.connect(broker_.url) as bus, watch(broker_) as page:
        plane = await bus.declare("plane", PLANE, qos=1)
        told = await ask(page, "plane/egt", "plane/mode", "plane/note", "absent")
        assert told["left_out"] == ["absent"]
        for value, mode in ((1.5, "run"), (2.5, "off"), (-3.0, "run")):
            plane.write({"egt": value, "mode": mode, "note": f"is {mode}"})
            await plane.flush()
            found = await until(page, "plane/egt", value)
            assert found["min"][-1] <= value <= found["max"][-1]
            assert found["t"][-1] % 50 == 0
            assert found["t"][-1] == pytest.approx(time.time() * 1e3, abs=PATIENCE_S * 1e3)
        plane.write({"mode": "off", "note": "last"})
        await plane.flush()
        async with asyncio.TaskGroup() as group:
            group.create_task(until(page, "plane/note", "last"))


async def test_a_page_that_begins_has_the_seconds_before_from_the_journal(
    tmp_path: Path,
) -> None:
    with broker_in(tmp_path) as running:
        async with slipring.connect(running.url) as bus:
            plane = await bus.declare("plane", PLANE, qos=1)
            now_ns = time.time_ns()
            for number in range(20):
                at_ns = now_ns - (20 - number) * 10**8
                plane.write({"egt": float(number)}, time_ns=at_ns)
            await plane.flush()
            async with watch(running) as page:
                await page.send(json.dumps({"names": ["plane/egt"], "step_ms": 100}))
                found = await until(page, "plane/egt", 19.0)
                assert found["last"][-10:] == [float(number) for number in range(10, 20)]


async def test_pages_with_the_same_names_share_what_is_sent(broker_: RunningBroker) -> None:
    async with slipring.connect(broker_.url) as bus:
        plane = await bus.declare("shared", PLANE, qos=1)
        async with watch(broker_) as one, watch(broker_) as other:
            for page in (one, other):
                await ask(page, "shared/egt")
            plane.write({"egt": 7.0})
            await plane.flush()
            found = [await until(page, "shared/egt", 7.0) for page in (one, other)]
            assert found[0]["t"][-1] == found[1]["t"][-1]
            await one.send(json.dumps({"names": [], "step_ms": 50}))
            plane.write({"egt": 8.0})
            await plane.flush()
            await until(other, "shared/egt", 8.0)


async def read_on(page: ClientConnection) -> None:
    while True:
        await page.recv()


HOSTILE = (
    "", "[]", "1", "null", '"a"', "{}", '{"names": 5}', '{"names": ["#"]}', '{"names": [5]}',
    '{"names": [], "step_ms": 0}', '{"names": [], "step_ms": NaN}', '{"names": [], "step_ms": 1e9}',
    '{"names": [], "step_ms": "5"}', '{"names": [], "step_ms": true}', '{"names": ["a\\ud800"]}',
    json.dumps({"names": [f"p{one}" for one in range(129)]}), "[" * 5_000,
)  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_message_that_is_not_understood_closes_the_page(
    shared_broker: RunningBroker, text: str
) -> None:
    async with watch(shared_broker) as page:
        await page.send(text)
        with pytest.raises(ConnectionClosed) as ended:
            await asyncio.wait_for(read_on(page), PATIENCE_S)
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 1003
    assert "step_ms" in ended.value.rcvd.reason


async def test_names_that_no_object_may_have_do_no_harm(shared_broker: RunningBroker) -> None:
    async with watch(shared_broker) as page:
        told = await ask(page, "__proto__", "constructor", "toString")
        assert told["left_out"] == ["__proto__", "constructor", "toString"]


async def test_other_origins_get_nothing(shared_broker: RunningBroker) -> None:
    with pytest.raises(Exception, match="403"):
        async with watch(shared_broker, Origin="http://evil.example"):
            pass


async def test_who_may_not_watch_a_parameter_is_sent_nothing_of_it(tmp_path: Path) -> None:
    with broker_in(tmp_path, config=USERS) as running:
        request = httpx.Request("GET", running.console)
        flow = httpx.BasicAuth("narrow", PASSWORD).auth_flow(request)
        authorization = next(flow).headers["authorization"]
        async with slipring.connect(running.url, user="anna", password=PASSWORD) as bus:
            own, other = [await bus.declare(one, PLANE, qos=1) for one in ("own", "other")]
            async with watch(running, Authorization=authorization) as page:
                told = await ask(page, "own/egt", "other/egt")
                assert told["left_out"] == ["other/egt"]
                for value in (1.0, 2.0):
                    for declared in (other, own):
                        declared.write({"egt": value})
                        await declared.flush()
                async for text in page:
                    named = {one["name"]: one for one in json.loads(text)["series"]}
                    assert set(named) <= {"own/egt"}
                    if named and named["own/egt"]["last"][-1] == 2.0:
                        break


async def test_a_parameter_that_is_declared_anew_as_text_takes_nothing_from_other_pages(
    shared_broker: RunningBroker,
) -> None:
    number, other = {"egt": Parameter("f64")}, {"rpm": Parameter("f64")}
    async with slipring.connect(shared_broker.url) as bus, watch(shared_broker) as page:
        plane = await bus.declare("anew", number, qos=1)
        engine = await bus.declare("beside", other, qos=1)
        async with watch(shared_broker) as elsewhere:
            await ask(page, "anew/egt")
            await ask(elsewhere, "beside/rpm")
            await plane.remove()
            plane = await bus.declare("anew", {"egt": Parameter("text")}, qos=1)
            plane.write({"egt": "hot"})
            await plane.flush()
            for value in (1.0, 2.0, 3.0):
                engine.write({"rpm": value})
                await engine.flush()
                await asyncio.wait_for(until(elsewhere, "beside/rpm", value), PATIENCE_S)


async def test_a_text_does_not_come_again_as_a_new_one_when_its_publisher_goes(
    shared_broker: RunningBroker,
) -> None:
    async with watch(shared_broker) as page, slipring.connect(shared_broker.url) as stays:
        beside = await stays.declare("stays", {"note": Parameter("text")}, qos=1)
        async with slipring.connect(shared_broker.url) as goes:
            plane = await goes.declare("goes", {"note": Parameter("text")}, qos=1)
            plane.write({"note": "hello"}, time_ns=10**18)
            await plane.flush()
            await ask(page, "goes/note", "stays/note")
            await until(page, "goes/note", "hello")
        values = f"{shared_broker.console}/api/values?name=goes/note"
        while '"stale"' not in (await asyncio.to_thread(httpx.get, values)).text:
            pass
        beside.write({"note": "later"})
        await beside.flush()
        times: set[float] = set()
        async for text in page:
            series = {one["name"]: one for one in json.loads(text)["series"]}
            times.update(series.get("goes/note", {"t": []})["t"])
            if series.get("stays/note", {"last": []})["last"] == ["later"]:
                break
        assert times <= {1e12}
