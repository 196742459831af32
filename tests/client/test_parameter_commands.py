"""`slipring table`, and `slipring sub` where it chooses parameters, as a person runs them."""

import asyncio
import json
import os
import pty
import signal
import time

import slipring
from slipring import Parameter, Quality, Reason, Status
from tests.client.test_command_line import SLIPRING, run

F64 = Parameter("f64", unit="1/min", description="Speed of the shaft")
MODE = Parameter("enum", labels={0: "off", 1: "on"})


async def declared(bus: slipring.Bus, prefix: str) -> slipring.Declared:
    """Three parameters; one has no sample."""
    made = await bus.declare(prefix, {"rpm": F64, "mode": MODE, "never": Parameter("text")})
    made.write({"rpm": 12034.5})
    made.write({"mode": "on"}, quality=Quality(Status.BAD, Reason.SENSOR_FAILED))
    await made.flush()
    return made


async def test_the_table_is_shown_with_values_and_ages(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/all")
        code, out, err = await run("table", "show/all/#", "--url", table_url)
    assert (code, err) == (0, b"")
    heads, *rows, empty, count = out.decode().splitlines()
    assert heads.split() == ["name", "type", "value", "unit", "quality", "age", "description"]
    shown = {words[0]: words[1:] for words in (row.split() for row in rows)}
    assert shown["show/all/rpm"][:4] == ["f64", "12034.5", "1/min", "good"]
    assert shown["show/all/mode"][:4] == ["enum", "on", "bad", "(sensor-failed)"]
    assert shown["show/all/never"] == ["text", "no", "sample"]
    assert (empty, count) == ("", "3 parameters")


async def test_parameters_are_searched_by_name_and_description(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/search")
        for word, name in (("SHAFT", "rpm"), ("mod", "mode")):
            _, out, _ = await run("table", "show/search/#", "--search", word, "--url", table_url)
            assert f"show/search/{name}" in out.decode()
            assert out.endswith(b"\n1 parameter\n")


async def test_the_table_is_printed_as_json(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        made = await declared(bus, "show/json")
        _, out, _ = await run("table", "show/json/#", "--json", "--url", table_url)
    rows = {row["name"]: row for row in map(json.loads, out.splitlines())}
    assert rows["show/json/rpm"]["index"] == made.indices[0]
    assert rows["show/json/rpm"]["value"] == 12034.5
    assert rows["show/json/mode"]["label"] == "on"
    assert rows["show/json/mode"]["why"] == "sensor-failed"
    assert "value" not in rows["show/json/never"]


async def test_the_table_is_watched_until_ctrl_c(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        made = await declared(bus, "show/watch")
        screen, terminal = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(SLIPRING, "table", "show/watch/#", "--watch", "--url", table_url),
            stdout=terminal,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "40"},
        )
        os.close(terminal)
        try:
            await asyncio.to_thread(_until, screen, b"12034.5")
            made.write({"rpm": 777.25})
            await asyncio.to_thread(_until, screen, b"777.25")
        finally:
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0
            os.close(screen)


def _until(screen: int, words: bytes) -> None:
    seen = b""
    while words not in seen:
        seen = seen[-1000:] + os.read(screen, 1000)


async def test_watching_needs_a_terminal(table_url: str) -> None:
    code, _, err = await run("table", "--watch", "--url", table_url)
    assert code == 2
    assert b"needs a terminal" in err


async def test_samples_are_printed_in_each_form(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/sub")
        chosen = ("sub", "show/sub/#", "--count", "2", "--url", table_url)
        for form in ("frame", "text"):
            code, out, err = await run(*chosen, "--deliver", form)
            assert (code, err) == (0, b"")
            lines = sorted(out.decode().splitlines())
            assert lines[0].startswith("show/sub/mode on")
            assert lines[1] == "show/sub/rpm 12034.5"
        _, out, _ = await run(*chosen, "--deliver", "json", "--format", "payload")
        values = {json.loads(line)["value"] for line in out.splitlines()}
        assert values == {12034.5, "on"}
        _, out, _ = await run(*chosen, "--deliver", "frame", "--format", "json")
        rows = {row["name"]: row for row in map(json.loads, out.splitlines())}
        assert rows["show/sub/mode"]["quality"] == "bad"
        assert rows["show/sub/rpm"]["time"] <= time.time_ns()


async def test_needs_choose_parameters_only(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await bus.publish("show/plain/text", "no parameter", retain=True, qos=1)
        made = await bus.declare("show/plain", {"a": Parameter("f64")})
        made.write({"a": 1.0})
        await made.flush()
        options = ("--rate", "10", "--deadband", "2%", "--change", "--count", "1")
        code, out, _ = await run("sub", "show/plain/#", *options, "--url", table_url)
        assert (code, out) == (0, b"show/plain/a 1.0\n")
        await bus.publish("show/plain/text", "", retain=True, qos=1)


async def test_a_need_that_cannot_be_is_one_clear_line(table_url: str) -> None:
    code, _, err = await run("sub", "a/#", "--rate", "0", "--url", table_url)
    assert code == 1
    assert b"rate" in err
    assert err.count(b"\n") == 1
