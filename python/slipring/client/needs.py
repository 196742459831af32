"""What a selection asks for, and the user properties that tell the broker."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The needs of a selection. The broker checks them, and its error names what is wrong."""

    rate_hz: float | None = None
    """The newest samples at this rate; without it every sample."""
    deadband: float | str | None = None
    """How far a number has to move before it is sent again: `0.5`, or `"2%"` of what was sent."""
    change: bool = False
    """Only values that differ from those sent last."""
    beat_ms: int | None = None
    """How long samples are gathered; by default the broker's own beat."""

    def properties(self, deliver: str) -> tuple[tuple[str, str], ...]:
        """As user properties, with the way of delivery first."""
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
