"""The options of several commands that choose a part of a recording."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.errors import JournalError
from slipring.recording.moment import Moment, parse_moment

if TYPE_CHECKING:
    from slipring.journal.location import JournalBroker
    from slipring.recording.recording import Recording

DATA = Path("slipring-data")
"""The default data folder of a broker."""
DEMO_DATA = Path("demo-data")
"""The data folder of `make demo`."""
MOMENT = "an offset as @1200, a time (UTC) as 2026-01-02T03:04:05, or an age as -10m"

From = Annotated[
    str | None,
    typer.Option("--from", metavar="MOMENT", help=f"The first message: {MOMENT}."),
]
To = Annotated[
    str | None,
    typer.Option("--to", metavar="MOMENT", help="Stop before this moment, written as for --from."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="FILTER", help="Only topics that match, as 'gripen/#'; may be repeated."
    ),
]


def recording(
    source: "Path | JournalBroker", first: str | None, last: str | None, filters: list[str] | None
) -> "Recording":
    """Open the part of a journal that the options choose."""
    from slipring.recording.recording import Recording

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
    """Raise, with what to write, if no folder was given and the default one is not here."""
    if folder != DATA or folder.exists():
        return
    folder = DEMO_DATA if DEMO_DATA.exists() else Path("FOLDER")
    whose = "that of the demo is" if DEMO_DATA.exists() else "for example"
    raise JournalError(
        f"there is no {DATA} here: name the folder of the broker's data; {whose} {command} {folder}"
    )
