"""Curves over the time of a flight: smooth between knots, lagged, latched. Pure."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STEP_HZ = 50
STEP_S = 1 / STEP_HZ
BLOCK_TAUS = 20
"""How many time constants are calculated at once; many more would lose precision."""

Floats = NDArray[np.float64]
Knot = tuple[float, float]


def smooth(times: Floats, knots: Sequence[Knot]) -> tuple[Floats, Floats, Floats]:
    """Value, rate and acceleration of a curve that rests at each knot; none of them jumps."""
    when, level = (np.array(column, np.float64) for column in zip(*knots, strict=True))
    at = np.clip(np.searchsorted(when, times, side="right") - 1, 0, len(when) - 2)
    length = when[at + 1] - when[at]
    rise = level[at + 1] - level[at]
    part = np.clip((times - when[at]) / length, 0, 1)
    value = level[at] + rise * part**3 * (10 - 15 * part + 6 * part**2)
    rate = rise / length * 30 * part**2 * (1 - part) ** 2
    acceleration = rise / length**2 * 60 * part * (1 - part) * (1 - 2 * part)
    return value, rate, acceleration


def level(times: Floats, *knots: Knot) -> Floats:
    """The value of a smooth curve."""
    return smooth(times, knots)[0]


def lagged(wanted: Floats, tau_s: float) -> Floats:
    """The signal with a first-order lag, in the steady state of repeated flights."""
    kept = np.exp(-STEP_S / tau_s)
    block = int(BLOCK_TAUS * tau_s / STEP_S)
    fading = kept ** np.arange(1, block + 1)
    made = np.empty_like(wanted)
    value = wanted[0]
    for start in [*range(0, len(wanted), block)] * 2:
        part = wanted[start : start + block]
        fade = fading[: len(part)]
        made[start : start + block] = fade * (value + (1 - kept) * np.cumsum(part / fade))
        value = made[start + len(part) - 1]
    return made


def latched(raised: NDArray[np.bool_], reset: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """True from when it is raised until it is reset."""
    when = np.arange(len(raised))
    last_raised = np.maximum.accumulate(np.where(raised, when, -1))
    last_reset = np.maximum.accumulate(np.where(reset, when, -1))
    return last_raised > last_reset
