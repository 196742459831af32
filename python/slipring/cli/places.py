"""Options that name a part of a recording; the same for every command that has them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.recording.moment import Moment, parse_moment

if TYPE_CHECKING:
    from slipring.recording.journal import Recording
    from slipring.spark.place import Broker

PLACE = "an offset as @1200, a time (UTC) as 2026-01-02T03:04:05, or an age as -10m"

From = Annotated[
    str | None,
    typer.Option("--from", metavar="PLACE", help=f"The first message: {PLACE}."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="PLACE", help="Where to stop, before this place: the same ways."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="FILTER", help="Only topics that match, as 'gripen/#'; may be repeated."
    ),
]


def recording(
    source: "Path | Broker", first: str | None, last: str | None, filters: list[str] | None
) -> "Recording":
    """Open the part of a journal that the options name."""
    from slipring.recording.journal import Recording

    now_ns = time.time_ns()
    return Recording(
        source,
        first=_moment(first, now_ns),
        last=_moment(last, now_ns),
        filters=filters or (),
    )


def _moment(text: str | None, now_ns: int) -> Moment | None:
    return None if text is None else parse_moment(text, now_ns)
