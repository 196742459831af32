"""Many channels as arrays of gains, lags and noise. Never loops over channels in a step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slipring.demo.jet.channel import Channel
from slipring.demo.jet.curve import STEP_HZ, STEP_S, Floats
from slipring.demo.jet.drivers import Drivers

NOISE_VALUES = 1 << 18
NOISE_STRIDE = 7_919
LIMITS_OF: dict[str, tuple[float, float]] = {
    "u8": (0, 0xFF), "u16": (0, 0xFFFF), "u32": (0, 0xFFFF_FFFF), "i16": (-0x8000, 0x7FFF),
    "i32": (-0x8000_0000, 0x7FFF_FFFF),
}  # fmt: skip

Reals = NDArray[Any]


class ChannelBank:
    """Channels of one precision. A step computes all values; a slow channel keeps its last one."""

    def __init__(
        self, channels: Sequence[Channel], drivers: Drivers, dtype: type, seed: int
    ) -> None:
        """Put the channels into arrays; the same seed makes the same noise."""
        self._size = len(channels)
        self._dtype = dtype
        self._columns = [
            drivers.columns(getattr(one, name) for one in channels)
            for name in ("driver", "second", "noise_driver")
        ]
        self._gain = self._column(channels, "gain")
        self._second_gain = self._column(channels, "second_gain")
        self._offset = self._column(channels, "offset")
        self._noise = self._column(channels, "noise")
        self._noise_gain = self._column(channels, "noise_gain")
        taus = np.array([max(one.tau_s, 1e-6) for one in channels])
        self._share: Reals = (1 - np.exp(-STEP_S / taus)).astype(dtype)
        ends: Reals = np.array([_ends(one) for one in channels], dtype)
        self._low: Reals = ends[:, 0].copy()
        self._high: Reals = ends[:, 1].copy()
        self._due = _due(channels)
        self._ring = np.random.default_rng(seed).standard_normal(NOISE_VALUES, np.float32)
        self._value: Reals | None = None
        self._held: Reals = np.zeros(self._size, dtype)
        self._one: Reals = np.empty(self._size, dtype)
        self._other: Reals = np.empty(self._size, dtype)

    def _column(self, channels: Sequence[Channel], name: str) -> Reals:
        return np.array([getattr(one, name) for one in channels], self._dtype)

    def step(self, row: Floats, step: int) -> Reals:
        """The values at a step; the next step overwrites the array."""
        self._follow(row.astype(self._dtype))
        self._disturb(row.astype(self._dtype), step)
        np.maximum(self._other, self._low, out=self._other)
        np.minimum(self._other, self._high, out=self._other)
        np.copyto(self._held, self._other, where=self._due[step % STEP_HZ])
        return self._held

    def _follow(self, row: Reals) -> None:
        """Let the values follow the signals, with a lag."""
        wanted, part = self._one, self._other
        np.take(row, self._columns[0], out=wanted)
        wanted *= self._gain
        np.take(row, self._columns[1], out=part)
        part *= self._second_gain
        wanted += part
        wanted += self._offset
        if self._value is None:
            self._value = wanted.copy()
            self._held[:] = np.clip(wanted, self._low, self._high)
        wanted -= self._value
        wanted *= self._share
        self._value += wanted

    def _disturb(self, row: Reals, step: int) -> None:
        """Add noise; some of it grows with a signal."""
        noisy = self._other
        np.take(row, self._columns[2], out=noisy)
        noisy *= self._noise_gain
        noisy += self._noise
        start = step * NOISE_STRIDE % (NOISE_VALUES - self._size)
        noisy *= self._ring[start : start + self._size]
        noisy += self._value


def _ends(channel: Channel) -> tuple[float, float]:
    """The least and the greatest value, from the range or the type."""
    parameter = channel.parameter
    if parameter.labels:
        return 0.0, float(max(parameter.labels))
    if parameter.range is not None and parameter.type != "bool":
        return parameter.range
    return LIMITS_OF.get(parameter.type, (-np.inf, np.inf))


def _due(channels: Sequence[Channel]) -> NDArray[np.bool_]:
    """For each step of a second, which channels are measured; slow ones take turns."""
    steps = np.array([round(STEP_HZ / (one.parameter.rate_hz or STEP_HZ)) for one in channels])
    turns = np.arange(len(channels)) % steps
    due: NDArray[np.bool_] = np.arange(STEP_HZ)[:, None] % steps == turns
    return due
