"""The acquisition racks: raw counts, discretes and spare channels, as many as the mix asks for."""

from collections.abc import Iterator, Mapping
from typing import Any

from slipring.demo.jet.catalog import ChannelCatalog, ChannelSeries

MEASURED = ("load_factor", "dynamic_pressure", "egt", "n2", "altitude", "skin_temperature",
            "roll_rate", "pitch_rate", "fuel", "generator_load", "hydraulic_1_pressure",
            "hydraulic_2_pressure", "angle_of_attack", "buffet", "bay_temperature")  # fmt: skip
DISCRETE = ("on_wheels", "powered", "running", "afterburner", "gear", "n2", "altitude", "speed",
            "warning_hydraulic_1", "fuel_transfer", "load_factor", "outside_power",
            "roll_rate", "generator_voltage", "air_brake")  # fmt: skip
CARD = 64
RACK = "FTI/{0}"

FILLING = {
    "f32": ("instrumentation/{0}/{1:02}/{2:02}", ChannelSeries(
        "f32", "Rack {0}, card {1}, channel {2}, conditioned", MEASURED, unit="V", low=-4, high=4,
        jitter=0.4, noise=0.004, tau_s=0.05, second=MEASURED, second_share=0.15, range=(-10, 10),
        source=RACK)),
    "f64": ("instrumentation/precise/{0}/{1:02}/{2:02}", ChannelSeries(
        "f64", "Precise rack {0}, card {1}, channel {2}", MEASURED, unit="V", low=-4, high=4,
        jitter=0.4, noise=0.0002, tau_s=0.2, range=(-10, 10), source=RACK)),
    "u16": ("acquisition/analogue/{0}/{1:02}/{2:02}", ChannelSeries(
        "u16", "Raw counts of rack {0}, card {1}, channel {2}", MEASURED, unit="{count}",
        low=6_000, high=58_000, jitter=0.3, noise=9, tau_s=0.03, second=MEASURED,
        second_share=0.1, range=(0, 65_535), source=RACK)),
    "i16": ("acquisition/bridge/{0}/{1:02}/{2:02}", ChannelSeries(
        "i16", "Raw bridge of rack {0}, card {1}, channel {2}", MEASURED, unit="{count}",
        low=-9_000, high=22_000, jitter=0.4, noise=6, noise_drivers=("buffet",), noise_gain=40,
        tau_s=0.03, range=(-32_768, 32_767), source=RACK)),
    "u8": ("acquisition/status/{0}/{1:02}/{2:02}", ChannelSeries(
        "u8", "Status byte of rack {0}, card {1}, channel {2}", ("equipment_mode",), unit="1",
        low=0, high=128, jitter=0.0, range=(0, 255), rate_hz=5, source=RACK)),
    "i32": ("acquisition/encoder/{0}/{1:02}/{2:02}", ChannelSeries(
        "i32", "Encoder of rack {0}, card {1}, channel {2}", ("gear", "nozzle", "canard", "rudder"),
        unit="{count}", low=-4_000_000, high=4_000_000, jitter=0.2, noise=20, tau_s=0.1,
        source=RACK)),
    "u32": ("acquisition/counter/{0}/{1:02}/{2:02}", ChannelSeries(
        "u32", "Pulses at rack {0}, card {1}, channel {2}", ("elapsed",), unit="{count}", low=0,
        high=9_000_000, jitter=0.3, rate_hz=10, source=RACK)),
    "enum": ("acquisition/supply/{0}/{1:02}/{2:02}", ChannelSeries(
        "enum", "Supply of rack {0}, card {1}, channel {2}", ("equipment_mode",), follows=True,
        labels={0: "off", 1: "rising", 2: "good", 3: "overload"}, rate_hz=5, source=RACK)),
    "bool": ("acquisition/discrete/{0}/{1:02}/{2:02}", ChannelSeries(
        "bool", "Discrete {2} of rack {0}, card {1}", DISCRETE, source=RACK)),
}  # fmt: skip
"""Names and kind of the channels that bring a type to its number."""


def fill(catalog: ChannelCatalog, mix: Mapping[str, int]) -> None:
    """Add channels until each type has as many as the mix says."""
    for kind, (pattern, series) in FILLING.items():
        missing = mix[kind] - catalog.count(kind)
        if missing < 0:
            raise ValueError(f"{-missing} channels of {kind} are too many")
        catalog.many(pattern, _columns(), series, missing)
    if catalog.count("text") != mix["text"]:
        raise ValueError(f"{catalog.count('text')} texts, and not {mix['text']}")


def _columns() -> tuple[Iterator[Any], ...]:
    """Racks, cards and channels without end in sight."""
    return iter("abcdefgh"), iter(range(1, 33)), iter(range(1, CARD + 1))
