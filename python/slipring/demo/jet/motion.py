"""A point mass: from the wanted height, speed and heading to forces, attitude and position.

The inverse of a simulation: the path is given, and physics tells the forces. So it never drifts.
"""

import numpy as np

from slipring.demo.jet import timeline
from slipring.demo.jet.curve import STEP_S, Floats, lagged, level, smooth

GRAVITY = 9.80665
WING_M2 = 30.0
DRY_KG = 7_400.0
LIFT_PER_DEG = 0.062
DRAG_ZERO = 0.021
DRAG_GEAR = 0.018
DRAG_INDUCED = 0.16
ROLLING = 0.02
METRES_PER_DEG = 111_320.0

Signals = dict[str, Floats]


def path(at: Floats) -> Signals:
    """Height, speed, heading, and what follows from them alone."""
    height, climb, climb_rate = smooth(at, timeline.HEIGHT_M)
    speed, acceleration, _ = smooth(at, timeline.SPEED_MPS)
    heading, turn, _ = smooth(at, timeline.HEADING_DEG)
    rolled, roll_spin, _ = smooth(at, timeline.AILERON_ROLL_DEG)
    moving = np.maximum(speed, 1.0)
    slope = np.arcsin(np.clip(climb / moving, -0.98, 0.98))
    airborne = np.clip(height / 3.0, 0, 1)
    upward = climb_rate + GRAVITY
    sideward = speed * np.cos(slope) * np.radians(turn)
    bank = np.arctan2(sideward, np.maximum(upward, 0.5 * GRAVITY)) * airborne
    load = (upward * np.cos(bank) + sideward * np.sin(bank)) / GRAVITY
    return {
        "height": height,
        "altitude": height + timeline.FIELD_M,
        "vertical_speed": climb,
        "speed": speed,
        "acceleration": acceleration,
        "slope": slope,
        "airborne": airborne,
        "heading": heading % 360,
        "turn_rate": turn,
        "roll": (np.degrees(bank) + rolled + 180) % 360 - 180,
        "roll_rate": np.gradient(np.degrees(bank), STEP_S) + roll_spin,
        "load_factor": np.where(airborne > 0, load, 1.0),
        "lateral_g": 0.02 * sideward / GRAVITY * (1 - airborne) + 0.002 * roll_spin / 10,
        "gear": level(at, *timeline.GEAR),
        "bank": bank,
    }


def air(made: Signals) -> Signals:
    """The standard atmosphere, and the air data of the aircraft."""
    kelvin = 288.15 - 0.0065 * made["altitude"]
    pressure = 101.325 * (kelvin / 288.15) ** 5.25588
    density = pressure * 1000 / (287.053 * kelvin)
    mach = made["speed"] / np.sqrt(1.4 * 287.053 * kelvin)
    impact = pressure * ((1 + 0.2 * mach**2) ** 3.5 - 1)
    calibrated = 340.294 * np.sqrt(5 * ((impact / 101.325 + 1) ** (2 / 7) - 1))
    return {
        "static_pressure": pressure,
        "total_pressure": pressure + impact,
        "impact_pressure": impact,
        "density": density,
        "dynamic_pressure": density * made["speed"] ** 2 / 2000,
        "mach": mach,
        "calibrated_speed": calibrated,
        "air_temperature": kelvin - 273.15,
        "total_temperature": kelvin * (1 + 0.2 * mach**2) - 273.15,
    }


def forces(made: Signals, fuel_kg: Floats, at: Floats) -> Signals:
    """Lift, drag and the thrust that the path needs, in newtons; angles of the body in degrees."""
    mass = DRY_KG + fuel_kg
    pascal = np.maximum(made["dynamic_pressure"] * 1000, 1.0)
    nose_up = level(at, *timeline.ROTATION)
    held_up = np.clip(made["load_factor"] * mass * GRAVITY / (pascal * WING_M2), -1.2, 1.6)
    angle = nose_up * np.clip(held_up / LIFT_PER_DEG - 1.0, -10, 15)
    coefficient = held_up * made["airborne"]
    drag_coefficient = DRAG_ZERO + DRAG_GEAR * made["gear"] + DRAG_INDUCED * coefficient**2
    drag = drag_coefficient * pascal * WING_M2 * (made["speed"] > 0.5)
    rolling = ROLLING * mass * GRAVITY * (1 - made["airborne"]) * (made["speed"] > 0.5)
    climbing = mass * GRAVITY * np.sin(made["slope"])
    angle_of_attack = lagged(angle, 0.2)
    pitch = np.degrees(made["slope"]) + angle_of_attack * np.cos(made["bank"])
    return {
        "mass": mass,
        "drag": drag,
        "thrust_wanted": mass * made["acceleration"] + drag + rolling + climbing,
        "angle_of_attack": angle_of_attack,
        "pitch": pitch,
        "pitch_rate": lagged(np.gradient(pitch, STEP_S), 0.1),
        "longitudinal_g": made["acceleration"] / GRAVITY + np.sin(made["slope"]),
    }


def position(made: Signals, at: Floats) -> Signals:
    """Where the aircraft is. The wind makes the flight end where it began."""
    ahead = made["speed"] * np.cos(made["slope"])
    north = ahead * np.cos(np.radians(made["heading"]))
    east = ahead * np.sin(np.radians(made["heading"]))
    aloft = np.clip(made["height"] / 500, 0, 1)
    wind_north, wind_east = (-axis.sum() / aloft.sum() for axis in (north, east))
    north, east = north + wind_north * aloft, east + wind_east * aloft
    latitude = timeline.FIELD[0] + np.cumsum(north) * STEP_S / METRES_PER_DEG
    parallel = METRES_PER_DEG * np.cos(np.radians(timeline.FIELD[0]))
    return {
        "latitude": latitude,
        "longitude": timeline.FIELD[1] + np.cumsum(east) * STEP_S / parallel,
        "north_speed": north,
        "east_speed": east,
        "ground_speed": np.hypot(north, east),
        "wind_speed": np.hypot(wind_north, wind_east) * aloft,
        "radar_altitude": np.minimum(made["height"], 1500.0),
        "elapsed": at,
    }
