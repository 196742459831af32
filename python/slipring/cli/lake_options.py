"""The options of commands that read the lake."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli.recording_range import DATA, DEMO_DATA
from slipring.errors import LakeError
from slipring.recording.moment import AtTime, parse_moment

if TYPE_CHECKING:
    from slipring.lake.lake import Lake

LakeWhere = Annotated[
    str | None,
    typer.Option(
        "--lake",
        metavar="WHERE",
        help="Folder of the lake, or s3://bucket/prefix with the keys in AWS_...; "
        f"by default {DATA / 'lake'}, or {DEMO_DATA / 'lake'}.",
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="Read the tables as they were at this time: 2026-01-02T03:04:05, or -10m.",
    ),
]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def opened_lake(where: str | None, as_of: str | None = None) -> "Lake":
    """The lake that the options name; LakeError if deltalake is not installed."""
    from slipring import lake

    try:
        return lake.open(where or _default(), as_of=source_time(as_of))
    except ModuleNotFoundError as error:
        raise LakeError(f"{error.name} is not installed: pip install 'slipring[lake]'") from None


def source_time(text: str | None) -> datetime | None:
    """A time as a person writes it; an offset is none."""
    if text is None:
        return None
    moment = parse_moment(text, time.time_ns())
    if not isinstance(moment, AtTime):
        raise LakeError(
            f"{text} is an offset; the lake is read by time, as -10m or 2026-01-02T03:04"
        )
    return _EPOCH + timedelta(microseconds=moment.receive_ns // 1_000)


def _default() -> Path:
    places = [one / "lake" for one in (DATA, DEMO_DATA)]
    for place in places:
        if place.is_dir():
            return place
    raise LakeError(
        f"there is no lake in {places[0]} or {places[1]}: name it with --lake; "
        "slipring pipeline run makes one"
    )
