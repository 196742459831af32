"""Hydraulics, tanks, electricity, gear, surfaces, cabin and warnings, with the fault in them."""

import numpy as np

from slipring.demo.jet import timeline
from slipring.demo.jet.curve import Floats, lagged, latched, level
from slipring.demo.jet.motion import Signals

NOMINAL_BAR = 207.0
LOW_BAR = 150.0
IMBALANCE_MAX_KG = 120.0
TANK_SHARES = {"forward": 0.24, "aft": 0.20, "left": 0.18, "right": 0.18, "centre": 0.20}


def hydraulics(made: Signals, at: Floats) -> Signals:
    """Two systems; the pump of the first one fails in flight."""
    pumping = np.clip(made["n2"] / 45, 0, 1)
    fault = timeline.FAULT_S
    wear = level(
        at, (0, 1), (fault, 1), (fault + 4, 0.62), (fault + 7, 0.7), (fault + 14, 0.16),
        (893, 0.16), (906, 1), (timeline.FLIGHT_S, 1),
    )  # fmt: skip
    lost = level(at, (0, 0), (fault, 0), (fault + 45, 38), (875, 38), (905, 0), (915, 0))
    working = np.abs(made["roll_rate"]) / 40 + np.abs(made["pitch_rate"]) / 8
    effort = lagged(np.clip(working, 0, 6), 0.5)
    first = lagged(NOMINAL_BAR * pumping * wear - effort, 0.8)
    second = lagged(NOMINAL_BAR * pumping - effort - 9 * (1 - wear), 0.8)
    return {
        "hydraulic_1_pressure": np.maximum(first, 0),
        "hydraulic_2_pressure": np.maximum(second, 0),
        "hydraulic_1_temperature": 18 + lagged(40 * pumping + 45 * (1 - wear) * pumping, 30),
        "hydraulic_2_temperature": 18 + lagged(40 * pumping + 14 * (1 - wear) * pumping, 40),
        "hydraulic_1_quantity": 98 - lost,
        "hydraulic_2_quantity": np.full_like(at, 97.0),
        "hydraulic_1_mode": np.select(
            [made["n2"] < 20, first < 60, first < LOW_BAR], [0.0, 3.0, 2.0], 1.0
        ),
        "hydraulic_2_mode": np.select([made["n2"] < 20, second < LOW_BAR], [0.0, 2.0], 1.0),
        "control_effort": effort,
    }


def tanks(made: Signals, at: Floats) -> Signals:
    """Fuel by tank. Without pressure the left tank feeds too slowly; then fuel is transferred."""
    fault = timeline.FAULT_S
    skew = level(at, (0, 0), (fault + 5, 0), (fault + 70, 165), (fault + 150, 0), (915, 0))
    made_of = {name: made["fuel"] * share for name, share in TANK_SHARES.items()}
    made_of["left"] = made_of["left"] + skew / 2
    made_of["right"] = made_of["right"] - skew / 2
    moving = latched(skew > IMBALANCE_MAX_KG, (skew < 4) & (at > fault + 80))
    return {
        **{f"tank_{name}": amount for name, amount in made_of.items()},
        "fuel_imbalance": skew,
        "fuel_transfer": moving.astype(np.float64),
        "boost_pressure": lagged(1.9 * made["running"], 0.6),
        "fuel_temperature": 8 + lagged(0.35 * made["air_temperature"], 120),
    }


def electricity(made: Signals, at: Floats) -> Signals:
    """Generator, battery, external power, and the load."""
    outside = level(
        at, (0, 0), (3, 0), (4, 1), (36, 1), (37, 0), (866, 0), (867, 1), (908, 1), (909, 0),
        (915, 0),
    )  # fmt: skip
    online = lagged((made["n2"] > 52).astype(np.float64), 0.2)
    powered = np.maximum(outside, online)
    gear_moves = np.abs(np.gradient(made["gear"])) * 50
    load = 9 + 8 * made["running"] + 20 * gear_moves + made["control_effort"]
    return {
        "generator_voltage": 115 * online,
        "generator_frequency": 400 * online,
        "generator_load": lagged(load * online, 0.6),
        "battery_voltage": 24.1 + lagged(3.7 * powered, 4),
        "outside_power": np.round(outside),
        "bus_voltage": 28.2 * powered - 0.02 * load * powered,
        "powered": (powered > 0.5).astype(np.float64),
        "equipment_mode": np.select([powered < 0.5, at < 14], [0.0, 1.0], 2.0),
    }


def ground(made: Signals) -> Signals:
    """Wheels, brakes, gear."""
    on_wheels = (made["height"] < 0.3).astype(np.float64)
    heat = made["braking"] * made["speed"] * on_wheels / 9_000
    return {
        "on_wheels": on_wheels,
        "wheel_speed": lagged(made["speed"] * on_wheels, 0.4),
        "brake_pressure": lagged(np.minimum(made["braking"] * on_wheels / 300, 160), 0.15),
        "brake_temperature": 15 + lagged(heat, 70),
        "strut_load": lagged(
            on_wheels * 30 * (1 - np.clip(made["dynamic_pressure"] / 4, 0, 0.8)), 0.2
        ),
        "gear_stage": np.select([made["gear"] > 0.99, made["gear"] < 0.01], [2.0, 0.0], 1.0),
        "runway": lagged(on_wheels * np.sqrt(made["speed"]) / 8, 0.1),
    }


def surfaces(made: Signals) -> Signals:
    """Deflections in degrees that go with the motion."""
    elevator = -0.55 * made["angle_of_attack"] - 0.35 * made["pitch_rate"]
    aileron = 0.11 * made["roll_rate"]
    in_air = 1 - made["on_wheels"]
    return {
        "canard": np.clip(0.7 * made["angle_of_attack"] + 0.2 * made["pitch_rate"], -25, 25),
        "elevon_left": np.clip(elevator + aileron, -28, 28),
        "elevon_right": np.clip(elevator - aileron, -28, 28),
        "rudder": np.clip(0.6 * made["turn_rate"] * (1 + 2 * made["on_wheels"]), -25, 25),
        "leading_edge": np.clip(1.1 * made["angle_of_attack"], -4, 22) * in_air,
        "air_brake": np.clip(lagged(made["braking"] * in_air / 400, 0.7), 0, 55),
        "sideslip": lagged(0.012 * made["roll_rate"] + 0.05 * made["turn_rate"] * in_air, 0.3),
    }


def cabin(made: Signals) -> Signals:
    """Cockpit and equipment bays."""
    kept = np.where(made["altitude"] < 2_400, made["altitude"], 2_400 + made["height"] * 0.06)
    friction = made["total_temperature"] - made["air_temperature"]
    return {
        "cabin_altitude": lagged(kept, 6),
        "cabin_temperature": 20 + lagged(0.05 * made["air_temperature"], 60),
        "oxygen_flow": 6 + 9 * made["airborne"] + 2.5 * np.maximum(made["load_factor"] - 1, 0),
        "bay_temperature": 16 + lagged(22 * made["powered"] + 0.1 * made["air_temperature"], 80),
        "skin_temperature": lagged(made["air_temperature"] + 0.9 * friction, 15),
        "buffet": made["dynamic_pressure"] * np.maximum(made["angle_of_attack"], 0) / 60,
        "g_suit": np.maximum(made["load_factor"] - 2, 0) * 11,
    }


def warnings(made: Signals, at: Floats) -> Signals:
    """Lights that stay on until they are reset on the ground."""
    reset = np.abs(at - timeline.RESET_S) < 0.5
    runs = (made["running"] > 0) & (at > 45) & (at < 860)
    raised = {
        "hydraulic_1": runs & (made["hydraulic_1_pressure"] < LOW_BAR),
        "hydraulic_2": runs & (made["hydraulic_2_pressure"] < LOW_BAR),
        "fuel_imbalance": runs & (made["fuel_imbalance"] > IMBALANCE_MAX_KG),
        "oil_pressure": runs & (made["oil_pressure"] < 1.0),
        "egt": runs & (made["egt"] > 900),
    }
    lit = {f"warning_{name}": latched(on, reset).astype(np.float64) for name, on in raised.items()}
    lit["warning_any"] = np.maximum.reduce(list(lit.values()))
    return lit
