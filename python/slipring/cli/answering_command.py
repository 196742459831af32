"""A command that answers one request: its process, its output, its end."""

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence

from slipring.client.service_request import Request
from slipring.errors import ServiceFailed

OUTPUT_BYTES_MAX = 64 << 20
"""Bytes of an answer, or of one line; a command that writes more is ended."""
WORDS_BYTES_MAX = 2_000
"""Bytes of standard error that are told to the asker: the last ones."""
END_S = 3.0
"""How long a command, and all it has started, has to end by itself after SIGTERM."""
LOOK_S = 0.05
"""How often it is looked whether they have ended."""
READ_BYTES = 1 << 16


class AnsweringCommand:
    """Starts the command anew for each request."""

    def __init__(self, command: Sequence[str], *, by_line: bool) -> None:
        self._command = command
        self._by_line = by_line

    async def answer(self, request: Request) -> bytes:
        """The command's output; raises ServiceFailed with its words if its exit code is not 0."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"SLIPRING_TOPIC": request.topic},
            start_new_session=True,  # a process group of its own, which can be ended as a whole
            limit=READ_BYTES,
        )
        assert process.stderr is not None
        writing = asyncio.ensure_future(_feed(process, request.payload))
        words = asyncio.ensure_future(_last(process.stderr))
        try:
            output = await self._output(process, request)
            code = await process.wait()
            said = await words
        except BaseException:
            await _end(process)
            raise
        finally:
            for task in (writing, words):
                task.cancel()
        if code:
            text = said.decode("utf-8", "backslashreplace").strip()
            raise ServiceFailed(text or f"{self._command[0]} ended with exit code {code}")
        return output

    async def _output(self, process: asyncio.subprocess.Process, request: Request) -> bytes:
        assert process.stdout is not None
        if self._by_line:
            async for line in _lines(process.stdout):
                await request.part(line)
            return b""
        output = bytearray()
        while part := await process.stdout.read(READ_BYTES):
            output += part
            _check(len(output))
        return bytes(output)


async def _feed(process: asyncio.subprocess.Process, payload: bytes) -> None:
    assert process.stdin is not None
    # A command need not read its input.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(payload)
        await process.stdin.drain()
    process.stdin.close()


async def _last(errors: asyncio.StreamReader) -> bytes:
    """The last bytes, once there are no more."""
    found = b""
    while part := await errors.read(READ_BYTES):
        found = (found + part)[-WORDS_BYTES_MAX:]
    return found


async def _lines(output: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Lines without their ends, as soon as they are there."""
    rest = b""
    while part := await output.read(READ_BYTES):
        *whole, rest = (rest + part).split(b"\n")
        _check(len(rest))
        for line in whole:
            yield line
    if rest:
        yield rest


def _check(size: int) -> None:
    if size > OUTPUT_BYTES_MAX:
        raise ServiceFailed(f"the output has more than {OUTPUT_BYTES_MAX:,} bytes")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends the command's process group: the command, and all it has started.

    If this is cancelled, as by a second Ctrl-C, the group is killed at once.
    """
    with contextlib.suppress(ProcessLookupError):  # none of the group is left
        os.killpg(process.pid, signal.SIGTERM)
        try:
            await _wait_for_group(process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def _wait_for_group(process: asyncio.subprocess.Process) -> None:
    """Waits as long as it may take; raises ProcessLookupError when none of the group is left."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(END_S):
            await process.wait()
            while True:  # the command has ended; what it has started may not
                os.killpg(process.pid, 0)
                await asyncio.sleep(LOOK_S)
