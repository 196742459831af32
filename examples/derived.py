"""A computing client: reads parameters, calculates, and publishes the result as a new parameter.

`python examples/derived.py` waits for the speed and the torque of an engine, and publishes its
power with the time and the quality of what it was calculated from.
"""

import asyncio
import math
import sys

import slipring

ENGINE = "gripen/39-7/engine"
INPUTS = [f"{ENGINE}/rpm", f"{ENGINE}/torque"]


async def main(url: str) -> None:
    async with slipring.connect(url) as bus, bus.select(names=INPUTS) as frames:
        power = slipring.Parameter("f64", unit="kW", description="shaft power")
        derived = await bus.declare(f"{ENGINE}/derived", {"power": power})
        newest = slipring.Newest(INPUTS)
        async for frame in frames:
            rpm, torque = newest.update(frame)
            if newest.is_complete:
                kilowatts = rpm / 60 * 2 * math.pi * torque / 1000
                derived.write({"power": kilowatts}, time_ns=newest.time_ns, quality=newest.quality)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "mqtt://127.0.0.1:1883"))
