"""The main signals of a flight, step by step. Every channel follows from them."""

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
"""Signals that continue from one flight to the next; set at each step."""


class Drivers:
    """A column for each main signal, a row for each step."""

    def __init__(self, signals: motion.Signals) -> None:
        """Make the matrix of all signals."""
        self.names: tuple[str, ...] = (CONSTANT, *COUNTED, *signals)
        self.steps: int = len(next(iter(signals.values())))
        counted = [np.zeros(self.steps)] * len(COUNTED)
        self.matrix: Floats = np.column_stack([np.ones(self.steps), *counted, *signals.values()])
        self.matrix.flags.writeable = False
        self._columns = {name: column for column, name in enumerate(self.names)}

    def column(self, name: str) -> int:
        """The column of a signal."""
        return self._columns[name]

    def columns(self, names: Iterable[str]) -> NDArray[np.intp]:
        """The columns of signals."""
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
        """The signals at a step, counted from the beginning of the first flight."""
        made: Floats = self.matrix[step % self.steps].copy()
        made[self._columns[CLOCK]] = step / STEP_HZ
        made[self._columns[BLINK]] = step // (STEP_HZ // 2) % 2
        made[self._columns[FLIGHT]] = step // self.steps
        return made


@cache
def flight() -> Drivers:
    """The signals of the flight; calculated once, since it takes a moment."""
    at = timeline.times()
    made = motion.path(at)
    made |= motion.air(made)
    fuel = np.full_like(at, engine.FUEL_FULL_KG)
    for _ in range(2):  # the mass determines the thrust, and the thrust the fuel that is left
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
    made |= motion.position(made, at)
    made["phase"] = timeline.phase_numbers(at)
    return Drivers(made)
