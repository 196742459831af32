"""The flight, the same every time: its phases, and the curves that the pilot wants."""

from typing import NamedTuple

import numpy as np

from slipring.demo.jet.curve import STEP_S, Floats, Knot

FIELD_M = 52.0
"""Height of the airfield above the sea."""
FIELD = (58.4023, 15.6805)
"""Latitude and longitude of the stand."""


class _Phase(NamedTuple):
    """A part of the flight."""

    name: str
    seconds: int


PHASES = (
    _Phase("start-up", 40),
    _Phase("taxi", 50),
    _Phase("take-off", 30),
    _Phase("climb", 150),
    _Phase("cruise", 75),
    _Phase("roll", 10),
    _Phase("pull-ups", 60),
    _Phase("turn", 60),
    _Phase("fault", 60),
    _Phase("return", 170),
    _Phase("approach", 70),
    _Phase("landing", 30),
    _Phase("taxi-in", 50),
    _Phase("turnaround", 60),
)
FLIGHT_S = sum(phase.seconds for phase in PHASES)
FAULT_S = 480.0
"""When the hydraulic pump fails."""
RESET_S = 870.0
"""When the warnings are reset on the ground."""

HEIGHT_M: tuple[Knot, ...] = (
    (0, 0), (107, 0), (270, 5700), (357, 5700), (369, 6400), (383, 5700), (388, 5700), (400, 6550),
    (415, 5700), (540, 5700), (668, 600), (690, 600), (772, 0), (FLIGHT_S, 0),
)  # fmt: skip
"""Above the airfield."""

SPEED_MPS: tuple[Knot, ...] = (
    (0, 0), (42, 0), (52, 8), (78, 8), (88, 0), (91, 0), (119, 95), (270, 245), (357, 245),
    (369, 212), (383, 245), (388, 245), (400, 205), (415, 245), (422, 245), (463, 195), (530, 215),
    (545, 215),
    (690, 130), (745, 80), (774, 74), (803, 8), (836, 8), (850, 0), (FLIGHT_S, 0),
)  # fmt: skip
"""Through the air, or over the ground while on it."""

HEADING_DEG: tuple[Knot, ...] = (
    (0, 20), (58, 20), (72, 110), (275, 110), (340, -70), (417, -70), (473, -430), (563, -430),
    (658, -610), (812, -610), (826, -700), (FLIGHT_S, -700),
)  # fmt: skip
"""Not reduced to 360 degrees: two full circles are flown."""

AILERON_ROLL_DEG: tuple[Knot, ...] = ((0, 0), (346, 0), (350, 360), (FLIGHT_S, 360))
ROTATION: tuple[Knot, ...] = (
    (0, 0), (104, 0), (110, 1), (773, 1), (781, 0), (FLIGHT_S, 0),
)  # fmt: skip
"""Whether the nose wheel is off the ground."""
GEAR: tuple[Knot, ...] = ((0, 1), (121, 1), (128, 0), (698, 0), (707, 1), (FLIGHT_S, 1))
CRANK_PERCENT: tuple[Knot, ...] = (
    (0, 0), (5, 0), (18, 24), (34, 63), (862, 63), (893, 0), (FLIGHT_S, 0),
)  # fmt: skip
"""The engine's shaft at idle, from the starter to the last turn."""


def times() -> Floats:
    """Every step of the flight."""
    return np.arange(round(FLIGHT_S / STEP_S), dtype=np.float64) * STEP_S


def phase_numbers(at: Floats) -> Floats:
    """The phase of each time."""
    ends = np.cumsum([phase.seconds for phase in PHASES])
    return np.searchsorted(ends, at, side="right").astype(np.float64)
