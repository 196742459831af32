"""Options that name a part of a recording; the same for every command that has them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.errors import JournalError
from slipring.recording.moment import Moment, parse_moment

if TYPE_CHECKING:
    from slipring.recording.journal import Recording
    from slipring.spark.place import Broker

DATA = Path("slipring-data")
"""Where a broker keeps its data if nobody says otherwise."""
DEMO_DATA = Path("demo-data")
"""Where `make demo` keeps them."""
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


def check_named(folder: Path, command: str) -> None:
    """Say what to give where nobody named a folder, and the usual one is not here."""
    if folder != DATA or folder.exists():
        return
    place = DEMO_DATA if DEMO_DATA.exists() else Path("FOLDER")
    whose = "that of the demo is" if DEMO_DATA.exists() else "for example"
    raise JournalError(
        f"there is no {DATA} here: name the folder of the broker's data; {whose} {command} {place}"
    )
