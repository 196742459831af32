"""Ready-made layouts: flight, engine, fleet, broker, of what is declared. Never stores one."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from slipring.console.catalog import Catalog, Columns
from slipring.console.narrowing import CatalogView
from slipring.console.parameter_roles import FoundRoles, find_roles
from slipring.control.layout import COLUMNS, NAMES_MAX, TITLE_MAX, Layout, LayoutWidget, WidgetKind

TITLES = {"flight": "Flight", "engine": "Engine", "fleet": "Fleet", "broker": "Broker"}
VEHICLES_MAX = 12
"""Vehicles of the fleet: those of which most is known."""
TRIES_MAX = 8
"""Candidates for a role whose type is looked at."""
KEPT_MAX = 8
"""Views of which the roles are kept: one for all who may watch everything."""
STATES = ("bool", "enum")
ACROSS = ("altitude", "speed", "rpm", "fuel", "battery")
"""What vehicles are compared by: the first two of which there are any."""
FIGURES = ("messages_in", "messages_out", "samples_in", "bytes_in", "clients", "dropped")

Json = dict[str, Any]


class Place(NamedTuple):
    """A widget before it has its place; its width is its share of the row."""

    kind: WidgetKind
    title: str
    options: Json
    share: int = 1


class ReadyLayouts:
    """Makes them for who asks; the roles of parameters are found once for each set of names."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._choices: dict[tuple[object, ...], RoleChoice] = {}
        self._finding = asyncio.Lock()

    async def make(self, name: str, view: CatalogView) -> Layout:
        """One of them, of the parameters that the visitor may watch."""
        if name == "broker":
            return Layout(title=TITLES[name], widgets=packed(broker_rows()))
        await self._catalog.refresh()
        choice = await self._choice(self._catalog.columns, view)
        rows = {"flight": flight_rows, "engine": engine_rows, "fleet": fleet_rows}[name](choice)
        return Layout(title=TITLES[name], widgets=packed(rows))

    async def _choice(self, columns: Columns, view: CatalogView) -> "RoleChoice":
        key = (self._catalog.revision, *view.key)
        async with self._finding:
            if key not in self._choices:
                if len(self._choices) >= KEPT_MAX:
                    self._choices.clear()
                positions = view.positions(columns)
                self._choices[key] = await asyncio.to_thread(_choice_of, columns, positions)
            return self._choices[key]


def _choice_of(columns: Columns, positions: Sequence[int]) -> "RoleChoice":
    found = find_roles(columns.names[at] for at in positions)
    named = {one.name for row in found.candidates.values() for one in row}
    types = zip(columns.names, columns.types, strict=True)
    return RoleChoice(found, {name: type_ for name, type_ in types if name in named})


class RoleChoice:
    """The parameter for each role, of the fitting type; those of the best known vehicle first."""

    def __init__(self, found: FoundRoles, types: Mapping[str, str]) -> None:
        self.found = found
        self._types = types
        self.vehicle: str | None = found.vehicles[0] if found.vehicles else None

    def number(self, role: str, vehicle: str | None = None) -> str | None:
        """A number for this role; None if there is none."""
        return next(iter(self._fitting(role, vehicle, is_state=False)), None)

    def numbers(self, *roles: str) -> list[str]:
        """The numbers that there are for these roles."""
        return [name for role in roles if (name := self.number(role)) is not None]

    def states(self, *roles: str, vehicle: str | None = None) -> list[str]:
        """Booleans and enumerations for these roles."""
        found: dict[str, None] = {}
        for role in roles:
            fitting = list(self._fitting(role, vehicle, is_state=True))
            found |= dict.fromkeys(
                fitting if role in ("gear", "wheels", "warning") else fitting[:1]
            )
        return list(found)

    def _fitting(self, role: str, vehicle: str | None, *, is_state: bool) -> Iterable[str]:
        if vehicle is None:
            names = self.found.of(role, self.vehicle)
        else:
            names = self.found.only_of(role, vehicle)
        for name in names[:TRIES_MAX]:
            type_ = self._types[name]
            if type_ not in ("text", "bytes") and (type_ in STATES) is is_state:
                yield name


Row = tuple[int, Sequence[Place]]
"""How high it is, and what stands in it."""


def flight_rows(choice: RoleChoice) -> list[Row]:
    """Where it is, how fast, what the pilot feels, and what happened."""
    numbers = ("altitude", "speed", "mach", "vertical_speed", "load_factor", "heading")
    envelope = choice.numbers("speed", "altitude")
    attitude = choice.numbers("roll", "pitch")
    states = choice.states("phase", "engine_stage", "afterburner", "gear", "wheels", "warning")
    return [
        (2, _each(choice, "number", numbers)),
        (5, _each(choice, "plot", ("altitude", "speed"))),
        (
            5,
            [
                *_each(choice, "plot", ("load_factor", "angle_of_attack")),
                *_some("plot", "Attitude", attitude),
                *(_some("xy", "Altitude over speed", envelope) if len(envelope) == 2 else []),
            ],
        ),
        (5, [*_some("states", "States", states, 2), _events()] if states else []),
        (4, _each(choice, "gauge", ("load_factor", "angle_of_attack", "fuel"))),
    ]


def engine_rows(choice: RoleChoice) -> list[Row]:
    """What the engine does, and how it is."""
    gauges = ("rpm", "n1", "n2", "egt", "oil_pressure", "oil_temperature")
    states = choice.states("engine_stage", "running", "afterburner")
    shafts = choice.numbers("n1", "n2", "throttle")
    across = choice.numbers("rpm", "egt")
    every = choice.numbers(*gauges, "fuel_flow", "vibration", "thrust", "throttle", "nozzle")
    return [
        (4, _each(choice, "gauge", gauges)),
        (5, [*_each(choice, "plot", ("egt",)), *_some("plot", "Shafts and throttle", shafts)]),
        (
            5,
            [
                *_each(choice, "plot", ("fuel_flow", "vibration")),
                *(_some("xy", "Temperature over speed", across) if len(across) == 2 else []),
            ],
        ),
        (
            6,
            [*_some("states", "States", states), *_some("table", "Engine", every)],
        ),
    ]


def fleet_rows(choice: RoleChoice) -> list[Row]:
    """The same few figures of each vehicle, and its states."""
    roles = ("altitude", "speed", "load_factor", "egt", "rpm", "fuel", "battery", "heading")
    tables, phases = [], []
    for vehicle in choice.found.vehicles[:VEHICLES_MAX]:
        named = [choice.number(role, vehicle) for role in roles]
        states = choice.states("phase", "engine_stage", vehicle=vehicle)[:1]
        names = [*states, *dict.fromkeys(name for name in named if name is not None)]
        tables += _some("table", _vehicle(vehicle), names)
        phases += states
    if not tables:
        return []
    vehicles = choice.found.vehicles[:VEHICLES_MAX]
    across = [(role, [choice.number(role, one) for one in vehicles]) for role in ACROSS]
    plots = [_some("plot", _words(role), [one for one in names if one]) for role, names in across]
    rows: list[Row] = [(7, tables[at : at + 3]) for at in range(0, len(tables), 3)]
    first = [place for row in plots for place in row][:2]
    return [(6, first), *rows, (5, [*_some("states", "What they do", phases, 2), _events()])]


def broker_rows() -> list[Row]:
    """Rates, clients, drops and events."""
    return [
        (2, [Place("broker", "Broker", {"figures": list(FIGURES)})]),
        (6, [Place("broker", "Traffic", {"figures": ["traffic"]}, 2), _events()]),
        (7, [Place("broker", "Clients", {"figures": ["busiest"]})]),
    ]


def packed(rows: Iterable[Row]) -> list[LayoutWidget]:
    """Rows below each other, each as wide as the page; empty ones are left out."""
    made, y = [], 0
    for height, places in rows:
        if not places:
            continue
        shares, x = sum(place.share for place in places), 0
        for at, place in enumerate(places):
            before = sum(one.share for one in places[: at + 1])
            width = COLUMNS * before // shares - x
            made.append(
                LayoutWidget(
                    kind=place.kind, title=place.title, x=x, y=y, w=width, h=height,
                    options=place.options,
                )
            )  # fmt: skip
            x += width
        y += height
    return made


def _each(choice: RoleChoice, kind: WidgetKind, roles: Iterable[str]) -> list[Place]:
    """A widget for each role that a parameter has."""
    named = ((role, choice.number(role)) for role in roles)
    return [Place(kind, _words(role), {"names": [name]}) for role, name in named if name]


def _some(kind: WidgetKind, title: str, names: Sequence[str], share: int = 1) -> list[Place]:
    return [Place(kind, title, {"names": list(names[:NAMES_MAX])}, share)] if names else []


def _events() -> Place:
    return Place("log", "Events", {"names": [], "source": "events"})


def _vehicle(levels: str) -> str:
    """A part of a name as a title; strangers choose names."""
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in levels)
    return shown[:TITLE_MAX] or "No vehicle"


def _words(role: str) -> str:
    short = {"egt": "Exhaust gas temperature", "rpm": "Shaft speed", "n1": "N1", "n2": "N2"}
    return short.get(role, role.replace("_", " ").capitalize())
