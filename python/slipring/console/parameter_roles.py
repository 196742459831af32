"""Which parameter is the altitude, which the oil pressure: guessed from names, for nothing but what
is shown.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LEVELS = 3
"""The last levels of a name say what it is."""
CANDIDATES_MAX = 5_000
NAME_CHARACTERS_MAX = 250
"""A longer name has no role: any layout can have shorter ones, in bytes, too."""
OTHERS = re.compile(
    r"cabin|stick|radar|radio|target|demand|command|limit|raw|spare|probe|station|(?:^|/)rate/"
)
"""Words of parameters that are not the one that a person means by a plain word."""

ROLES: Mapping[str, tuple[str, ...]] = {
    "altitude": ("altitude", "alt", "height"),
    "speed": (
        "calibrated_airspeed", "indicated_airspeed", "cas", "ias", "true_airspeed", "tas",
        "airspeed", "ground_?speed", "speed", "velocity",
    ),
    "mach": ("mach",),
    "vertical_speed": ("vertical_speed", "climb_rate", "rate_of_climb", "vs"),
    "load_factor": ("load_factor", "nz", "n_z", "g_load", "vertical_acceleration"),
    "angle_of_attack": ("angle_of_attack", "aoa", "alpha"),
    "roll": ("roll", "roll_angle", "bank"),
    "pitch": ("pitch", "pitch_angle"),
    "heading": ("heading", "course", "yaw"),
    "fuel": ("fuel/total", "fuel_total", "fuel_quantity", "fuel_level", "fuel", "fuel_mass"),
    "battery": ("state_of_charge", "soc", "battery/voltage", "battery_voltage", "battery"),
    "phase": ("phase", "flight_phase", "flight_mode"),
    "rpm": ("rpm", "engine_speed", "shaft_speed", "motor_speed"),
    "n1": ("n1",),
    "n2": ("n2",),
    "egt": ("egt", "itt", "tgt", "exhaust_gas_temperature", "exhaust/temperature",
            "coolant_temperature", "engine/temperature", "motor/temperature"),
    "oil_pressure": ("oil/pressure", "oil_pressure"),
    "oil_temperature": ("oil/temperature", "oil_temperature"),
    "fuel_flow": ("fuel_flow", "fuel/flow"),
    "vibration": ("engine/vibration", "vibration"),
    "throttle": ("throttle", "power_lever", "pla", "accelerator"),
    "thrust": ("thrust", "torque", "power"),
    "nozzle": ("nozzle",),
    "engine_stage": ("engine/stage", "engine/state", "engine/mode", "engine_state", "motor/state"),
    "afterburner": ("afterburner", "reheat"),
    "running": ("engine/running", "running", "ignition"),
}  # fmt: skip
"""What a role is called, the surest name first; case does not matter, and `-` and space are `_`."""
GROUPS: Mapping[str, str] = {
    "gear": r"gear/(?:.*/)?(?:stage|state|down|locked)",
    "wheels": r"(?:.*/)?weight_on_wheels?",
    "warning": r"(?:warnings?|cautions?|alerts?|faults?)/[^/]+",
}
"""Roles that several parameters have."""

_NAMED = {
    role: [re.compile(rf"(?:.*/)?(?:{name})") for name in names] for role, names in ROLES.items()
}
_GROUPED = {role: re.compile(rf"(?:.*/)?(?:{pattern})") for role, pattern in GROUPS.items()}
_ANY = re.compile(
    "(?:.*/)?(?:"
    + "|".join([*(name for names in ROLES.values() for name in names), *GROUPS.values()])
    + ")"
)


@dataclass(frozen=True)
class RoleCandidate:
    """A parameter that may have a role; the least is the likeliest."""

    doubt: tuple[int, bool, int, str]
    name: str
    vehicle: str


@dataclass(frozen=True)
class FoundRoles:
    """The candidates of each role, likeliest first; and vehicles, those with most roles first."""

    candidates: Mapping[str, tuple[RoleCandidate, ...]]
    vehicles: tuple[str, ...]

    def of(self, role: str, vehicle: str | None = None) -> list[str]:
        """The names for a role, those of a vehicle first."""
        found = self.candidates.get(role, ())
        return [one.name for one in sorted(found, key=lambda one: one.vehicle != vehicle)]

    def only_of(self, role: str, vehicle: str) -> list[str]:
        """The names for a role of one vehicle."""
        return [one.name for one in self.candidates.get(role, ()) if one.vehicle == vehicle]


def find_roles(names: Iterable[str]) -> FoundRoles:
    """Guess what parameters are, by their names."""
    tails = {}
    for name in names:
        if len(name) > NAME_CHARACTERS_MAX:
            continue
        tail = "/".join(name.rsplit("/", LEVELS)[-LEVELS:]).casefold()
        tail = tail.replace("-", "_").replace(" ", "_").replace(".", "/")
        if _ANY.fullmatch(tail):
            tails[name] = tail
            if len(tails) == CANDIDATES_MAX:
                break
    vehicle_of = _vehicles(tails)
    found: defaultdict[str, list[RoleCandidate]] = defaultdict(list)
    for name, tail in tails.items():
        for role, doubt in _roles(name, tail):
            found[role].append(RoleCandidate(doubt, name, vehicle_of[name]))
    roles_of = defaultdict(set)
    for role, candidates in found.items():
        for one in candidates:
            roles_of[one.vehicle].add(role)
    vehicles = sorted(roles_of, key=lambda vehicle: (-len(roles_of[vehicle]), vehicle))
    ordered = {role: tuple(sorted(row, key=_doubt)) for role, row in found.items()}
    return FoundRoles(ordered, tuple(vehicles))


def _doubt(candidate: RoleCandidate) -> tuple[int, bool, int, str]:
    return candidate.doubt


def _roles(name: str, tail: str) -> Iterable[tuple[str, tuple[int, bool, int, str]]]:
    is_other, levels = OTHERS.search(name.casefold()) is not None, name.count("/")
    for role, patterns in _NAMED.items():
        rank = next((at for at, one in enumerate(patterns) if one.fullmatch(tail)), None)
        if rank is not None:
            yield role, (rank, is_other, levels, name)
    for role, pattern in _GROUPED.items():
        if pattern.fullmatch(tail):
            yield role, (0, is_other, levels, name)


def _vehicles(names: Iterable[str]) -> dict[str, str]:
    """The vehicle of each name: the first level, or two where the second tells vehicles apart."""
    split = {name: name.split("/") for name in names}
    seconds = defaultdict(set)
    for levels in split.values():
        if len(levels) == 3:
            seconds[levels[0], levels[2]].add(levels[1])
    vehicles = {}
    for name, levels in split.items():
        is_fleet = len(levels) == 3 and len(seconds[levels[0], levels[2]]) > 1
        own = 2 if len(levels) > 3 or is_fleet else 1
        vehicles[name] = "/".join(levels[:own]) if len(levels) > 1 else ""
    return vehicles
