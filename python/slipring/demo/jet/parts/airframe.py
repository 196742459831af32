"""The airframe as flight test sees it: strain, loads, vibration, temperatures, skin pressures."""

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries
from slipring.model import AlarmLimits

ZONES = ("wing_left", "wing_right", "fuselage_forward", "fuselage_centre", "fuselage_aft", "fin",
         "canard_left", "canard_right")  # fmt: skip
HOT = ("engine_bay", "nozzle_ring", "exhaust_fairing")
WARM = ("nose", "cockpit", "avionics_1", "avionics_2", "wing_left", "wing_right", "fuselage_aft",
        "fin", "intake_left", "intake_right", "gear_bay")  # fmt: skip
SHAKEN = ("pylon_left", "pylon_right", "tip_left", "tip_right", "fin_tip", "canard", "cockpit",
          "tail", "floor", "rack_1", "rack_2", "rack_3")  # fmt: skip
COMPONENTS = ("wing_left", "wing_right", "fin", "canard_left", "canard_right", "fuselage",
              "elevon_left", "elevon_right", "rudder", "pylons")  # fmt: skip
RACK = "FTI/{0}"


def add(catalog: ChannelCatalog) -> None:
    """Thousands of gauges that follow loads, heat and vibration."""
    strain = ChannelSeries(
        "f32", "Strain gauge {1} of the {0}", ("load_factor",), unit="um/m", low=-420, high=2_100,
        jitter=0.5, noise=1.2, noise_drivers=("buffet",), noise_gain=4.0, tau_s=0.04,
        second=("skin_temperature", "dynamic_pressure", "roll_rate"), second_share=0.25,
        range=(-6_000, 6_000), limits=AlarmLimits(low=-3_000, high=3_800, high_critical=4_500),
        source=RACK,
    )  # fmt: skip
    catalog.many("structure/strain/{0}/{1:03}", (ZONES, range(1, 401)), strain)
    loads = ChannelSeries(
        "f64", "{2} of the {0} at station {1}, calculated", ("load_factor",), unit="N", low=-9_000,
        high=38_000, jitter=0.8, noise=12, tau_s=0.05, second=("dynamic_pressure", "roll_rate"),
        second_share=0.3, source="LOADS",
    )  # fmt: skip
    parts = ("shear_x", "shear_y", "shear_z")
    catalog.many("structure/load/{0}/station/{1:02}/{2}", (COMPONENTS, range(1, 25), parts), loads)
    _vibration(catalog)
    _temperatures(catalog)
    taps = ChannelSeries(
        "f32", "Skin pressure of the {0}, tap {1}", ("static_pressure",), unit="kPa", low=38,
        high=101, jitter=0.02, noise=0.01, noise_drivers=("buffet",), noise_gain=0.05,
        second=("dynamic_pressure", "angle_of_attack"), second_share=0.12, range=(0, 180),
        source=RACK,
    )  # fmt: skip
    catalog.many("structure/pressure/{0}/{1:03}", (ZONES[:6], range(1, 121)), taps)


def _vibration(catalog: ChannelCatalog) -> None:
    shaken = ChannelSeries(
        "f32", "Accelerometer {2} at {0}, axis {1}", ("load_factor",), unit="m/s2", low=-0.3,
        high=0.9, jitter=0.6, noise=0.04, noise_drivers=("buffet", "engine_vibration", "runway"),
        noise_gain=1.4, range=(-400, 400), limits=AlarmLimits(low=-150, high=150), source=RACK,
    )  # fmt: skip
    catalog.many("vibration/{0}/{1}/{2:02}", (SHAKEN, "xyz", range(1, 31)), shaken)


def _temperatures(catalog: ChannelCatalog) -> None:
    hot = ChannelSeries(
        "f32", "Thermocouple {1} in the {0}", ("egt", "turbine_inlet"), unit="Cel", low=18,
        high=430, jitter=0.4, noise=0.15, tau_s=25, range=(-60, 1_300), rate_hz=10, source=RACK,
        limits=AlarmLimits(high=560, high_critical=640),
    )  # fmt: skip
    catalog.many("temperature/{0}/{1:03}", (HOT, range(1, 91)), hot)
    warm = ChannelSeries(
        "f32", "Temperature {1}, {0}", ("skin_temperature", "bay_temperature"), unit="Cel", low=-8,
        high=34, jitter=0.25, noise=0.04, tau_s=30, second=("total_temperature",),
        second_share=0.2, range=(-80, 200), rate_hz=5, source=RACK,
    )  # fmt: skip
    catalog.many("temperature/{0}/{1:03}", (WARM, range(1, 91)), warm)
