"""Navigation: attitude, rates, position, inertial units, satellite receivers, the filter."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.demo.jet.timeline import PHASES
from slipring.model import AlarmLimits, Parameter

MOTION = (
    ("attitude/roll", "roll", "deg", (-180, 180), 0.01, "Bank, right wing down is positive"),
    ("attitude/pitch", "pitch", "deg", (-90, 90), 0.01, "Nose above the horizon"),
    ("attitude/heading", "heading", "deg", (0, 360), 0.02, "True heading"),
    ("rate/roll", "roll_rate", "deg/s", (-400, 400), 0.05, "Roll rate"),
    ("rate/pitch", "pitch_rate", "deg/s", (-200, 200), 0.05, "Pitch rate"),
    ("rate/yaw", "turn_rate", "deg/s", (-200, 200), 0.05, "Yaw rate"),
    ("acceleration/longitudinal", "longitudinal_g", "[g]", (-5, 5), 0.002, "Along the body"),
    ("acceleration/lateral", "lateral_g", "[g]", (-5, 5), 0.002, "Across the body"),
    ("ground_speed", "ground_speed", "m/s", (0, 900), 0.02, "Speed over ground"),
)
INERTIAL = {
    "latitude": ("latitude", "deg", 2e-7), "longitude": ("longitude", "deg", 2e-7),
    "altitude": ("altitude", "m", 0.3), "north_speed": ("north_speed", "m/s", 0.02),
    "east_speed": ("east_speed", "m/s", 0.02), "vertical_speed": ("vertical_speed", "m/s", 0.02),
    "roll": ("roll", "deg", 0.004), "pitch": ("pitch", "deg", 0.004),
    "heading": ("heading", "deg", 0.006), "ground_speed": ("ground_speed", "m/s", 0.03),
}  # fmt: skip
UNITS = ("ins/1", "ins/2", "ins/3", "gnss/1", "gnss/2")
MODES = {0: "off", 1: "aligning", 2: "navigating", 3: "degraded"}


def add(catalog: ChannelCatalog) -> None:
    """What pilots look at, then every unit's own view."""
    _motion(catalog)
    for unit in UNITS:
        for name, (signal, measure, noise) in INERTIAL.items():
            parameter = Parameter(
                "f64", unit=measure, description=f"{name} by {unit}".replace("_", " "),
                rate_hz=50 if unit.startswith("ins") else 10, source=unit.upper(),
            )  # fmt: skip
            catalog.one(f"navigation/{unit}/{name}", parameter, signal, noise=noise)
    _filter(catalog)
    mode = ChannelSeries(
        "enum", "Mode of {0}", ("equipment_mode",), labels=MODES, follows=True, rate_hz=5
    )
    catalog.many("navigation/{0}/mode", (UNITS,), mode)
    used = ChannelSeries(
        "u8", "Signal of satellite {1}, receiver {0}", ("altitude", "roll"), unit="dB", low=38,
        high=46, jitter=0.4, noise=0.6, range=(0, 60), rate_hz=1, source="GNSS/{0}",
    )  # fmt: skip
    catalog.many("navigation/gnss/{0}/satellite/{1:02}/signal", ((1, 2), range(1, 33)), used)


def _motion(catalog: ChannelCatalog) -> None:
    load = Parameter(
        "f32", unit="[g]", description="Load factor", range=(-6, 12), rate_hz=50, source="INS",
        limits=AlarmLimits(low_critical=-3, low=-2.6, high=7, high_critical=9),
    )  # fmt: skip
    catalog.one("motion/load_factor", load, "load_factor", noise=0.006)
    for name, signal, unit, span, noise, words in MOTION:
        parameter = Parameter(
            "f32", unit=unit, description=words, range=span, rate_hz=50, source="INS"
        )
        catalog.one(f"motion/{name}", parameter, signal, noise=noise)
    for name, ends in (("latitude", (-90, 90)), ("longitude", (-180, 180))):
        parameter = Parameter(
            "f64", unit="deg", description=f"{name.capitalize()}, WGS 84", range=ends, rate_hz=50,
            source="NAV",
        )  # fmt: skip
        catalog.one(f"position/{name}", parameter, name)
    labels = {number: phase.name for number, phase in enumerate(PHASES)}
    phase = Parameter("enum", labels=labels, description="Part of the flight", rate_hz=50)
    catalog.one("flight/phase", phase, "phase")


def _filter(catalog: ChannelCatalog) -> None:
    states = ChannelSeries(
        "f64", "Covariance of states {0} and {1} in the navigation filter",
        ("ground_speed", "turn_rate", "altitude"), unit="1", low=1e-6, high=4e-4, jitter=0.9,
        noise=1e-7, tau_s=4, rate_hz=10, source="NAV",
    )  # fmt: skip
    catalog.many("navigation/filter/covariance/{0:02}/{1:02}", (range(17), range(17)), states)
