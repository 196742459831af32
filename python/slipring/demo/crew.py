"""What a flight has on the bus besides samples: the crew's words, the sound of the cockpit, and an
answer when the ground asks for the fuel. It knows the aircraft by its parameters alone.
"""

import asyncio
import contextlib
import json
import math

import numpy as np
from numpy.typing import NDArray

from slipring.client import Bus
from slipring.client.service_request import Request
from slipring.demo.jet.aircraft import PREFIX
from slipring.errors import RequestEnded
from slipring.frames import Frame

SHAFT, FUEL, PHASE = "engine/n1", "fuel/total", "flight/phase_name"
SOUND_HZ, CHUNK_HZ = 8_000, 10
HUM_HZ, HUM_HZ_EACH = 60.0, 4.0
"""The pitch of the engine at rest, and how much each percent of shaft speed adds."""
LOUDEST = 12_000
ASKS_EACH_S = 5.0
ASK_TIMEOUT_S = 3.0
WIND_MS, WIND_PERIOD_S = 6.0, 90.0


class Cockpit:
    """Says in words which phase has begun, sends the engine's hum, and knows the fuel."""

    def __init__(self, bus: Bus, prefix: str = PREFIX) -> None:
        """Aboard the aircraft of this prefix."""
        self._bus = bus
        self._prefix = prefix
        self._phase = ""
        self._fuel_kg = math.nan
        self._shaft_percent = 0.0
        self._turns = 0.0
        """How far the hum has come, so that one chunk goes on where the last one ended."""

    async def run(self) -> None:
        """Work until cancelled, or until the connection is closed."""
        names = [f"{self._prefix}/{name}" for name in (SHAFT, FUEL, PHASE)]
        sound = await self._bus.declare_stream(
            f"{self._prefix}/cockpit/sound",
            media=f"audio/pcm;rate={SOUND_HZ}",
            description="Sound of the cockpit: 16 bit, little-endian, one channel",
        )
        async with (
            self._bus.serve(f"{self._prefix}/ask/fuel", self.fuel),
            self._bus.select(names=names, rate_hz=CHUNK_HZ) as frames,
        ):
            async for frame in frames:
                await self._take(frame)
                await sound.write(self.hum(), time_ns=frame.newest_ns)

    async def fuel(self, _: Request) -> str:
        """The answer to a request: what is in the tanks, and in which phase."""
        kilograms = None if math.isnan(self._fuel_kg) else round(self._fuel_kg)
        return json.dumps({"phase": self._phase, "fuel_kg": kilograms})

    def hum(self) -> bytes:
        """A tenth of a second: the pitch and the loudness follow the shaft speed."""
        count = SOUND_HZ // CHUNK_HZ
        step = (HUM_HZ + HUM_HZ_EACH * self._shaft_percent) / SOUND_HZ
        turns = self._turns + step * np.arange(1, count + 1)
        self._turns = float(turns[-1] % 1)
        loudness = LOUDEST * min(1.0, self._shaft_percent / 100)
        samples: NDArray[np.int16] = np.rint(loudness * np.sin(2 * np.pi * turns)).astype("<i2")
        return samples.tobytes()

    async def _take(self, frame: Frame) -> None:
        if shaft := frame.get(f"{self._prefix}/{SHAFT}"):
            self._shaft_percent = float(shaft.value)
        if fuel := frame.get(f"{self._prefix}/{FUEL}"):
            self._fuel_kg = float(fuel.value)
        phase = frame.get(f"{self._prefix}/{PHASE}")
        if phase and phase.value != self._phase:
            self._phase = str(phase.value)
            await self._bus.publish(f"{self._prefix}/crew/phase", self._phase, retain=True)


async def control_the_flight(bus: Bus, prefix: str = PREFIX) -> None:
    """The ground: tells the wind, and asks the cockpit for its fuel, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        wind_ms = WIND_MS + 2 * math.sin(2 * math.pi * loop.time() / WIND_PERIOD_S)
        await bus.publish("ground/weather/wind", f"{wind_ms:.1f}", retain=True)
        with contextlib.suppress(RequestEnded):  # the console shows how it ended
            await bus.request(f"{prefix}/ask/fuel", timeout_s=ASK_TIMEOUT_S, wait=True)
        await asyncio.sleep(ASKS_EACH_S)
