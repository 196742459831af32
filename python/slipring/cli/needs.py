"""The options of `slipring sub` that select parameters, and the properties that they become."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from slipring.client.needs import Needs


class Deliver(StrEnum):
    """How the broker delivers samples."""

    FRAME = "frame"
    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True)
class NeedOptions:
    """The needs of a selection; none, for plain messages."""

    rate: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Parameters at this rate; the newest sample wins."),
    ] = None
    deadband: Annotated[
        str | None,
        typer.Option(metavar="WIDTH", help="Only numbers that moved further: 0.5, or 2%."),
    ] = None
    change: Annotated[bool, typer.Option("--change", help="Only values that changed.")] = False
    deliver: Annotated[
        Deliver | None,
        typer.Option(
            help="frame: many samples in a message, printed one by one; "
            "text, json: a message for each sample, the default is text."
        ),
    ] = None
    report_arrivals: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Report so often to the broker how regularly frames come; "
            "with --deliver frame and --rate.",
        ),
    ] = None

    @property
    def is_frame(self) -> bool:
        """Whether samples come in frames."""
        return self.deliver is Deliver.FRAME

    def checked_report_arrivals(self) -> float | None:
        """How often arrivals are reported; None for never."""
        seconds = self.report_arrivals
        if seconds is not None and not (seconds > 0 and self.is_frame and self.rate is not None):
            raise typer.BadParameter(
                "--report-arrivals is seconds, more than 0, with --deliver frame and --rate"
            )
        return seconds

    def options(self) -> dict[str, Any]:
        """The needs as arguments of `Bus.select`."""
        return {"rate_hz": self.rate, "deadband": self.deadband, "change": self.change}

    def properties(self) -> dict[str, str]:
        """The needs as properties of `Bus.subscribe`; empty if there are none."""
        if (self.rate, self.deadband, self.change, self.deliver) == (None, None, False, None):
            return {}
        return dict(Needs(**self.options()).properties(self.deliver or Deliver.TEXT))
