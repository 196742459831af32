"""A parameter's definition: its type, and what people need to know. Checked when it is made."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from slipring.model.kind import Kind

ENUM = "enum"
RATE_HZ_MAX = 1e6
PLAIN_FIELDS = ("unit", "description", "rate_hz", "source")
"""Fields of a definition that are the same in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmLimits:
    """Outside `low` and `high` a value is a warning; outside the others it is critical."""

    low_critical: float | None = None
    low: float | None = None
    high: float | None = None
    high_critical: float | None = None

    def __post_init__(self) -> None:
        given = [*_given(self).values()]
        if not all(map(math.isfinite, given)) or given != sorted(given):
            raise ValueError(f"limits must rise from low_critical to high_critical, not {given}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter's definition: `Parameter("f64", unit="1/min", rate_hz=50)`.

    The type is `bool`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `text`, `bytes`, or `enum` with
    the meaning of its numbers in `labels`. Raises ValueError where it cannot be.
    """

    type: str
    _: KW_ONLY
    unit: str | None = None
    description: str | None = None
    labels: Mapping[int, str] | None = None
    """What the numbers of an enumeration mean: `{0: "off", 1: "on"}`."""
    range: tuple[float, float] | None = None
    """The lowest and the highest possible value."""
    limits: AlarmLimits | None = None
    rate_hz: float | None = None
    """How often samples come; a parameter without samples for many periods goes stale."""
    source: str | None = None
    """What measures it."""

    def __post_init__(self) -> None:
        if self.type != ENUM:
            Kind.of_word(self.type)
        if self.labels is not None and not isinstance(self.labels, Mapping):
            raise TypeError(f'labels are a dict, {{0: "off", 1: "on"}}, not {self.labels!r}')
        if self.limits is not None and not isinstance(self.limits, AlarmLimits):
            raise TypeError(f"limits are AlarmLimits(high=...), not {self.limits!r}")
        if (self.type == ENUM) != bool(self.labels):
            raise ValueError("an enum needs labels, and only an enum has them")
        if self.labels and not all(map(_is_number, self.labels)):
            raise ValueError("the numbers of an enum are from 0 to 4294967295")
        if self.range is not None:
            _check_range(*self.range)
        if self.rate_hz is not None and not 0 < self.rate_hz <= RATE_HZ_MAX:
            raise ValueError(f"a rate is above 0 and at most 1e6 Hz, not {self.rate_hz}")

    @property
    def kind(self) -> Kind:
        """How a frame encodes its values; an enumeration as the smallest type for its numbers."""
        if not self.labels:
            return Kind.of_word(self.type)
        greatest = max(self.labels)
        return Kind.U8 if greatest <= 0xFF else Kind.U16 if greatest <= 0xFFFF else Kind.U32

    def as_json(self) -> dict[str, Any]:
        """The definition for a request to the broker, without fields that are None."""
        made: dict[str, Any] = {"type": self.type}
        for name in PLAIN_FIELDS:
            if (value := getattr(self, name)) is not None:
                made[name] = value
        if self.labels:
            made["labels"] = {str(number): label for number, label in self.labels.items()}
        if self.range is not None:
            made["range"] = list(self.range)
        if self.limits is not None:
            made["limits"] = _given(self.limits)
        return made

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> "Parameter":
        """The definition from the broker's JSON; unknown fields are ignored."""
        labels, span, limits = (found.get(name) for name in ("labels", "range", "limits"))
        return cls(
            found["type"],
            **{name: found.get(name) for name in PLAIN_FIELDS},
            labels={int(number): label for number, label in labels.items()} if labels else None,
            range=(span[0], span[1]) if span else None,
            limits=AlarmLimits(**limits) if limits else None,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A parameter in a table."""

    index: int
    """Its number there; it never changes."""
    name: str
    """Its topic."""
    parameter: Parameter

    @classmethod
    def of_json(cls, row: Mapping[str, Any]) -> "Entry":
        """The entry from a row of the broker's list."""
        return cls(row["index"], row["name"], Parameter.of_json(row))


def _is_number(given: object) -> bool:
    return isinstance(given, int) and 0 <= given <= 0xFFFF_FFFF


def _check_range(low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"a range is two finite numbers, the lower one first, not {low} to {high}")


def _given(limits: AlarmLimits) -> dict[str, float]:
    pairs = ((one.name, getattr(limits, one.name)) for one in fields(limits))
    return {name: value for name, value in pairs if value is not None}
