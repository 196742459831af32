"""The engine: shafts, gas path, oil, fuel supply, its own accelerometers."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.demo.jet.drivers import FLIGHT
from slipring.model import AlarmLimits, Parameter

STAGES = {0: "off", 1: "cranking", 2: "light-up", 3: "running", 4: "afterburner", 5: "run-down"}
STATIONS = ("2", "21", "25", "3", "4", "45", "5", "56", "6")
TAPS = ("hub", "mid", "tip", "wall")


def add(catalog: ChannelCatalog) -> None:
    """Shafts first, then the gas path station by station."""
    _shafts(catalog)
    _oil_and_fuel(catalog)
    _gas_path(catalog)
    _accelerometers(catalog)


def _shafts(catalog: ChannelCatalog) -> None:
    high = AlarmLimits(high=15_200, high_critical=15_600)
    rpm = Parameter(
        "f64", unit="1/min", description="Speed of the high-pressure shaft", range=(0, 16_500),
        limits=high, rate_hz=50, source="ECU",
    )  # fmt: skip
    catalog.one("engine/rpm", rpm, "rpm", noise=3)
    for name, words in (("n1", "low"), ("n2", "high")):
        percent = Parameter(
            "f32", unit="%", description=f"Speed of the {words}-pressure shaft", range=(0, 115),
            limits=AlarmLimits(high=103, high_critical=106), rate_hz=50, source="ECU",
        )  # fmt: skip
        catalog.one(f"engine/{name}", percent, name, noise=0.03)
    egt = Parameter(
        "f32", unit="Cel", description="Exhaust gas temperature", range=(-60, 1_200),
        limits=AlarmLimits(high=880, high_critical=940), rate_hz=50, source="ECU",
    )  # fmt: skip
    catalog.one("engine/egt", egt, "egt", noise=0.8)
    for name, unit, top, words in (
        ("throttle", "%", 130, "Power lever"),
        ("nozzle", "%", 100, "Opening of the nozzle"),
        ("thrust", "N", 100_000, "Thrust, calculated by the control unit"),
    ):
        parameter = Parameter(
            "f32", unit=unit, description=words, range=(0, top), rate_hz=50, source="ECU"
        )
        catalog.one(f"engine/{name}", parameter, name, noise=top / 5_000)
    stage = Parameter(
        "enum", labels=STAGES, description="What the engine does", rate_hz=10, source="ECU"
    )
    catalog.one("engine/stage", stage, "engine_stage")
    lit = Parameter("bool", description="Afterburner is lit", rate_hz=50, source="ECU")
    catalog.one("engine/afterburner", lit, "afterburner", offset=-0.5)
    on = Parameter("bool", description="Engine runs by itself", rate_hz=50, source="ECU")
    catalog.one("engine/running", on, "running", offset=-0.5)
    starts = Parameter("u32", unit="1", description="Starts since overhaul", rate_hz=1)
    catalog.one("engine/starts", starts, FLIGHT, offset=1_204)


def _oil_and_fuel(catalog: ChannelCatalog) -> None:
    for name, signal, unit, limits, span, words in (
        ("oil/pressure", "oil_pressure", "bar", AlarmLimits(low=1.5, low_critical=1.0), (0, 8),
         "Oil pressure behind the filter"),
        ("oil/temperature", "oil_temperature", "Cel", AlarmLimits(high=135, high_critical=150),
         (-60, 200), "Oil temperature in the sump"),
        ("fuel_flow", "fuel_flow", "kg/s", None, (0, 6), "Fuel to core and afterburner"),
        ("vibration", "engine_vibration", "mm/s", AlarmLimits(high=6, high_critical=9), (0, 30),
         "Vibration of the casing, over all frequencies"),
    ):  # fmt: skip
        parameter = Parameter(
            "f32", unit=unit, description=words, range=span, limits=limits, rate_hz=50, source="ECU"
        )
        catalog.one(f"engine/{name}", parameter, signal, noise=(span[1] - span[0]) / 3_000)


def _gas_path(catalog: ChannelCatalog) -> None:
    hot = ChannelSeries(
        "f32", "Gas temperature at station {0}, {1}, probe {2}", ("egt", "turbine_inlet"),
        unit="Cel", low=20, high=900, jitter=0.25, noise=0.9, tau_s=0.6, range=(-60, 1_900),
        source="ECU",
    )  # fmt: skip
    catalog.many("engine/station/{0}/temperature/{1}/{2}", (STATIONS, TAPS, range(1, 5)), hot)
    pressed = ChannelSeries(
        "f32", "Gas pressure at station {0}, {1}, probe {2}", ("compressor_pressure",), unit="kPa",
        low=100, high=2_200, jitter=0.3, noise=1.5, tau_s=0.05, range=(0, 4_000), source="ECU",
    )  # fmt: skip
    catalog.many("engine/station/{0}/pressure/{1}/{2}", (STATIONS, TAPS, range(1, 5)), pressed)
    vanes = ChannelSeries(
        "i16", "Stator vane ring {0}, servo {1}, counts", ("n2",), unit="{count}", low=-12_000,
        high=12_000, jitter=0.05, noise=4, range=(-32_768, 32_767), source="ECU",
    )  # fmt: skip
    catalog.many("engine/vane/{0}/servo/{1}", (range(1, 5), "ab"), vanes)


def _accelerometers(catalog: ChannelCatalog) -> None:
    casing = ChannelSeries(
        "f32", "Accelerometer on the {0} casing, {1}, sensor {2}", ("engine_vibration",),
        unit="m/s2", low=0, high=0.4, noise=0.05, noise_drivers=("engine_vibration",),
        noise_gain=2.6, range=(-500, 500), limits=AlarmLimits(high=60, high_critical=120),
        source="HUMS",
    )  # fmt: skip
    casings = ("fan", "compressor", "turbine", "gearbox")
    catalog.many("vibration/engine/{0}/{1}/{2}", (casings, "xyz", range(1, 9)), casing)
