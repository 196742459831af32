"""`-` is standard input where a file is read, and standard output where one is written."""

import json
from pathlib import Path

import pytest

import slipring
from tests.cli.commands import run
from tests.running_broker import RunningBroker

CSV = b"name,type,unit\nrpm,f64,1/min\negt,f64,Cel\n"


async def test_a_dictionary_is_read_from_standard_input(shared_broker: RunningBroker) -> None:
    code, out, _ = await run("dictionary", "check", "-", stdin=CSV)
    assert (code, out) == (0, b"-: 2 parameters\n")
    code, _, err = await run("dictionary", "check", "-", stdin=b"name,type\nrpm,f65\n")
    assert (code, err) == (1, b"")
    url = shared_broker.url
    assert (await run("declare", "-", "--prefix", "piped", "--url", url, stdin=CSV))[0] == 0
    async with slipring.connect(url) as bus:
        assert {entry.name for entry in (await bus.table()).matching("piped/#")} == {
            "piped/rpm",
            "piped/egt",
        }


async def test_a_question_to_the_lake_is_read_from_standard_input(tmp_path: Path) -> None:
    asked = ("query", "-", "--lake", str(tmp_path), "--format", "csv", "--output", "-")
    assert await run(*asked, stdin=b"SELECT 1 AS one") == (0, b'"one"\n1\n', b"")


async def test_names_of_parameters_are_read_from_standard_input(
    shared_broker: RunningBroker,
) -> None:
    async with slipring.connect(shared_broker.url) as bus:
        engine = await bus.declare("named", {"rpm": "f64", "egt": "f64"})
        engine.write({"rpm": 12034.5, "egt": 700.0})
        await engine.flush()
    data = str(shared_broker.data)
    code, out, err = await run(
        "export", data, "-", "--format", "csv", "--names", "-", stdin=b"named/rpm\n\n"
    )
    assert (code, out.splitlines()[0]) == (0, b"time,named/rpm"), err


async def test_a_stream_is_written_to_standard_output(shared_broker: RunningBroker) -> None:
    async with slipring.connect(shared_broker.url) as bus:
        writer = await bus.declare_stream("piped/sound", media="audio/pcm", qos=1)
        await writer.write(b"\x00\xff")
        asked = ("stream", "read", "piped/sound", "-o", "-", "--count", "1")
        assert await run(*asked, "--url", shared_broker.url) == (0, b"\x00\xff", b"")


async def test_the_environment_names_the_broker_and_its_console(
    shared_broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPRING_URL", shared_broker.url)
    monkeypatch.setenv("SLIPRING_CONSOLE", shared_broker.console)
    code, out, _ = await run("ping", "--count", "1", "--json")
    assert (code, json.loads(out)["url"]) == (0, shared_broker.url)
    code, out, _ = await run("status", "--json")
    address = f"{shared_broker.host}:{shared_broker.port}"
    assert (code, json.loads(out)["broker"]["mqtt"]) == (0, address)
    assert (await run("sessions", "list", "--url", shared_broker.console))[0] == 0
