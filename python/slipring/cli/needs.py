"""The options of `slipring sub` that choose parameters, and what the broker is told of them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from slipring.client.needs import Needs


class Deliver(StrEnum):
    """In which form the broker sends samples."""

    FRAME = "frame"
    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True)
class NeedOptions:
    """What is needed of parameters; nothing, for plain messages."""

    rate: Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Parameters at this rate; the newest sample wins."),
    ] = None
    deadband: Annotated[
        str | None,
        typer.Option(metavar="WIDTH", help="Numbers that moved further: 0.5, or 2% of the value."),
    ] = None
    change: Annotated[bool, typer.Option("--change", help="Values that are not as before.")] = False
    deliver: Annotated[
        Deliver | None,
        typer.Option(
            help="frame: many samples in a message, printed one by one; "
            "text, json: a message for each sample, the default is text."
        ),
    ] = None

    @property
    def is_frame(self) -> bool:
        """Whether samples come in frames."""
        return self.deliver is Deliver.FRAME

    def options(self) -> dict[str, Any]:
        """The same for `Bus.select`."""
        return {"rate_hz": self.rate, "deadband": self.deadband, "change": self.change}

    def properties(self) -> dict[str, str]:
        """The same for `Bus.subscribe`; nothing if nothing is needed."""
        if (self.rate, self.deadband, self.change, self.deliver) == (None, None, False, None):
            return {}
        return dict(Needs(**self.options()).properties(self.deliver or Deliver.TEXT))
