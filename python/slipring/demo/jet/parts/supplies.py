"""Hydraulics, fuel, electricity, cabin, and the warnings of the aircraft."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.model import AlarmLimits, Parameter

TANKS = ("forward", "aft", "left", "right", "centre")
BUSES = ("ac/1", "ac/2", "ac/essential", "dc/1", "dc/2", "dc/essential", "dc/battery", "dc/test")
VALVE = {0: "closed", 1: "open"}
HYDRAULIC = {0: "off", 1: "pressurised", 2: "low", 3: "failed"}
WARNINGS = {
    "hydraulic_1": "Pressure of hydraulic system 1 is low",
    "hydraulic_2": "Pressure of hydraulic system 2 is low",
    "fuel_imbalance": "Fuel left and right differ",
    "oil_pressure": "Oil pressure is low",
    "egt": "Exhaust gas is too hot",
    "any": "Master warning",
}


def add(catalog: ChannelCatalog) -> None:
    """System by system."""
    _hydraulics(catalog)
    _fuel(catalog)
    _electricity(catalog)
    _cabin(catalog)
    for name, words in WARNINGS.items():
        light = Parameter("bool", description=f"{words}; latched", rate_hz=50, source="CWS")
        catalog.one(f"warning/{name}", light, f"warning_{name}", offset=-0.5)


def _hydraulics(catalog: ChannelCatalog) -> None:
    for system in (1, 2):
        for name, unit, span, limits, noise in (
            ("pressure", "bar", (0, 260), AlarmLimits(low=170, low_critical=150, high=225), 0.25),
            ("temperature", "Cel", (-60, 160), AlarmLimits(high=105, high_critical=120), 0.05),
            ("quantity", "%", (0, 110), AlarmLimits(low=70, low_critical=50), 0.05),
        ):
            parameter = Parameter(
                "f32", unit=unit, range=span, limits=limits, rate_hz=50, source=f"HYD/{system}",
                description=f"{name.capitalize()} of hydraulic system {system}",
            )  # fmt: skip
            catalog.one(
                f"hydraulics/{system}/{name}", parameter, f"hydraulic_{system}_{name}", noise=noise
            )
        mode = Parameter(
            "enum", labels=HYDRAULIC, description=f"Hydraulic system {system}", rate_hz=10,
            source=f"HYD/{system}",
        )  # fmt: skip
        catalog.one(f"hydraulics/{system}/mode", mode, f"hydraulic_{system}_mode")
    taps = ChannelSeries(
        "f32", "Line pressure of system {0}, tap {1}",
        {1: "hydraulic_1_pressure", 2: "hydraulic_2_pressure"}, unit="bar", low=0, high=207,
        jitter=0.04, noise=0.4, tau_s=0.2, range=(0, 280), source="HYD/{0}",
    )  # fmt: skip
    catalog.many("hydraulics/{0}/line/{1:02}/pressure", ((1, 2), range(1, 31)), taps)


def _fuel(catalog: ChannelCatalog) -> None:
    total = Parameter(
        "f64", unit="kg", description="Fuel aboard", range=(0, 3_500), rate_hz=50, source="FMS",
        limits=AlarmLimits(low=700, low_critical=350),
    )  # fmt: skip
    catalog.one("fuel/total", total, "fuel")
    for tank in TANKS:
        amount = Parameter(
            "f32", unit="kg", description=f"Fuel in the {tank} tank", range=(0, 900), rate_hz=10,
            source="FMS",
        )  # fmt: skip
        catalog.one(f"fuel/tank/{tank}/quantity", amount, f"tank_{tank}", noise=0.4)
    probes = ChannelSeries(
        "f32", "Level at probe {1} of the {0} tank", {tank: f"tank_{tank}" for tank in TANKS},
        unit="mm", low=180, high=620, jitter=0.3, noise=1.4, noise_drivers=("buffet",),
        noise_gain=3.0, tau_s=0.6, range=(0, 900), rate_hz=10, source="FMS",
    )  # fmt: skip
    catalog.many("fuel/tank/{0}/probe/{1}/level", (TANKS, range(1, 9)), probes)
    for name, signal, unit, span in (
        ("imbalance", "fuel_imbalance", "kg", (-500, 500)),
        ("temperature", "fuel_temperature", "Cel", (-60, 90)),
        ("boost_pressure", "boost_pressure", "bar", (0, 5)),
    ):
        parameter = Parameter(
            "f32", unit=unit, description=f"Fuel: {name.replace('_', ' ')}", range=span, rate_hz=10,
            source="FMS",
        )  # fmt: skip
        catalog.one(f"fuel/{name}", parameter, signal, noise=(span[1] - span[0]) / 4_000)
    moving = Parameter("bool", description="Fuel is moved between the wings", rate_hz=10)
    catalog.one("fuel/transfer", moving, "fuel_transfer", offset=-0.5)
    valve = ChannelSeries(
        "enum", "Fuel valve {0}", ("fuel_transfer", "running", "outside_power"), labels=VALVE,
        follows=True, rate_hz=10, source="FMS",
    )  # fmt: skip
    catalog.many("fuel/valve/{0:02}/state", (range(1, 41),), valve)


def _electricity(catalog: ChannelCatalog) -> None:
    for name, signal, unit, span in (
        ("generator/voltage", "generator_voltage", "V", (0, 140)),
        ("generator/frequency", "generator_frequency", "Hz", (0, 480)),
        ("generator/load", "generator_load", "kV.A", (0, 60)),
        ("battery/voltage", "battery_voltage", "V", (0, 36)),
    ):
        parameter = Parameter(
            "f32", unit=unit, description=name.replace("/", " ").capitalize(), range=span,
            rate_hz=50, source="EPS",
        )  # fmt: skip
        catalog.one(f"electrical/{name}", parameter, signal, noise=span[1] / 3_000)
    feeders = ChannelSeries(
        "f32", "Current of feeder {1} of bus {0}", ("generator_load", "powered", "control_effort"),
        unit="A", low=0, high=14, jitter=0.6, noise=0.03, tau_s=0.1, range=(-5, 60), source="EPS",
    )  # fmt: skip
    catalog.many("electrical/bus/{0}/feeder/{1:02}/current", (BUSES, range(1, 31)), feeders)
    volts = ChannelSeries(
        "f32", "Voltage of bus {0}, sensor {1}", ("bus_voltage",), unit="V", low=0, high=28,
        jitter=0.01, noise=0.02, range=(0, 150), source="EPS",
    )  # fmt: skip
    catalog.many("electrical/bus/{0}/voltage/{1}", (BUSES, (1, 2, 3)), volts)
    closed = ChannelSeries(
        "bool", "Breaker {0} is closed", ("powered",), follows=True, source="EPS"
    )
    catalog.many("electrical/breaker/{0:03}/closed", (range(1, 301),), closed)
    load = ChannelSeries(
        "u8", "Load of breaker {0}", ("generator_load", "control_effort"), unit="%", low=5,
        high=70, jitter=0.4, noise=0.5, range=(0, 200), rate_hz=10, source="EPS",
    )  # fmt: skip
    catalog.many("electrical/breaker/{0:03}/load", (range(1, 301),), load)


def _cabin(catalog: ChannelCatalog) -> None:
    for name, signal, unit, span in (
        ("altitude", "cabin_altitude", "m", (-500, 12_000)),
        ("temperature", "cabin_temperature", "Cel", (-40, 80)),
        ("oxygen/flow", "oxygen_flow", "l/min", (0, 60)),
        ("g_suit/pressure", "g_suit", "kPa", (0, 120)),
    ):
        parameter = Parameter(
            "f32", unit=unit, description=f"Cabin: {name}".replace("_", " "), range=span,
            rate_hz=10, source="ECS",
        )  # fmt: skip
        catalog.one(f"cabin/{name}", parameter, signal, noise=(span[1] - span[0]) / 9_000)
