"""`slipring table`, and `slipring sub` where it chooses parameters, as a person runs them."""

import asyncio
import json
import os
import pty
import re
import signal
import time

import slipring
from slipring import AlarmLimits, Parameter, Quality, Reason, Status
from tests.cli.commands import SLIPRING, run

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
    assert heads.split() == ["name", "type", "value", "unit", "state", "age", "description"]
    shown = {words[0]: words[1:] for words in (row.split() for row in rows)}
    assert shown["show/all/rpm"][:4] == ["f64", "12034.5", "1/min", "good"]
    assert shown["show/all/mode"][:4] == ["enum", "on", "bad", "(sensor-failed)"]
    assert shown["show/all/never"] == ["text", "no", "sample"]
    assert (empty, count) == ("", "3 parameters")
    assert list(shown) == sorted(shown)


async def test_a_whole_name_tells_all_about_one_parameter(table_url: str) -> None:
    limits = AlarmLimits(low=100, high_critical=1_234_567)
    rpm = Parameter("f64", unit="1/min", range=(0, 2e6), limits=limits, rate_hz=0.001, source="N1")
    async with slipring.connect(table_url) as bus:
        made = await bus.declare("show/one", {"rpm": rpm, "rpm2": rpm})
        made.write({"rpm": 1_234_568.0}, time_ns=1_700_000_000_123_456_789)
        await made.flush()
        code, out, err = await run("table", "show/one/rpm", "--url", table_url)
        _, row, _ = await run("table", "show/one/rpm", "--json", "--url", table_url)
    assert (code, err) == (0, b"")
    told = dict(line.split(maxsplit=1) for line in out.decode().splitlines())
    assert told["value"].split() == ["1234568.0", "1/min"]
    assert "above the critical limit of 1234567 1/min" in told["state"]
    assert told["time"].startswith("2023-11-14T22:13:20.123Z, ")
    assert told["limits"].strip() == "low 100, high critical 1234567"
    assert told["range"].strip() == "0 to 2000000"
    assert json.loads(row)["alarm"] == "critical"


async def test_a_name_that_is_mistyped_is_an_error_that_says_the_right_one(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/typo")
        for name in ("show/typo/rmp", "show/tipo/rpm"):
            code, out, err = await run("table", name, "--url", table_url)
            assert (code, out) == (1, b"")
            assert b"did you mean 'show/typo/rpm'?" in err
        code, out, err = await run("table", "show/typo/#", "nowhere/at/all", "--url", table_url)
        assert (code, out) == (1, b"")
        assert b"has no parameter 'nowhere/at/all'; `slipring table` lists them all" in err


async def test_a_filter_that_matches_nothing_says_so_beside_the_output(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/nothing")
    code, out, err = await run("table", "nowhere/#", "--url", table_url)
    assert (code, out) == (0, b"")
    assert re.match(rb"no parameters match; `slipring table` lists all [0-9]+", err)
    code, out, err = await run("stream", "list", "nowhere/#", "--url", table_url)
    assert (code, out, err) == (0, b"", b"no streams match\n")


async def test_streams_are_listed_as_json(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await bus.declare_stream("show/sound", media="audio/pcm;rate=48000")
        code, out, _ = await run("stream", "list", "show/#", "--json", "--url", table_url)
    row = json.loads(out)
    assert (code, row["name"], row["live"]) == (0, "show/sound", True)


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
            env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "LINES": "5"},
        )
        os.close(terminal)
        try:
            await asyncio.to_thread(_until, screen, b"3 parameters, 1 of them not in view")
            made.write({"mode": "off"})
            await asyncio.to_thread(_until, screen, b"off")
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


async def test_the_command_reports_arrivals_if_it_is_asked_to(table_url: str) -> None:
    """P's table 6: a selection at a rate, in frames, has a wish to compare with."""
    async with slipring.connect(table_url) as bus, bus.subscribe("slipring/arrivals") as messages:
        await declared(bus, "show/arrivals")
        chosen = ("sub", "show/arrivals/#", "--count", "1", "--url", table_url)
        options = ("--deliver", "frame", "--rate", "10", "--report-arrivals", "60")
        code, _, err = await run(*chosen, *options)
        assert (code, err) == (0, b"")
        (found,) = json.loads((await anext(messages)).payload)["subscriptions"]
        assert (found["subscription"], found["wish_ns"]) == ("show/arrivals/#", 100_000_000)
    for wrong in (("--rate", "10"), ("--deliver", "frame"), ("--deliver", "frame", "--rate", "1")):
        seconds = "0" if len(wrong) > 2 else "60"
        code, _, err = await run(*chosen, *wrong, "--report-arrivals", seconds)
        assert code == 2
        assert b"--report-arrivals is seconds" in err


async def test_who_waits_for_nothing_is_told_so_on_a_terminal(table_url: str) -> None:
    screen, terminal = pty.openpty()
    for options in ((), ("--rate", "1", "--deliver", "frame")):
        process = await asyncio.create_subprocess_exec(
            *(SLIPRING, "sub", "nowhere", *options, "--url", table_url), stderr=terminal
        )
        await asyncio.to_thread(_until, screen, b"nothing has come yet for 'nowhere'")
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
    os.close(terminal)
    os.close(screen)


async def test_a_value_that_is_none_of_its_parameter_is_an_error_to_who_publishes_it(
    table_url: str,
) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/pub")
        code, _, err = await run("pub", "show/pub/rpm", "fast", "--url", table_url)
        assert code == 1
        assert b"refused the message: payload format invalid" in err
        assert b"show/pub/rpm is declared as f64" in err
        assert err.count(b"\n") == 1
        code, _, err = await run("pub", "show/pub/rpm", "--url", table_url, stdin=b"1\n2\nfast\n")
        assert code == 1
        assert b"refused message number 3: " in err
        assert (await bus.newest("show/pub/rpm")).value == 2.0


async def test_text_that_is_not_good_is_printed_with_its_quality_as_frames_are(
    table_url: str,
) -> None:
    async with slipring.connect(table_url) as bus:
        await declared(bus, "show/quality")
        chosen = ("sub", "show/quality/#", "--count", "2", "--url", table_url)
        for needs in (("--rate", "10"), ("--deliver", "frame")):
            _, out, _ = await run(*chosen, *needs)
            lines = sorted(out.decode().splitlines())
            assert lines == [
                "show/quality/mode on [bad (sensor-failed)]",
                "show/quality/rpm 12034.5",
            ]
        _, out, _ = await run(*chosen, "--rate", "10", "--format", "payload")
        assert sorted(out.split()) == [b"12034.5", b"on"]


async def test_who_is_to_type_messages_is_told_so_on_a_terminal(table_url: str) -> None:
    screen, terminal = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        *(SLIPRING, "pub", "show/typed", "--url", table_url), stdin=terminal, stderr=terminal
    )
    await asyncio.to_thread(_until, screen, b"each line is a message; Ctrl-D ends")
    process.send_signal(signal.SIGINT)
    await process.wait()
    os.close(terminal)
    os.close(screen)
