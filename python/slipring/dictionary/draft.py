"""A parameter as a file describes it, before anybody has checked it."""

from dataclasses import dataclass, field

LIMITS = ("low_critical", "low", "high", "high_critical")
"""The limits' names, rising."""


@dataclass(slots=True)
class Draft:
    """What one row, signal or leaf says; numbers are numbers already, nothing else is sure."""

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
