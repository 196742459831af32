"""A parameter as a file describes it, not checked yet."""

from dataclasses import dataclass, field

LIMITS = ("low_critical", "low", "high", "high_critical")
"""The names of the limits, from the lowest to the highest."""


@dataclass(slots=True)
class Draft:
    """What one row, signal or leaf says. Numbers are parsed; nothing else is checked."""

    name: str
    line: int
    type: str
    unit: str = ""
    description: str = ""
    least: float | None = None
    greatest: float | None = None
    limits: dict[str, float] = field(default_factory=dict)
    rate_hz: float | None = None
    source: str = ""
    labels: dict[int, str] = field(default_factory=dict)
