"""The jet in flight: at each step the values of all its parameters, an array for each type.

Deterministic: the same seed and the same step give the same values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slipring.demo.jet.bank import ChannelBank, Reals
from slipring.demo.jet.curve import STEP_HZ, Floats
from slipring.demo.jet.drivers import Drivers, flight
from slipring.demo.jet.parts import all_channels
from slipring.demo.jet.parts.supplies import WARNINGS
from slipring.demo.jet.timeline import PHASES
from slipring.model import Parameter

PREFIX = "gripen/39-7"
SEED = 39

SINGLE = ("f32", "u16", "i16", "u8", "enum", "bool")
"""Types whose values fit into a 32-bit float."""
DOUBLE = ("f64", "u32", "i32")
DTYPES: dict[str, type] = {
    "f32": np.float32, "f64": np.float64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
    "i16": np.int16, "i32": np.int32, "enum": np.uint8,
}  # fmt: skip

Row = dict[str, Any]
"""By type, in the order of declaration: arrays, and for `text` a list."""


@dataclass(frozen=True, slots=True)
class FlightStep:
    """All values at one step."""

    step: int
    phase: str
    row: Row
    texts_changed: bool
    """Whether a text has changed since the step before."""


class Jet:
    """20,000 parameters of one aircraft."""

    def __init__(self, seed: int = SEED, *, start_s: float = 0.0) -> None:
        """On its stand, or `start_s` into its first flight."""
        self._drivers: Drivers = flight()
        catalog = all_channels(self._drivers, seed)
        self._channels = {one.name: one for one in catalog.channels}
        self._texts = catalog.texts.copy()
        self._step = round(start_s * STEP_HZ)
        self._phase = ""
        by_type = {
            word: [one for one in catalog.channels if one.parameter.type == word]
            for word in (*SINGLE, *DOUBLE)
        }
        self._banks = [
            _TypedBank(words, by_type, self._drivers, dtype, seed)
            for words, dtype in ((SINGLE, np.float32), (DOUBLE, np.float64))
        ]
        types = [one.parameter.type for one in catalog.channels]
        octets = np.array([word for word in types if word in ("u8", "enum")])
        self._octets = {word: np.flatnonzero(octets == word) for word in ("u8", "enum")}

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The definitions by name, without the prefix, in the order of declaration."""
        return {name: channel.parameter for name, channel in self._channels.items()}

    def step(self) -> FlightStep:
        """Fly one step, and return all values."""
        step, self._step = self._step, self._step + 1
        signals = self._drivers.row(step)
        made: Row = {}
        for bank in self._banks:
            made |= bank.step(signals, step)
        made["u8"] = self._merged(made["u8"], made.pop("enum"))
        changed = self._update_texts(signals)
        made["text"] = list(self._texts.values())
        return FlightStep(step, self._phase, made, changed)

    def _merged(self, numbers: NDArray[Any], states: NDArray[Any]) -> NDArray[np.uint8]:
        """Enumerations are bytes: put them among the other bytes, in the order of declaration."""
        row = np.empty(len(numbers) + len(states), np.uint8)
        row[self._octets["u8"]] = numbers
        row[self._octets["enum"]] = states
        return row

    def _update_texts(self, signals: Floats) -> bool:
        """Update the texts; returns whether one changed."""
        phase = PHASES[int(signals[self._drivers.column("phase")])].name
        lit = [
            words
            for name, words in WARNINGS.items()
            if name != "any" and signals[self._drivers.column(f"warning_{name}")]
        ]
        texts = {"flight/phase_name": phase, "warning/last": lit[-1] if lit else ""}
        changed = any(self._texts[name] != text for name, text in texts.items())
        self._texts.update(texts)
        self._phase = phase
        return changed


class _TypedBank:
    """A bank of channels, and the type of each value."""

    def __init__(
        self,
        words: tuple[str, ...],
        by_type: Mapping[str, list[Any]],
        drivers: Drivers,
        dtype: type,
        seed: int,
    ) -> None:
        self._bank = ChannelBank(
            [one for word in words for one in by_type[word]], drivers, dtype, seed
        )
        ends = np.cumsum([0, *(len(by_type[word]) for word in words)]).tolist()
        self._slices = {
            word: slice(start, end) for word, start, end in zip(words, ends, ends[1:], strict=False)
        }

    def step(self, signals: Floats, step: int) -> Row:
        values = self._bank.step(signals, step)
        return {word: _typed(word, values[part]) for word, part in self._slices.items()}


def _typed(word: str, values: Reals) -> NDArray[Any]:
    """Values in their own type, as a new array."""
    if word == "bool":
        return values > 0
    if word in ("f32", "f64"):
        return values.copy()
    return np.rint(values).astype(DTYPES[word])
