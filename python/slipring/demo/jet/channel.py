"""A channel: a parameter, and how its values follow from the main signals of the flight."""

from dataclasses import dataclass

from slipring.demo.jet.drivers import CONSTANT
from slipring.model import Parameter


@dataclass(frozen=True, slots=True)
class Channel:
    """`driver * gain + second * second_gain + offset`, with a lag and noise.

    A truth value is whether that is above 0; an enumeration or an integer is rounded.
    """

    name: str
    parameter: Parameter
    driver: str = CONSTANT
    gain: float = 1.0
    offset: float = 0.0
    second: str = CONSTANT
    second_gain: float = 0.0
    tau_s: float = 0.0
    noise: float = 0.0
    noise_driver: str = CONSTANT
    noise_gain: float = 0.0
