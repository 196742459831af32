"""The engine: from the wanted thrust to shafts, temperatures and fuel."""

import numpy as np

from slipring.demo.jet import timeline
from slipring.demo.jet.curve import STEP_S, Floats, lagged, level
from slipring.demo.jet.motion import Signals

DRY_THRUST_N = 54_000.0
WET_THRUST_N = 80_500.0
IDLE_THRUST_N = 2_500.0
FUEL_FULL_KG = 2_900.0
IDLE_PERCENT = 63.0
RPM_PER_PERCENT = 150.0
JET_PIPE_FIRE_K = 420.0
"""By how much fuel that burns behind the turbine heats the exhaust gas."""


def thrust(made: Signals, at: Floats) -> Signals:
    """The thrust that the engine gives; the brakes take the rest if less is wanted."""
    thin = (made["density"] / 1.225) ** 0.7
    runs = ((at > 24) & (at < 862)).astype(np.float64)
    wanted = made["thrust_wanted"]
    given = np.clip(wanted, IDLE_THRUST_N, WET_THRUST_N * thin) * runs
    afterburner = (given > DRY_THRUST_N * thin).astype(np.float64)
    return {
        "running": runs,
        "power": np.clip(given / (DRY_THRUST_N * thin), 0, 1),
        "thrust": lagged(given, 0.4),
        "afterburner": afterburner,
        "braking": np.maximum(given - wanted, 0) * (made["speed"] > 0.5),
    }


def fuel(made: Signals, at: Floats) -> Signals:
    """Fuel flow in kg/s, and the fuel that is left; it is refilled on the ground."""
    thin = (made["density"] / 1.225) ** 0.7
    dry = np.minimum(made["thrust"], DRY_THRUST_N * thin) / 1000
    wet = np.maximum(made["thrust"] / 1000 - dry, 0)
    flow = lagged(made["running"] * (0.09 + 0.021 * dry + 0.09 * wet), 0.5)
    used = np.cumsum(flow) * STEP_S
    filled = level(at, (0, 0), (872, 0), (910, float(used[-1])), (timeline.FLIGHT_S, used[-1]))
    return {"fuel_flow": flow, "fuel": FUEL_FULL_KG - used + filled}


def shafts(made: Signals, at: Floats) -> Signals:
    """Speeds, temperatures, oil and nozzle."""
    crank = level(at, *timeline.CRANK_PERCENT)
    power = lagged(made["power"] * made["running"], 0.9)
    high = crank + (100 - IDLE_PERCENT) * power**0.7
    lit = ((at > 20) & (at < 862)).astype(np.float64)
    light_up = level(at, (0, 0), (20, 0), (25, 1), (38, 0), (timeline.FLIGHT_S, 0))
    hot = lit * (330 + 430 * power + 70 * lagged(made["afterburner"], 0.7) + 190 * light_up)
    # Fuel that collected before the light-up burns in the jet pipe: a hot start.
    pooled = level(at, (0, 0), (20, 0), (23, 1), (26, 1), (34, 0), (timeline.FLIGHT_S, 0))
    turning = high / 100
    return {
        "throttle": 100 * lagged(made["power"], 0.25) * made["running"],
        "n2": high,
        "n1": 100 * turning**1.6,
        "rpm": high * RPM_PER_PERCENT,
        "egt": made["air_temperature"] + lagged(hot, 2.2) + lagged(JET_PIPE_FIRE_K * pooled, 1.5),
        "turbine_inlet": made["air_temperature"] + lagged(1.62 * hot, 1.5),
        "compressor_pressure": made["static_pressure"] * (1 + 25 * turning**3),
        "nozzle": 20 + 25 * (1 - power) + 45 * lagged(made["afterburner"], 0.6),
        "oil_pressure": 4.2 * turning**0.8 * (turning > 0.02),
        "oil_temperature": 15 + lagged(95 * turning, 45),
        "engine_vibration": 0.4 * turning + 1.6 * turning**6 + 0.8 * made["afterburner"],
        "engine_stage": np.select(
            [(at < 5) | (at > 893), at < 20, at < 34, at > 862, made["afterburner"] > 0],
            [0.0, 1.0, 2.0, 5.0, 4.0],
            3.0,
        ),
    }
