"""Collects the channels of the aircraft: single ones, and series with a pattern of names."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slipring.demo.jet.channel import Channel
from slipring.demo.jet.curve import Floats
from slipring.demo.jet.drivers import CONSTANT, Drivers
from slipring.model import AlarmLimits, Parameter


@dataclass(frozen=True)
class ChannelSeries:
    """What the channels of a series share. In texts `{0}` stands for the first axis's value."""

    type: str
    description: str
    drivers: Sequence[str] | dict[Any, str]
    """The signals that drive them: by value of the first axis, or one at random for each."""
    unit: str | None = None
    low: float = 0.0
    high: float = 1.0
    """About what a channel shows at its signal's least and greatest value."""
    jitter: float = 0.15
    """How much channels differ, as a share of their span."""
    noise: float = 0.0
    noise_drivers: Sequence[str] = ()
    noise_gain: float = 0.0
    second: Sequence[str] = ()
    second_share: float = 0.0
    """The share of the span that another signal adds."""
    tau_s: float = 0.0
    range: tuple[float, float] | None = None
    limits: AlarmLimits | None = None
    rate_hz: float = 50.0
    source: str | None = None
    labels: dict[int, str] | None = None
    follows: bool = False
    """Whether a channel shows its signal unchanged, as enumerations and lights do."""


@dataclass
class ChannelCatalog:
    """The channels in the order of declaration; each name occurs once."""

    drivers: Drivers
    seed: int
    channels: list[Channel] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Seed the random numbers."""
        self._rng = np.random.default_rng(self.seed)
        self._sorted: dict[str, Floats] = {}

    def count(self, kind: str) -> int:
        """The number of channels of a type."""
        return sum(one.parameter.type == kind for one in self.channels)

    def one(
        self, name: str, parameter: Parameter, driver: str, *, gain: float = 1.0,
        offset: float = 0.0, noise: float = 0.0,
    ) -> None:  # fmt: skip
        """Add a channel that shows a signal."""
        channel = Channel(name, parameter, driver, gain, offset, noise=noise)
        self.channels.append(channel)

    def text(self, name: str, description: str, value: str) -> None:
        """Add a text that does not change."""
        self.channels.append(Channel(name, Parameter("text", description=description, rate_hz=1)))
        self.texts[name] = value

    def many(
        self,
        pattern: str,
        axes: Sequence[Iterable[Any]],
        series: ChannelSeries,
        count: int | None = None,
    ) -> None:
        """Add a channel for every combination of the axes' values, or for the first `count`."""
        for values in itertools.islice(itertools.product(*axes), count):
            self.channels.append(self._channel(pattern, values, series))

    def _channel(self, pattern: str, values: tuple[Any, ...], series: ChannelSeries) -> Channel:
        name = pattern.format(*values)
        parameter = Parameter(
            series.type,
            unit=series.unit,
            description=series.description.format(*values),
            range=series.range,
            limits=series.limits,
            rate_hz=series.rate_hz,
            source=series.source and series.source.format(*values),
            labels=series.labels,
        )
        driver = self._driver(series, values)
        if series.follows:
            return Channel(name, parameter, driver, offset=-0.5 if series.type == "bool" else 0.0)
        if series.type == "bool":
            return self._switch(name, parameter, driver)
        return self._measured(name, parameter, driver, series)

    def _driver(self, series: ChannelSeries, values: tuple[Any, ...]) -> str:
        if isinstance(series.drivers, dict):
            return series.drivers[values[0]]
        return self._drawn(series.drivers)

    def _drawn(self, names: Sequence[str]) -> str:
        return names[int(self._rng.integers(len(names)))] if names else CONSTANT

    def _switch(self, name: str, parameter: Parameter, driver: str) -> Channel:
        """Whether the signal is above, or below, a level that it crosses in flight."""
        if driver not in self._sorted:
            self._sorted[driver] = np.sort(self.drivers.signal(driver))
        ordered = self._sorted[driver]
        level = ordered[int(self._rng.uniform(0.1, 0.9) * len(ordered))]
        sign = 1.0 if self._rng.random() < 0.7 else -1.0
        middle = (ordered[0] + ordered[-1]) / 2 if level in (ordered[0], ordered[-1]) else level
        return Channel(name, parameter, driver, sign, -sign * float(middle))

    def _measured(
        self, name: str, parameter: Parameter, driver: str, series: ChannelSeries
    ) -> Channel:
        span = series.high - series.low
        least, greatest = self.drivers.span(driver)
        uneven = 1 + series.jitter * self._rng.uniform(-1, 1)
        gain = span * uneven / (greatest - least) if greatest > least else 0.0
        offset = series.low - gain * least + span * series.jitter * 0.2 * self._rng.uniform(-1, 1)
        second = self._drawn(series.second)
        lowest, highest = self.drivers.span(second)
        share = series.second_share * span / (highest - lowest) if highest > lowest else 0.0
        return Channel(
            name, parameter, driver, gain, offset,
            second=second,
            second_gain=share * self._rng.uniform(-1, 1),
            tau_s=series.tau_s * self._rng.uniform(0.6, 1.6),
            noise=series.noise * self._rng.uniform(0.5, 1.5),
            noise_driver=self._drawn(series.noise_drivers),
            noise_gain=series.noise_gain * self._rng.uniform(0.5, 1.5),
        )  # fmt: skip
