"""Flying over a bus, with a bus that only remembers."""

import asyncio
import itertools
from typing import Any, cast

import slipring
from slipring.demo.jet import PREFIX, Jet
from slipring.demo.jet.flying import STEP_NS, JetFlight


class Remembering:
    """Takes declarations and rows, and stops the flight after some of them."""

    def __init__(self, rows_wanted: int) -> None:
        self.stop = asyncio.Event()
        self.rows: list[tuple[dict[str, Any], int]] = []
        self.declared: tuple[str, int] | None = None
        self.flushed = False
        self._rows_wanted = rows_wanted

    async def declare(self, prefix: str, parameters: dict[str, object]) -> "Remembering":
        self.declared = prefix, len(parameters)
        return self

    def write_row(self, row: dict[str, Any], *, time_ns: int) -> None:
        self.rows.append((row, time_ns))
        if len(self.rows) == self._rows_wanted:
            self.stop.set()

    async def flush(self) -> None:
        self.flushed = True


async def test_every_step_is_a_row_with_a_time_of_its_own() -> None:
    bus = Remembering(6)
    flight = JetFlight(Jet(start_s=0.02))
    await flight.fly(cast("slipring.Bus", bus), bus.stop)
    assert bus.declared == (PREFIX, 20_000)
    assert bus.flushed
    times = [time_ns for _, time_ns in bus.rows]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert all(gap > 0 and gap % STEP_NS == 0 for gap in gaps)
    assert flight.samples == 20_000 + 5 * 19_900, "texts are sent when they change"
    assert flight.phase == "start-up"
