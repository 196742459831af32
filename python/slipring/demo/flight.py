"""Flying: the simulated aircraft publishes its parameters, ten times a second."""

import asyncio

import slipring
from slipring.demo.aircraft import samples

PERIOD_S = 0.1


class Flight:
    """A flight under way."""

    def __init__(self) -> None:
        """On the ground."""
        self.published = 0

    async def fly(self, url: str, stop: asyncio.Event) -> None:
        """Publish until told to stop; everything published is flushed."""
        loop = asyncio.get_running_loop()
        async with slipring.connect(url, client_id="gripen-39-7") as bus:
            start = loop.time()
            beats = 0
            while not stop.is_set():
                for topic, value in samples(beats * PERIOD_S):
                    await bus.publish(topic, value)
                    self.published += 1
                beats += 1
                await _until(stop, start + beats * PERIOD_S)


async def _until(stop: asyncio.Event, when: float) -> None:
    """Sleep until the next beat, or less if it is time to land."""
    try:
        async with asyncio.timeout_at(when):
            await stop.wait()
    except TimeoutError:
        return
