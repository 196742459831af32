"""The options of `slipring sub` that say what is read, how long, and how it is shown."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

TIMED_OUT = 27
"""The exit code of --timeout; that of mosquitto_sub."""


class LineFormat(StrEnum):
    """How a message is printed."""

    TEXT = "text"
    JSON = "json"
    PAYLOAD = "payload"


@dataclass(frozen=True)
class ReadingOptions:
    """Filters beside the arguments, bounds, and the shape of a line."""

    topics: Annotated[
        list[str] | None,
        typer.Option("--topic", "-t", metavar="FILTER", help="The same; may be repeated."),
    ] = None
    count: Annotated[
        int | None, typer.Option("--count", "-C", min=1, help="End after this many messages.")
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            "-W",
            metavar="SECONDS",
            min=1e-3,
            help=f"End after so long, with exit code {TIMED_OUT}.",
        ),
    ] = None
    line_format: Annotated[
        LineFormat,
        typer.Option(
            "--format",
            help="text: topic and payload; json: one object a line; payload: the payload alone.",
        ),
    ] = LineFormat.TEXT
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Topic and payload: --format text.")
    ] = False
    qos: Annotated[
        int,
        typer.Option(
            "--qos", "-q", min=0, max=2, help="1: at least once, 2: exactly once; acknowledged."
        ),
    ] = 0
    session_expiry: Annotated[
        int,
        typer.Option(min=0, help="Seconds that the broker keeps the session; with --client-id."),
    ] = 0

    def filters(self, arguments: list[str] | None) -> list[str]:
        """All filters; raises if there are none, or if the options contradict each other."""
        chosen = [*(self.topics or ()), *(arguments or ())]
        if not chosen:
            raise typer.BadParameter("give at least one FILTER, as an argument or with --topic")
        if self.verbose and self.line_format is not LineFormat.TEXT:
            raise typer.BadParameter("--verbose is --format text; leave out one of them")
        return chosen
