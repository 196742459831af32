"""The parts of the aircraft: the channels of each, and what they measure."""

from functools import lru_cache

from slipring.demo.jet.catalog import ChannelCatalog
from slipring.demo.jet.drivers import Drivers
from slipring.demo.jet.parts import (
    acquisition,
    air_data,
    airframe,
    equipment,
    flight_control,
    navigation,
    power_plant,
    supplies,
)

MIX = {
    "f32": 8_000, "f64": 2_000, "u16": 3_000, "i16": 1_000, "u8": 1_000, "enum": 1_000,
    "bool": 3_500, "u32": 300, "i32": 100, "text": 100,
}  # fmt: skip
"""How many parameters of each type there are; 20,000 in all."""


@lru_cache(maxsize=2)
def all_channels(drivers: Drivers, seed: int) -> ChannelCatalog:
    """Every channel of the aircraft; the acquisition racks fill each type up to its number."""
    catalog = ChannelCatalog(drivers, seed)
    for part in (
        power_plant,
        air_data,
        navigation,
        flight_control,
        supplies,
        airframe,
        equipment,
    ):
        part.add(catalog)
    acquisition.fill(catalog, MIX)
    return catalog
