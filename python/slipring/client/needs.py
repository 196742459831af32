"""What a selection needs of its parameters, and the user properties that say so to the broker."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """Checked by the broker, whose words name what is wrong."""

    rate_hz: float | None = None
    """Frames at this rate, the newest samples win; without it every sample."""
    deadband: float | str | None = None
    """How far a number has to move before it is sent again: `0.5`, or `"2%"` of what was sent."""
    change: bool = False
    """Only values that are not as they were sent last."""
    beat_ms: int | None = None
    """How long samples are gathered; the broker's own beat where it is not said."""

    def properties(self, deliver: str) -> tuple[tuple[str, str], ...]:
        """In the order a person would say them."""
        said = [("deliver", deliver)]
        if self.rate_hz is not None:
            said.append(("rate", _decimal(self.rate_hz)))
        if self.deadband is not None:
            band = self.deadband
            said.append(("deadband", band if isinstance(band, str) else _decimal(band)))
        if self.change:
            said.append(("change", "true"))
        if self.beat_ms is not None:
            said.append(("beat", str(self.beat_ms)))
        return tuple(said)


def _decimal(number: float) -> str:
    """Without an exponent, for numbers that are neither very large nor very small."""
    return f"{float(number):.9f}".rstrip("0").rstrip(".")
