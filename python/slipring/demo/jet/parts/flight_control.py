"""Flight controls: stick, surfaces with three lanes each, landing gear, stores."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.model import AlarmLimits, Parameter

SURFACES = {
    "canard_left": "canard", "canard_right": "canard", "inner_elevon_left": "elevon_left",
    "inner_elevon_right": "elevon_right", "outer_elevon_left": "elevon_left",
    "outer_elevon_right": "elevon_right", "leading_edge_left": "leading_edge",
    "leading_edge_right": "leading_edge", "rudder": "rudder", "air_brake": "air_brake",
}  # fmt: skip
LANES = (1, 2, 3)
ACTUATOR = {0: "off", 1: "self-test", 2: "active", 3: "damped"}
GEAR = {0: "up", 1: "in transit", 2: "down"}
STATIONS = ("tip_left", "outer_left", "inner_left", "centre", "inner_right", "outer_right",
            "tip_right", "chin")  # fmt: skip
STORE = {0: "unpowered", 1: "starting", 2: "ready", 3: "failed"}


def add(catalog: ChannelCatalog) -> None:
    """Surfaces, gear, stores."""
    _surfaces(catalog)
    _gear(catalog)
    _stores(catalog)


def _surfaces(catalog: ChannelCatalog) -> None:
    for surface, signal in SURFACES.items():
        low, high = catalog.drivers.span(signal)
        words = surface.replace("_", " ")
        for what, unit, noise, tau_s in (
            ("command", "deg", 0.002, 0.0),
            ("position", "deg", 0.02, 0.03),
            ("demand", "deg", 0.004, 0.0),
        ):
            lanes = ChannelSeries(
                "f32", f"{what.capitalize()} of the {words}, lane {{1}}", (signal,), unit=unit,
                low=low, high=high, jitter=0.003, noise=noise, tau_s=tau_s, range=(-60, 60),
                source="FCC/{1}",
            )  # fmt: skip
            catalog.many("flight_control/{0}/lane/{1}/" + what, ((surface,), LANES), lanes)
        _actuator(catalog, surface, signal)


def _actuator(catalog: ChannelCatalog, surface: str, signal: str) -> None:
    words = surface.replace("_", " ")
    for what, unit, top in (("hinge_moment", "N.m", 6_000), ("current", "mA", 40),
                            ("rate", "deg/s", 90)):  # fmt: skip
        lanes = ChannelSeries(
            "f32", f"{what.replace('_', ' ').capitalize()} of the {words}, lane {{1}}", (signal,),
            unit=unit, low=-0.2 * top, high=0.7 * top, noise=top / 900,
            noise_drivers=("control_effort",), noise_gain=top / 1_500, tau_s=0.05,
            second=("dynamic_pressure",), second_share=0.2, range=(-top, top), source="FCC/{1}",
        )  # fmt: skip
        catalog.many("flight_control/{0}/lane/{1}/" + what, ((surface,), LANES), lanes)
    mode = ChannelSeries(
        "enum", f"Actuator of the {words}, lane {{1}}", ("equipment_mode",), labels=ACTUATOR,
        follows=True, rate_hz=10, source="FCC/{1}",
    )  # fmt: skip
    catalog.many("flight_control/{0}/lane/{1}/mode", ((surface,), LANES), mode)
    counts = ChannelSeries(
        "i16", f"Position sensor of the {words}, lane {{1}}, counts", (signal,), unit="{count}",
        low=-9_000, high=9_000, jitter=0.02, noise=3, tau_s=0.03, range=(-32_768, 32_767),
        source="FCC/{1}",
    )  # fmt: skip
    catalog.many("flight_control/{0}/lane/{1}/counts", ((surface,), LANES), counts)
    engaged = ChannelSeries(
        "bool", f"Lane {{1}} of the {words} is engaged", ("powered",), follows=True,
        source="FCC/{1}",
    )  # fmt: skip
    catalog.many("flight_control/{0}/lane/{1}/engaged", ((surface,), LANES), engaged)


def _gear(catalog: ChannelCatalog) -> None:
    legs = ("nose", "left", "right")
    for name, signal, unit, span, noise in (
        ("extension", "gear", "1", (0, 1), 0.0005),
        ("wheel_speed", "wheel_speed", "m/s", (0, 140), 0.05),
        ("brake_pressure", "brake_pressure", "bar", (0, 210), 0.2),
        ("brake_temperature", "brake_temperature", "Cel", (-60, 900), 0.1),
        ("strut_load", "strut_load", "kN", (0, 250), 0.05),
    ):
        low, high = catalog.drivers.span(signal)
        limits = AlarmLimits(high=400, high_critical=600) if "temperature" in name else None
        series = ChannelSeries(
            "f32", f"{name.replace('_', ' ').capitalize()} of the {{0}} gear", (signal,), unit=unit,
            low=low, high=high, jitter=0.01, noise=noise, range=span, limits=limits, source="GCU",
        )  # fmt: skip
        catalog.many("gear/{0}/" + name, (legs,), series)
    stage = ChannelSeries(
        "enum", "Gear leg {0}", ("gear_stage",), labels=GEAR, follows=True, source="GCU"
    )
    catalog.many("gear/{0}/stage", (legs,), stage)
    on = ChannelSeries(
        "bool", "Weight on the {0} wheel", ("on_wheels",), follows=True, source="GCU"
    )
    catalog.many("gear/{0}/weight_on_wheel", (legs,), on)


def _stores(catalog: ChannelCatalog) -> None:
    state = ChannelSeries(
        "enum", "State of the store at {0}", ("equipment_mode",), labels=STORE, follows=True,
        rate_hz=5, source="SMS",
    )  # fmt: skip
    catalog.many("stores/{0}/state", (STATIONS,), state)
    for name, unit, signals, low, high in (
        ("mass", "kg", ("one",), 80, 400),
        ("pylon_load", "kN", ("load_factor",), -6, 22),
        ("temperature", "Cel", ("skin_temperature",), -20, 40),
        ("supply_voltage", "V", ("bus_voltage",), 0, 28),
    ):
        series = ChannelSeries(
            "f32", f"{name.replace('_', ' ').capitalize()} at {{0}}", signals, unit=unit, low=low,
            high=high, noise=(high - low) / 800, range=(-100, 500), rate_hz=10, source="SMS",
        )  # fmt: skip
        catalog.many("stores/{0}/" + name, (STATIONS,), series)
    for name in ("present", "locked", "powered", "safe"):
        lights = ChannelSeries("bool", f"Store at {{0}} is {name}", ("powered",), follows=True)
        catalog.many("stores/{0}/" + name, (STATIONS,), lights)
    stick = Parameter(
        "f32", unit="%", description="Stick, right is positive", range=(-100, 100), rate_hz=50
    )
    catalog.one("flight_control/stick/roll", stick, "roll_rate", gain=0.5, noise=0.05)
