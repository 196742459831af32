"""Reads and lines of a stream as they come, for an event loop. Reads on a thread of its own."""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator

from slipring.errors import Refused

READ_BYTES = 64 << 10
READS_WAITING_MAX = 16
"""Reads not yet taken; the thread waits when there are as many."""
LINE_BYTES_MAX = 16 << 20
"""A longer line is an error, not memory."""


async def reads(descriptor: int) -> AsyncIterator[bytes]:
    """What each read gives, until the end.

    The thread is a daemon: a program that is told to stop does not wait for a next line. It reads
    the descriptor itself, because a buffered stream that is being read when Python ends aborts it.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(READS_WAITING_MAX)

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody reads any more
            while True:
                room.acquire()
                part = os.read(descriptor, READ_BYTES)
                loop.call_soon_threadsafe(waiting.put_nowait, part)
                if not part:
                    return

    threading.Thread(target=read, daemon=True, name="slipring-lines").start()
    while part := await waiting.get():
        room.release()
        yield part


async def lines(descriptor: int) -> AsyncIterator[bytes]:
    """Each line without its end, the last one also where it has none."""
    rest = bytearray()
    async for part in reads(descriptor):
        rest += part
        if b"\n" in part:
            *whole, rest = rest.split(b"\n")
            for line in whole:
                yield bytes(line.removesuffix(b"\r"))
        if len(rest) > LINE_BYTES_MAX:
            raise Refused("a line of the input is over 16 MiB; publish a file with --file instead")
    if rest:
        yield bytes(rest)
