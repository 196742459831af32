"""`slipring pub` and `slipring sub`, as a person runs them."""

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import slipring
from tests.cli.commands import SLIPRING, run
from tests.client.fake_broker import Peer, fake_broker
from tests.client.relay import relay_to


@asynccontextmanager
async def subscriber(
    bus: slipring.Bus, *arguments: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.StreamReader]]:
    """`slipring sub`, with the topic `ready` beside its own, once it has printed a message."""
    process = await asyncio.create_subprocess_exec(
        SLIPRING, "sub", "ready", *arguments, "--url", bus.url, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    first = asyncio.create_task(process.stdout.readline())
    while not first.done():
        await bus.publish("ready", "?")
        await asyncio.wait([first], timeout=0.05)
    yield process, process.stdout
    if process.returncode is None:
        process.kill()
    await process.wait()


async def line(out: asyncio.StreamReader) -> bytes:
    """The next line that is not about being ready."""
    while (found := await out.readline()).endswith(b"?\n"):
        pass
    return found


async def test_an_argument_is_published(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("cli/#") as messages:
        assert await run("pub", "cli/rpm", "12034.5", "--url", broker_url) == (0, b"", b"")
        assert await anext(messages) == slipring.Message("cli/rpm", b"12034.5")


async def test_each_line_of_the_input_is_a_message(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("cli/#") as messages:
        for extra in ((), ("-",)):
            await run("pub", "cli/log", *extra, "--url", broker_url, stdin=b"one\r\n\ntwo")
            payloads = [(await anext(messages)).payload for _ in range(3)]
            assert payloads == [b"one", b"", b"two"]


async def test_a_line_without_end_is_refused(broker_url: str) -> None:
    code, _, err = await run("pub", "cli/log", "--url", broker_url, stdin=bytes(17 << 20))
    assert code == 1
    assert b"over 16 MiB" in err


async def test_a_file_is_one_message(broker_url: str, tmp_path: Path) -> None:
    (tmp_path / "tile").write_bytes(b"\x00\xff\n" * 1000)
    async with slipring.connect(broker_url) as bus, bus.subscribe("cli/#") as messages:
        await run("pub", "cli/tile", "--file", str(tmp_path / "tile"), "--url", broker_url)
        assert (await anext(messages)).payload == b"\x00\xff\n" * 1000


async def test_messages_are_printed_as_they_come_and_ctrl_c_ends(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, subscriber(bus, "out/#") as (process, out):
        await bus.publish("out/a", "grün 1")
        assert await line(out) == "out/a grün 1\n".encode()
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0


async def test_control_characters_and_odd_bytes_are_printed_as_escapes(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, subscriber(bus, "out/#") as (_, out):
        await bus.publish("out/a", b"\x1b[31mred\r\n\xff\xe2\x80\xae")
        assert await line(out) == rb"out/a \x1b[31mred\r\n\xff\u202e" + b"\n"


async def test_json_has_one_object_on_each_line(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        subscriber(bus, "out/#", "--format", "json") as (_, out),
    ):
        await bus.publish("out/a", "1", properties={"unit": "m"})
        await bus.publish("out/b", b"\xff")
        found = json.loads(await _after_ready(out))
        assert found["properties"] == [["unit", "m"]]
        assert (found["topic"], found["payload"], found["retain"]) == ("out/a", "1", False)
        assert json.loads(await out.readline())["payload_base64"] == "/w=="


async def _after_ready(out: asyncio.StreamReader) -> bytes:
    while b'"ready"' in (found := await out.readline()):
        pass
    return found


async def test_payloads_can_be_printed_alone(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        subscriber(bus, "out/#", "--format", "payload") as (_, out),
    ):
        await bus.publish("out/a", b"\xff1")
        assert await line(out) == b"\xff1\n"


async def test_count_ends_after_so_many(broker_url: str) -> None:
    async with (
        slipring.connect(broker_url) as bus,
        subscriber(bus, "out/#", "--count", "200") as (process, out),
    ):
        for number in range(300):
            await bus.publish("out/a", number)
        rest = (await out.read()).splitlines()
        assert await process.wait() == 0
        assert len(rest) == 199


async def test_a_reader_that_goes_away_ends_it_quietly(broker_url: str) -> None:
    command = f"{SLIPRING} sub ready --url {broker_url} | head -n 1"
    process = await asyncio.create_subprocess_shell(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    ending = asyncio.create_task(process.communicate())
    async with slipring.connect(broker_url) as bus:
        while not ending.done():
            await bus.publish("ready", "?")
            await asyncio.wait([ending], timeout=0.05)
    assert await ending == (b"ready ?\n", b"")


async def test_an_error_is_one_clear_line() -> None:
    code, out, err = await run("pub", "a", "b", "--url", "mqtt://127.0.0.1:1")
    assert (code, out) == (1, b"")
    assert b"cannot connect to mqtt://127.0.0.1:1" in err
    assert err.count(b"\n") == 1


async def test_a_file_that_cannot_be_written_or_read_is_one_clear_line(
    broker_url: str, tmp_path: Path
) -> None:
    there = tmp_path / "nowhere" / "sound"
    code, _, err = await run("stream", "read", "a", "-o", str(there), "--url", broker_url)
    assert (code, err) == (1, f"slipring: {there}: No such file or directory\n".encode())
    code, _, err = await run("pub", "a", "--file", "/proc/self/mem", "--url", broker_url)
    assert (code, err) == (1, b"slipring: cannot read /proc/self/mem: Input/output error\n")


async def test_help_shows_an_example() -> None:
    for command in ("pub", "sub"):
        code, out, _ = await run(command, "--help")
        assert code == 0
        assert f"slipring {command} ".encode() in out


async def test_help_is_set_anew_for_the_width_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = await run("pub", "--help")
    assert b"A message that the broker refuses is an error, such as" in out


async def test_a_message_is_published_with_all_it_may_carry(broker_url: str) -> None:
    more = ("--qos", "1", "--retain", "--expiry", "3600", "--content-type", "text/plain")
    pairs = ("--property", "unit=m", "--property", "unit=ft", "--property", "note=a=b")
    async with slipring.connect(broker_url) as bus, bus.subscribe("cli/all", qos=2) as messages:
        shown = await run(
            "pub", *more, *pairs, "--response-topic", "b", "cli/all", "7", "--url", broker_url
        )
        assert shown == (0, b"", b"")
        message = await anext(messages)
        await bus.publish("cli/all", retain=True)
    assert message._replace(expiry_s=None, retain=False) == slipring.Message(
        "cli/all",
        b"7",
        properties=(("unit", "m"), ("unit", "ft"), ("note", "a=b")),
        qos=1,
        content_type="text/plain",
        response_topic="b",
    )
    assert message.expiry_s is not None


async def test_lines_are_published_at_qos_2(broker_url: str) -> None:
    text = b"".join(b"%d\n" % number for number in range(3000))
    async with slipring.connect(broker_url) as bus, bus.subscribe("cli/qos", qos=2) as messages:
        assert (await run("pub", "--qos", "2", "cli/qos", "--url", broker_url, stdin=text))[0] == 0
        numbers = [int((await anext(messages)).payload) for _ in range(3000)]
    assert numbers == list(range(3000))


async def test_a_message_the_broker_refuses_is_an_error() -> None:
    async def talk(peer: Peer) -> None:
        await peer.accept()
        body = await peer.expect(0x32)
        await peer.send(b"\x40\x03" + body[3:5] + b"\x97")
        await peer.reader.read()

    async with fake_broker(talk) as url:
        code, _, err = await run("pub", "--qos", "1", "a", "b", "--url", url)
    assert code == 1
    assert b"quota exceeded" in err
    assert err.count(b"\n") == 1


async def test_a_kept_session_prints_what_came_meanwhile_once(broker_url: str) -> None:
    ear = ("sub", "--qos", "1", "--client-id", "ear", "--session-expiry", "60", "--url", broker_url)
    async with slipring.connect(broker_url) as bus:
        await bus.publish("kept/0", 0, qos=1, retain=True)
        assert await run(*ear, "--count", "1", "kept/#") == (0, b"kept/0 0\n", b"")
        await bus.publish("kept/0", retain=True)
        await bus.publish_many([("kept/1", number) for number in range(5)])
        for lines in (b"kept/1 0\nkept/1 1\n", b"kept/1 2\nkept/1 3\nkept/1 4\n"):
            count = str(lines.count(b"\n"))
            assert await run(*ear, "--count", count, "kept/#") == (0, lines, b"")
    async with slipring.connect(broker_url, client_id="ear"):
        pass  # a new session in place of the old one


async def test_a_session_without_a_name_is_refused() -> None:
    code, _, err = await run("sub", "--session-expiry", "60", "a")
    assert code == 2
    assert b"--client-id" in err


async def test_a_property_without_a_value_is_refused() -> None:
    code, _, err = await run("pub", "--property", "unit", "a", "b")
    assert code == 2
    assert b"NAME=VALUE" in err


async def test_a_subscriber_comes_back_and_says_so(broker_url: str) -> None:
    async with relay_to(broker_url) as relay, slipring.connect(broker_url) as bus:
        process = await asyncio.create_subprocess_exec(
            SLIPRING, "sub", "ready", "--url", relay.url, stdout=-1, stderr=-1
        )
        assert process.stdout is not None
        assert process.stderr is not None
        for expected in (b"lost the connection", b"connected to"):
            reading = asyncio.create_task(process.stdout.readline())
            while not reading.done():
                await bus.publish("ready", "?")
                await asyncio.wait([reading], timeout=0.05)
            relay.cut()
            said = await process.stderr.readline()
            while expected not in said:
                said = await process.stderr.readline()
            assert said.startswith(b"slipring: ")
        process.kill()
        await process.wait()
