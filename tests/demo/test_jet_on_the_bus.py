"""The jet over a real broker: every parameter arrives, and so does what is calculated from them."""

import asyncio

import numpy as np

import slipring
from slipring.demo.jet import Jet
from slipring.demo.jet.derived import DERIVED, derive
from slipring.demo.jet.flying import JetFlight
from tests.client.table_broker import table_url

__all__ = ["table_url"]


async def test_all_20_000_parameters_arrive_in_their_types(table_url: str) -> None:
    flight, stop = JetFlight(Jet(start_s=400)), asyncio.Event()
    async with slipring.connect(table_url) as jet, slipring.connect(table_url) as bus:
        flying = asyncio.create_task(flight.fly(jet, stop, prefix="jets/1"))
        known: dict[str, object] = {}
        async with bus.select("jets/1/#") as frames:
            async for frame in frames:
                known |= {name: frame[name].value for name in frame.names if name not in known}
                if len(known) == 20_000:
                    break
        stop.set()
        await flying
    assert known["jets/1/flight/phase_name"] == "pull-ups"
    assert isinstance(known["jets/1/engine/running"], bool)
    assert 200 < float(str(known["jets/1/air/true_airspeed"])) < 250


async def test_what_is_calculated_has_the_time_of_what_it_was_made_from(table_url: str) -> None:
    flight, stop = JetFlight(Jet(start_s=400)), asyncio.Event()
    names = [f"jets/2/derived/{name}" for name in DERIVED]
    together = [*names, "jets/2/air/altitude"]
    async with (
        slipring.connect(table_url) as jet,
        slipring.connect(table_url) as calculator,
        slipring.connect(table_url) as bus,
    ):
        flying = asyncio.create_task(flight.fly(jet, stop, prefix="jets/2"))
        calculating = asyncio.create_task(derive(calculator, prefix="jets/2"))
        measured: set[int] = set()
        calculated: set[int] = set()
        async with bus.select("jets/2/derived/#", "jets/2/air/altitude") as frames:
            async for frame in frames:
                known = [name for name in together if name in frame]
                times = {name: frame.samples(name).times.tolist() for name in known}
                measured |= set(times.get(together[-1], ()))
                calculated |= set(times.get(names[0], ()))
                if len(calculated) > 10:
                    break
        stop.set()
        await flying
        calculating.cancel()
        values = await bus.current(names)
    assert len(calculated & measured) > 5
    assert values.keys() == set(names)
    assert all(np.isfinite(float(str(one.value))) for one in values.values())
