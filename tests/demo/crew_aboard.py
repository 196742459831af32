"""A crew at work in an aircraft of three parameters."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import slipring
from slipring import Parameter
from slipring.client import Bus
from slipring.demo.crew import Cockpit

ABOARD = {
    "engine/n1": Parameter("f64", unit="%"),
    "fuel/total": Parameter("f64", unit="kg"),
    "flight/phase_name": Parameter("text"),
}


@asynccontextmanager
async def aboard(url: str, prefix: str, shaft_percent: float) -> AsyncIterator[Bus]:
    """A client beside a crew whose aircraft taxies; the crew works until the end of the block."""
    async with slipring.connect(url) as jet, slipring.connect(url) as crew:
        declared = await jet.declare(prefix, ABOARD)
        declared.write(
            {"engine/n1": shaft_percent, "fuel/total": 2_268.4, "flight/phase_name": "taxi"}
        )
        await declared.flush()
        working = asyncio.create_task(Cockpit(crew, prefix).run())
        async with slipring.connect(url) as bus:
            yield bus
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
