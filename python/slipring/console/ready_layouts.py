"""Ready-made layouts: flight, engine, fleet, broker, of what is declared. Never stores one."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from slipring.console.catalog import Catalog
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
        self._found: dict[int, FoundRoles] = {}
        self._finding = asyncio.Lock()

    async def make(self, name: str, view: CatalogView) -> Layout:
        """One of them, of the parameters that the visitor may watch."""
        if name == "broker":
            return Layout(title=TITLES[name], widgets=packed(broker_rows()))
        await view.refresh()
        found = await self._roles(view.names)
        choice = RoleChoice(found, view)
        rows = {"flight": flight_rows, "engine": engine_rows, "fleet": fleet_rows}[name](choice)
        return Layout(title=TITLES[name], widgets=packed(rows))

    async def _roles(self, names: list[str]) -> FoundRoles:
        key = hash(tuple(names))
        async with self._finding:
            if key not in self._found:
                if len(self._found) >= KEPT_MAX:
                    self._found.clear()
                self._found[key] = await asyncio.to_thread(find_roles, names)
            return self._found[key]


class RoleChoice:
    """The parameter for each role, of the fitting type; those of the best known vehicle first."""

    def __init__(self, found: FoundRoles, view: CatalogView) -> None:
        self.found = found
        self._view = view
        self._types: dict[str, str | None] = {}
        self.vehicle = found.vehicles[0] if found.vehicles else None

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
            type_ = self._type(name)
            if type_ not in (None, "text", "bytes") and (type_ in STATES) is is_state:
                yield name

    def _type(self, name: str) -> str | None:
        if name not in self._types:
            rows = self._view.ask("list", {"filter": name, "count": 1})["parameters"]
            self._types[name] = rows[0]["type"] if rows else None
        return self._types[name]


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
    rows: list[Row] = [(7, tables[at : at + 3]) for at in range(0, len(tables), 3)]
    if not tables:
        return []
    return [*rows, (5, [*_some("states", "What they do", phases, 2), _events()])]


def broker_rows() -> list[Row]:
    """Rates, clients, drops and events."""
    return [
        (4, [Place("broker", "Broker", {"figures": list(FIGURES)})]),
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
