"""The jet declares its parameters, and publishes a row of all of them fifty times a second."""

import asyncio
import time

from slipring.client import Bus
from slipring.demo.jet.aircraft import PREFIX, Jet
from slipring.demo.jet.curve import STEP_HZ

STEP_NS = 1_000_000_000 // STEP_HZ
BEHIND_NS_MAX = 1_000_000_000
"""A jet that is later than this does not catch up, but continues from now."""


class JetFlight:
    """A jet that publishes its flight over a bus."""

    def __init__(self, jet: Jet) -> None:
        """On its stand."""
        self.jet = jet
        self.samples: int = 0
        """The samples written so far."""
        self.skipped: int = 0
        """Steps that were skipped because the machine was too slow."""
        self.phase: str = ""
        self.declared: asyncio.Event = asyncio.Event()
        """Set when the parameters are declared."""

    async def fly(self, bus: Bus, stop: asyncio.Event, *, prefix: str = PREFIX) -> None:
        """Publish until `stop` is set; then send what is still waiting."""
        declared = await bus.declare(prefix, self.jet.parameters)
        self.declared.set()
        due_ns = time.time_ns()
        while not stop.is_set():
            flight_step = self.jet.step()
            row = flight_step.row
            if not flight_step.texts_changed and flight_step.step % STEP_HZ:
                del row["text"]
            declared.write_row(row, time_ns=due_ns)
            self.samples += sum(map(len, row.values()))
            self.phase = flight_step.phase
            due_ns = await self._next(due_ns + STEP_NS, stop)
        await declared.flush()

    async def _next(self, due_ns: int, stop: asyncio.Event) -> int:
        """Sleep until the next step is due or `stop` is set; returns when the step was due."""
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
