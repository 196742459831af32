"""A computing client: selects parameters of the jet, calculates others, and publishes those.

It calculates with numpy on frames; a result has the source time of its inputs.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from slipring.client import Bus
from slipring.demo.jet.aircraft import PREFIX
from slipring.demo.jet.curve import Floats
from slipring.demo.jet.parts.airframe import SHAKEN
from slipring.frames import Frame
from slipring.model import GOOD, AlarmLimits, Parameter, Quality, Reason, Status

GRAVITY = 9.80665
SMOOTHING_S = 0.5
ENDURANCE_S_MAX = 36_000.0
BELOW = "derived"

INPUTS = {
    "altitude": "air/altitude",
    "speed": "air/true_airspeed",
    "fuel": "fuel/total",
    "flow": "engine/fuel_flow",
    "pressure_1": "hydraulics/1/pressure",
    "pressure_2": "hydraulics/2/pressure",
    "temperature_1": "hydraulics/1/temperature",
    "temperature_2": "hydraulics/2/temperature",
    "quantity_1": "hydraulics/1/quantity",
    "quantity_2": "hydraulics/2/quantity",
}
ACCELEROMETERS = {
    zone: [f"vibration/{zone}/{axis}/{number:02}" for axis in "xyz" for number in range(1, 31)]
    for zone in SHAKEN
}

DERIVED: Mapping[str, Parameter] = {
    "energy_height": Parameter(
        "f64", unit="m", rate_hz=50,
        description="Energy height = altitude + true_airspeed^2 / (2 * 9.80665)",
    ),
    "specific_excess_power": Parameter(
        "f64", unit="m/s", rate_hz=50,
        description="Specific excess power = d(energy_height) / dt, smoothed",
    ),
    "fuel_endurance": Parameter(
        "f64", unit="s", description="Fuel endurance = total fuel / fuel flow", rate_hz=50,
        range=(0, ENDURANCE_S_MAX), limits=AlarmLimits(low=900, low_critical=450),
    ),
    "hydraulic_health": Parameter(
        "f64", unit="%", description="Worse of the two systems: pressure, temperature, quantity",
        rate_hz=50, range=(0, 100), limits=AlarmLimits(low=70, low_critical=40),
    ),
    **{
        f"vibration/{zone}/rms": Parameter(
            "f64", unit="m/s2", description=f"Vibration at {zone}, over {len(names)} sensors",
            rate_hz=50,
        )
        for zone, names in ACCELEROMETERS.items()
    },
}  # fmt: skip


class Derivation:
    """Calculates from the newest inputs; a frame need not have all of them. Pure."""

    def __init__(self) -> None:
        """No input is known yet."""
        self.names: Sequence[str] = (
            *INPUTS.values(),
            *(name for names in ACCELEROMETERS.values() for name in names),
        )
        """The names of the inputs, without the aircraft's prefix."""
        self._values = np.full(len(self.names), np.nan)
        self._columns = {name: column for column, name in enumerate(INPUTS)}
        self._energy_m = np.nan
        self._power = 0.0
        self._time_ns = 0

    def take(self, values: Floats) -> None:
        """Take the newest values in the order of `names`; NaN means unchanged."""
        np.copyto(self._values, values, where=~np.isnan(values))

    def result(self, time_ns: int) -> Floats | None:
        """The derived values in the order of `DERIVED`; None until all inputs are known."""
        if np.isnan(self._values).any():
            return None
        energy_m = self._of("altitude") + self._of("speed") ** 2 / (2 * GRAVITY)
        flow = self._of("flow")
        endurance_s = self._of("fuel") / flow if flow > 1e-3 else ENDURANCE_S_MAX
        single = (
            energy_m,
            self._growth(energy_m, time_ns),
            min(endurance_s, ENDURANCE_S_MAX),
            min(self._health(1), self._health(2)),
        )
        shaken = self._values[len(INPUTS) :].reshape(len(ACCELEROMETERS), -1)
        return np.concatenate([single, np.sqrt(np.mean(shaken**2, axis=1))])

    def _of(self, name: str) -> float:
        return float(self._values[self._columns[name]])

    def _growth(self, energy_m: float, time_ns: int) -> float:
        """The rate of the energy height, from the times of the samples."""
        passed_s = (time_ns - self._time_ns) / 1e9
        if not np.isnan(self._energy_m) and passed_s > 0:
            share = 1 - np.exp(-passed_s / SMOOTHING_S)
            self._power += share * ((energy_m - self._energy_m) / passed_s - self._power)
        if passed_s > 0:
            self._energy_m, self._time_ns = energy_m, time_ns
        return self._power

    def _health(self, system: int) -> float:
        """The worst of three marks; 100 for a healthy system."""
        pressure = np.interp(self._of(f"pressure_{system}"), (40, 195), (0, 100))
        temperature = np.interp(self._of(f"temperature_{system}"), (85, 140), (100, 0))
        quantity = np.interp(self._of(f"quantity_{system}"), (30, 90), (0, 100))
        return float(min(pressure, temperature, quantity))


async def derive(
    bus: Bus, *, prefix: str = PREFIX, on_samples: Callable[[int], None] = lambda _count: None
) -> None:
    """Calculate until cancelled, or until the connection is closed.

    `on_samples` is called with the number of samples that were written.
    """
    derivation = Derivation()
    names = [f"{prefix}/{name}" for name in derivation.names]
    declared = await bus.declare(f"{prefix}/{BELOW}", DERIVED)
    async with bus.select(names=names) as frames:
        async for frame in frames:
            if not frames.missing:
                derivation.take(frame.values(names))
            made = derivation.result(frame.newest_ns)
            if made is not None:
                declared.write_row(made, time_ns=frame.newest_ns, quality=_quality_of(frame))
                on_samples(len(made))


def _quality_of(frame: Frame) -> Quality:
    """Good if all samples of the frame are."""
    if frame.qualities().any():
        return Quality(Status.UNCERTAIN, Reason.BAD_INPUTS)
    return GOOD
