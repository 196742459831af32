"""Some seconds of a few parameters as a pandas table, and the newest value of each.

`python examples/history.py 60 gripen/39-7/engine/rpm gripen/39-7/engine/torque` gathers a minute at
10 Hz, however fast they are published, and prints what pandas says of it. In a notebook, leave
`asyncio.run` out, write `await history(...)`, and `.plot()` what it gives.
"""

import asyncio
import sys
from typing import TYPE_CHECKING

import slipring

if TYPE_CHECKING:
    import pandas as pd


async def history(url: str, seconds: float, names: list[str]) -> "pd.DataFrame":
    async with slipring.connect(url) as bus:
        for name in names:
            sample = await bus.newest(name)
            print(name, sample.value, sample.quality, sample.time)
        async with bus.select(names=names, rate_hz=10) as frames:
            gathered = await frames.collect(seconds)
    return gathered.to_pandas()


if __name__ == "__main__":
    _, seconds, *names = sys.argv
    found = asyncio.run(history("mqtt://127.0.0.1:1883", float(seconds), names))
    print(found.describe())
