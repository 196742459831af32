"""Rows for Grafana's data source Infinity: lists of flat objects. Only types."""

from typing import Annotated, TypedDict

from slipring.status.asked import NUMBER_MAX, SERIES_MAX, TIME_MS
from slipring.status.json_schema import Between

GrafanaSeriesQuery = TypedDict(
    "GrafanaSeriesQuery",
    {
        "name": Annotated[
            list[str], "A parameter; may be repeated, 24 at most.", Between(0, SERIES_MAX)
        ],
        "var-name": Annotated[
            list[str],
            "The same, as Grafana writes a variable `name`: `${name:queryparam}`.",
            Between(0, SERIES_MAX),
        ],
        "from": Annotated[float, "From when, in ms since 1970: `${__from}`.", TIME_MS],
        "to": Annotated[float, "Until when: `${__to}`.", TIME_MS],
        "width": Annotated[int, "At most so many points of a series.", Between(1, 4_000)],
    },
    total=False,
)
"""Which parameters, over which time."""


class GrafanaValuesQuery(TypedDict, total=False):
    """Which parameters."""

    filter: Annotated[str, "Those that this filter matches; all if left out.", Between(1, 65_535)]
    most: Annotated[int, "So many at most, of 1,000.", Between(0, NUMBER_MAX)]


class GrafanaPoint(TypedDict):
    """One point of one series."""

    time: Annotated[float, "When, in milliseconds since 1970."]
    name: Annotated[str, "The parameter."]
    value: Annotated[float | str | bool | None, "The last value of the bucket."]
    min: Annotated[float | None, "The lowest; null for texts."]
    max: Annotated[float | None, "The highest; null for texts."]


class GrafanaValue(TypedDict):
    """The current value of one parameter."""

    name: Annotated[str, "The parameter."]
    value: Annotated[float | str | bool | None, "Its value; null before the first one."]
    unit: Annotated[str | None, "Its unit."]
    time: Annotated[float | None, "When it was so, in milliseconds since 1970."]
    quality: Annotated[str | None, "`good`, `uncertain`, `bad` or `stale`."]
    description: Annotated[str | None, "What it is."]
