"""`slipring stream`, as a person runs it: bytes go in at one end and come out at the other."""

import asyncio
import signal
import subprocess
from pathlib import Path

import slipring
from tests.cli.commands import SLIPRING, run

WAIT_S = 60
PCM = "audio/pcm;rate=48000"


async def test_standard_input_is_written_in_chunks_and_read_to_a_file(
    table_url: str, tmp_path: Path
) -> None:
    name, sound, at = "command/sound", bytes(range(256)) * 20, ("--url", table_url)
    given = ("--media", PCM, "--chunk-bytes", "1000", "--description", "the cockpit")
    assert await run("stream", "write", name, *given, *at, stdin=sound) == (0, b"", b"")
    code, listed, _ = await run("stream", "list", "command/#", *at)
    assert code == 0
    assert all(word in listed for word in (name.encode(), PCM.encode(), b"the cockpit", b"no"))
    file = tmp_path / "sound.pcm"
    chosen = ("command/+", "--count", "6", "-o", str(file))
    assert await run("stream", "read", *chosen, *at) == (0, b"", b"")
    assert file.read_bytes() == sound


async def test_reading_ends_with_ctrl_c_and_has_written_all_that_came(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        writer = await bus.declare_stream("command/live", media=PCM, qos=1)
        await writer.write(b"kept ")
        reader = await asyncio.create_subprocess_exec(
            *(SLIPRING, "stream", "read", "command/live", "--url", table_url),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert reader.stdout is not None
        async with asyncio.timeout(WAIT_S):
            assert await reader.stdout.readexactly(5) == b"kept "
            await writer.write(b"live")
            assert await reader.stdout.readexactly(4) == b"live"
            reader.send_signal(signal.SIGINT)
            assert await reader.communicate() == (b"", b"")
        assert reader.returncode == 0


async def test_writing_ends_with_ctrl_c_and_the_stream_stays(table_url: str) -> None:
    async with slipring.connect(table_url) as bus, bus.stream("command/endless") as chunks:
        writer = await asyncio.create_subprocess_exec(
            *(SLIPRING, "stream", "write", "command/endless", "--media", PCM, "--url", table_url),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert writer.stdin is not None
        writer.stdin.write(b"on and on")
        async with asyncio.timeout(WAIT_S):
            assert (await anext(chunks)).payload == b"on and on"
            writer.send_signal(signal.SIGINT)
            assert await writer.wait() == 0
        (listed,) = await bus.streams("command/endless")
        assert listed.next == 1


async def test_a_mistake_is_one_clear_line(table_url: str) -> None:
    code, _, errors = await run(
        "stream", "write", "a/#", "--media", "pcm", "--url", table_url, stdin=b"x"
    )
    assert code == 1
    assert b"media type is like" in errors or b"topic" in errors, errors
    assert errors.count(b"\n") == 1
