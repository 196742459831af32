"""The main signals of a whole flight, step by step: what every channel is made from."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from slipring.demo.jet import engine, motion, systems, timeline
from slipring.demo.jet.curve import STEP_HZ, Floats

CONSTANT = "one"
CLOCK = "clock"
BLINK = "blink"
FLIGHT = "flight"
COUNTED = (CLOCK, BLINK, FLIGHT)
"""What goes on from one flight to the next; set at each step."""


class Drivers:
    """A column for each main signal, a row for each step."""

    def __init__(self, signals: motion.Signals) -> None:
        """Put the columns side by side."""
        self.names = (CONSTANT, *COUNTED, *signals)
        self.steps = len(next(iter(signals.values())))
        counted = [np.zeros(self.steps)] * len(COUNTED)
        self.matrix = np.column_stack([np.ones(self.steps), *counted, *signals.values()])
        self.matrix.flags.writeable = False
        self._columns = {name: place for place, name in enumerate(self.names)}

    def column(self, name: str) -> int:
        """Where a signal is in a row."""
        return self._columns[name]

    def columns(self, names: Iterable[str]) -> NDArray[np.intp]:
        """Where signals are in a row."""
        return np.array([self._columns[name] for name in names], np.intp)

    def signal(self, name: str) -> Floats:
        """One signal over the flight."""
        found: Floats = self.matrix[:, self._columns[name]]
        return found

    @cache  # noqa: B019 (there is one of these, for as long as the program runs)
    def span(self, name: str) -> tuple[float, float]:
        """The least and the greatest value of a signal."""
        found = self.signal(name)
        return float(found.min()), float(found.max())

    def row(self, step: int) -> Floats:
        """The signals at a step, counted from the first flight on."""
        made: Floats = self.matrix[step % self.steps].copy()
        made[self._columns[CLOCK]] = step / STEP_HZ
        made[self._columns[BLINK]] = step // (STEP_HZ // 2) % 2
        made[self._columns[FLIGHT]] = step // self.steps
        return made


@cache
def flight() -> Drivers:
    """The flight; it takes a moment to calculate, once."""
    at = timeline.times()
    made = motion.path(at)
    made |= motion.air(made)
    fuel = np.full_like(at, engine.FUEL_FULL_KG)
    for _ in range(2):  # the mass says what thrust it takes, and the thrust what fuel is left
        made |= motion.forces(made, fuel, at)
        made |= engine.thrust(made, at)
        made |= engine.fuel(made, at)
        fuel = made["fuel"]
    made |= engine.shafts(made, at)
    made |= systems.hydraulics(made, at)
    made |= systems.tanks(made, at)
    made |= systems.electricity(made, at)
    made |= systems.ground(made)
    made |= systems.surfaces(made)
    made |= systems.cabin(made)
    made |= systems.warnings(made, at)
    made |= motion.place(made, at)
    made["phase"] = timeline.phase_numbers(at)
    return Drivers(made)
