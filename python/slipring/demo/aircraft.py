"""A simulated aircraft: 100 parameters as functions of time. Pure; the same time gives the same flight."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

AIRCRAFT = "gripen/39-7"


@dataclass(frozen=True, slots=True)
class Wave:
    """A parameter that swings around a centre, with a little of a faster ripple."""

    name: str
    centre: float
    swing: float
    period_s: float
    decimals: int = 2

    def at(self, time_s: float) -> str:
        """Give the value as text."""
        phase = math.tau * time_s / self.period_s + len(self.name)
        value = self.centre + self.swing * (0.92 * math.sin(phase) + 0.08 * math.sin(7.3 * phase))
        return f"{value:.{self.decimals}f}"


@dataclass(frozen=True, slots=True)
class Switch:
    """A parameter that is on for a part of its period."""

    name: str
    period_s: float
    on: float = 0.5

    def at(self, time_s: float) -> str:
        """Give 1 or 0."""
        return "1" if (time_s + len(self.name)) % self.period_s < self.on * self.period_s else "0"


def _engine() -> Iterator[Wave | Switch]:
    yield Wave("engine/rpm", 12_400, 900, 31, 0)
    yield Wave("engine/n2", 88, 7, 31)
    yield Wave("engine/egt", 640, 55, 37, 1)
    yield Wave("engine/oil/pressure", 3.8, 0.3, 23)
    yield Wave("engine/oil/temperature", 96, 6, 61, 1)
    yield Wave("engine/fuel_flow", 0.92, 0.25, 29, 3)
    yield Wave("engine/nozzle", 42, 18, 19, 1)
    yield Wave("engine/vibration", 0.31, 0.09, 3, 3)
    yield Switch("engine/afterburner", 45, 0.2)
    yield Switch("engine/anti_ice", 90, 0.3)


def _air_data() -> Iterator[Wave | Switch]:
    yield Wave("air/altitude", 8_400, 1_900, 97, 1)
    yield Wave("air/speed", 262, 48, 53, 1)
    yield Wave("air/mach", 0.86, 0.16, 53, 3)
    yield Wave("air/temperature", -38, 11, 97, 1)
    yield Wave("air/pressure", 345, 78, 97, 1)
    yield Wave("air/aoa", 4.2, 3.1, 11)
    yield Wave("air/sideslip", 0, 1.4, 13)
    yield Wave("air/vertical_speed", 0, 42, 24, 1)


def _motion() -> Iterator[Wave | Switch]:
    for axis, swing, period_s in (("roll", 62, 17), ("pitch", 16, 29), ("heading", 175, 120)):
        yield Wave(f"attitude/{axis}", 180 if axis == "heading" else 0, swing, period_s)
        yield Wave(f"rate/{axis}", 0, swing / 4, period_s / 2)
        yield Wave(f"acceleration/{axis}", 0, 1.7, period_s / 3, 3)
    yield Wave("load_factor", 1.6, 2.4, 17)
    yield Wave("position/latitude", 58.41, 0.08, 240, 6)
    yield Wave("position/longitude", 15.68, 0.12, 260, 6)


def _systems() -> Iterator[Wave | Switch]:
    for number in range(1, 7):
        yield Wave(f"fuel/tank/{number}", 420 - 30 * number, 22, 300 + number, 1)
    for number in (1, 2):
        yield Wave(f"hydraulics/{number}/pressure", 207, 3.5, 7 + number, 1)
        yield Wave(f"hydraulics/{number}/temperature", 58, 4, 71 + number, 1)
        yield Switch(f"hydraulics/{number}/pump", 600, 0.97)
        yield Wave(f"electrical/generator/{number}/voltage", 115, 1.2, 5 + number)
        yield Wave(f"electrical/generator/{number}/load", 46, 9, 33 + number, 1)
        yield Switch(f"electrical/generator/{number}/online", 900, 0.98)
    yield Wave("electrical/battery/voltage", 27.6, 0.3, 41)
    yield Wave("cabin/altitude", 2_300, 210, 97, 0)
    yield Wave("cabin/temperature", 21, 1.2, 83, 1)
    yield Wave("oxygen/flow", 11, 2.5, 9)


def _surfaces() -> Iterator[Wave | Switch]:
    for side in ("left", "right"):
        for surface, swing in (("canard", 21), ("inner_elevon", 18), ("outer_elevon", 19), ("leading_edge", 9)):
            yield Wave(f"surface/{side}/{surface}/position", 0, swing, 6 + swing / 5)
            yield Wave(f"surface/{side}/{surface}/command", 0, swing, 6 + swing / 5)
        yield Switch(f"gear/{side}/down", 240, 0.1)
        yield Wave(f"gear/{side}/brake_temperature", 64, 12, 150, 1)
    yield Wave("surface/rudder/position", 0, 14, 8)
    yield Wave("surface/rudder/command", 0, 14, 8)
    yield Wave("surface/air_brake", 6, 6, 47, 1)
    yield Switch("gear/nose/down", 240, 0.1)


def _instrumentation() -> Iterator[Wave | Switch]:
    for number in range(1, 16):
        yield Wave(f"strain/wing/{number:02}", 310 + 14 * number, 85, 4 + number / 3, 1)
    for number in range(1, 10):
        yield Wave(f"vibration/pylon/{number}", 0, 0.8, 1 + number / 7, 3)


PARAMETERS: tuple[Wave | Switch, ...] = (
    *_engine(),
    *_air_data(),
    *_motion(),
    *_systems(),
    *_surfaces(),
    *_instrumentation(),
)
"""The aircraft's 100 parameters."""


def samples(time_s: float) -> Iterator[tuple[str, str]]:
    """Give every parameter's topic and value at one moment of the flight."""
    for parameter in PARAMETERS:
        yield f"{AIRCRAFT}/{parameter.name}", parameter.at(time_s)
