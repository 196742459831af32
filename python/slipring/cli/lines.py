"""Lines of a stream as they come, for an event loop. Reads on a thread of its own."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from typing import BinaryIO

READ_BYTES = 64 << 10
LINES_WAITING_MAX = 16
"""Reads not yet taken; the thread waits when there are as many."""


async def lines(stream: BinaryIO) -> AsyncIterator[bytes]:
    """Each line without its end, the last one also where it has none.

    The thread is a daemon: a program that is told to stop does not wait for a next line.
    """
    loop = asyncio.get_running_loop()
    reads: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(LINES_WAITING_MAX)

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody reads any more
            while True:
                room.acquire()
                part = stream.read1(READ_BYTES)  # type: ignore[attr-defined]
                loop.call_soon_threadsafe(reads.put_nowait, part)
                if not part:
                    return

    threading.Thread(target=read, daemon=True, name="slipring-lines").start()
    rest = b""
    while part := await reads.get():
        room.release()
        *whole, rest = (rest + part).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r")
    if rest:
        yield rest
