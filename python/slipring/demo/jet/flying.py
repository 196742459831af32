"""Flying: the jet declares its parameters and writes a row of all of them, fifty times a second."""

import asyncio
import time

from slipring.client import Bus
from slipring.demo.jet.aircraft import PREFIX, Jet
from slipring.demo.jet.curve import STEP_HZ

STEP_NS = 1_000_000_000 // STEP_HZ
BEHIND_NS_MAX = 1_000_000_000
"""A machine that slept for longer than this does not catch up; it goes on from now."""


class Flight:
    """A jet on its way over a bus."""

    def __init__(self, jet: Jet) -> None:
        """On its stand."""
        self.jet = jet
        self.samples = 0
        """Samples written so far."""
        self.skipped = 0
        """Steps that were left out, because the machine was too slow."""
        self.phase = ""
        self.declared = asyncio.Event()
        """Its parameters are there to be chosen."""

    async def fly(self, bus: Bus, stop: asyncio.Event, *, prefix: str = PREFIX) -> None:
        """Write until told to stop; all that was written is sent."""
        declared = await bus.declare(prefix, self.jet.parameters)
        self.declared.set()
        due_ns = time.time_ns()
        while not stop.is_set():
            moment = self.jet.step()
            row = moment.row
            if not moment.texts_changed and moment.step % STEP_HZ:
                del row["text"]
            declared.write_row(row, time_ns=due_ns)
            self.samples += sum(map(len, row.values()))
            self.phase = moment.phase
            due_ns = await self._next(due_ns + STEP_NS, stop)
        await declared.flush()

    async def _next(self, due_ns: int, stop: asyncio.Event) -> int:
        """Sleep until the next step is due, or less if it is time to land; say when it was due."""
        behind_ns = time.time_ns() - due_ns
        if behind_ns > BEHIND_NS_MAX:
            self.skipped += behind_ns // STEP_NS
            due_ns += behind_ns // STEP_NS * STEP_NS
        try:
            async with asyncio.timeout((due_ns - time.time_ns()) / 1e9):
                await stop.wait()
        except TimeoutError:
            pass
        return due_ns
