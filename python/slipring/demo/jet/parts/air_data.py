"""Air data: computed, and as each of four probes measures it."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.model import AlarmLimits, Parameter

COMPUTED = (
    ("altitude", "altitude", "m", (-500, 20_000), 0.15, "Pressure altitude"),
    ("vertical_speed", "vertical_speed", "m/s", (-400, 400), 0.05, "Rate of climb"),
    ("true_airspeed", "speed", "m/s", (0, 800), 0.04, "True airspeed"),
    ("calibrated_airspeed", "calibrated_speed", "m/s", (0, 500), 0.05, "Calibrated airspeed"),
    ("mach", "mach", "1", (0, 2.5), 0.0002, "Mach number"),
    ("angle_of_attack", "angle_of_attack", "deg", (-20, 40), 0.03, "Angle of attack"),
    ("sideslip", "sideslip", "deg", (-20, 20), 0.02, "Sideslip"),
    ("static_temperature", "air_temperature", "Cel", (-90, 60), 0.05, "Air around the aircraft"),
    ("total_temperature", "total_temperature", "Cel", (-90, 250), 0.05, "Air brought to rest"),
    ("static_pressure", "static_pressure", "kPa", (0, 120), 0.004, "Static pressure"),
    ("dynamic_pressure", "dynamic_pressure", "kPa", (0, 150), 0.004, "Dynamic pressure"),
    ("radar_altitude", "radar_altitude", "m", (0, 1_600), 0.05, "Height above ground"),
)
MEASURED = {
    "total_pressure": ("total_pressure", "kPa", (0, 260)),
    "static_pressure": ("static_pressure", "kPa", (0, 120)),
    "flow_angle": ("angle_of_attack", "deg", (-40, 60)),
    "temperature": ("total_temperature", "Cel", (-90, 250)),
    "heater_current": ("powered", "A", (0, 20)),
}
PROBES = ("nose", "left", "right", "standby")


def add(catalog: ChannelCatalog) -> None:
    """Computed first, then probe by probe."""
    attack = AlarmLimits(high=18, high_critical=22)
    for name, signal, unit, span, noise, words in COMPUTED:
        limits = attack if name == "angle_of_attack" else None
        parameter = Parameter(
            "f32", unit=unit, description=words, range=span, limits=limits, rate_hz=50, source="ADC"
        )
        catalog.one(f"air/{name}", parameter, signal, noise=noise)
    for what, (signal, unit, span) in MEASURED.items():
        low, high = catalog.drivers.span(signal)
        probes = ChannelSeries(
            "f32", f"{what.replace('_', ' ').capitalize()} of the {{0}} probe, lane {{1}}",
            (signal,), unit=unit, low=low, high=high, jitter=0.004, noise=(high - low) / 4_000,
            tau_s=0.04, range=span, source="ADC",
        )  # fmt: skip
        catalog.many("air/probe/{0}/" + what + "/{1}", (PROBES, (1, 2, 3)), probes)
    valid = ChannelSeries(
        "bool", "Probe {0} is valid, lane {1}", ("powered",), follows=True, source="ADC"
    )
    catalog.many("air/probe/{0}/valid/{1}", (PROBES, (1, 2, 3)), valid)
