"""Reads and lines of a descriptor for an event loop. Reads on a thread of its own."""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator

from slipring.errors import Refused

READ_BYTES = 64 << 10
READS_WAITING_MAX = 16
"""Reads that wait to be taken; with so many the thread waits."""
LINE_BYTES_MAX = 16 << 20
"""A longer line is refused."""


async def reads(descriptor: int) -> AsyncIterator[bytes]:
    """The bytes of each read, until the end.

    The thread is a daemon, so that a program can end without waiting for a next line. It reads the
    descriptor itself: Python aborts if it ends while a thread reads a buffered stream.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[bytes] = asyncio.Queue()
    room = threading.Semaphore(READS_WAITING_MAX)

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
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
    """Each line without its line end; the last one need not have one."""
    rest = bytearray()
    async for part in reads(descriptor):
        rest += part
        if b"\n" in part:
            *complete, rest = rest.split(b"\n")
            for line in complete:
                yield bytes(line.removesuffix(b"\r"))
        if len(rest) > LINE_BYTES_MAX:
            raise Refused("a line of the input is over 16 MiB; publish a file with --file instead")
    if rest:
        yield bytes(rest)
