"""The past as the console answers it: series, values at a time, and which times there are."""

from typing import Annotated, Literal, TypedDict

from slipring.status.parameters import ParameterDefinition


class _SeriesOf(TypedDict):
    name: Annotated[str, "The parameter."]
    unit: Annotated[str | None, "Its unit."]
    type: Annotated[str, "Its type."]
    origin: Annotated[Literal["table", "journal", "lake", "none"], "Where the series was read."]
    step_ms: Annotated[float, "The length of a bucket; 0 for single samples."]
    t: Annotated[list[float], "When each bucket begins, or each sample is."]
    min: Annotated[list[float | None], "The lowest value; empty for texts."]
    max: Annotated[list[float | None], "The highest value; empty for texts."]
    last: Annotated[list[float | str | bool | None], "The last value; for enumerations the label."]
    is_cut: Annotated[bool, "Whether a part of the time was too much to read."]


class ShownSeries(_SeriesOf, total=False):
    """One parameter over a time. A bucket without a sample is left out."""

    first_ns: Annotated[str, "Of single samples: the first time, in nanoseconds since 1970."]
    after_ns: Annotated[list[int], "Of single samples: nanoseconds after the first."]


class SeriesMessage(TypedDict):
    """What `/api/history` answers."""

    from_ms: Annotated[float, "Where the time begins."]
    to_ms: Annotated[float, "Where it ends."]
    series: Annotated[list[ShownSeries], "A series for each name."]
    oldest_ms: Annotated[float | None, "The oldest sample that can be asked for."]
    damage: Annotated[list[str], "What could not be read, in words."]


class _ValueOf(TypedDict):
    name: Annotated[str, "The parameter."]
    value: Annotated[float | str | bool | None, "Its value; null if none was found."]
    time_ms: Annotated[float | None, "When it was so."]
    quality: Annotated[str | None, "`good`, `uncertain`, `bad` or `stale`."]


class ValueAtTime(_ValueOf, total=False):
    """The newest value of a parameter at a time."""

    why: Annotated[str, "Why there is none."]


class ValuesMessage(TypedDict):
    """What `/api/values` answers."""

    at_ms: Annotated[float, "The time."]
    values: Annotated[list[ValueAtTime], "A value for each name."]


class TimeBounds(TypedDict):
    """From when to when."""

    from_ms: Annotated[float, "The first time."]
    to_ms: Annotated[float, "The last time."]


class RangeMessage(TypedDict):
    """What time can be asked for."""

    from_ms: Annotated[float | None, "The first time; null if nothing is kept."]
    to_ms: Annotated[float, "The last time."]
    journal: Annotated[TimeBounds | None, "That of the journal."]
    lake: Annotated[TimeBounds | None, "That of the lake."]


class QuickLookMessage(TypedDict):
    """What the first page draws."""

    chosen_by: Annotated[Literal["configuration", "limits", "nothing"], "Who chose the plots."]
    plots: Annotated[list[list[str]], "Names of parameters, for each plot."]
    definitions: Annotated[list[ParameterDefinition], "The definitions of those that are declared."]


class _SamplesOf(TypedDict):
    name: Annotated[str, "The parameter."]
    t: Annotated[list[float], "When each bucket begins."]
    min: Annotated[list[float | None], "The lowest value."]
    max: Annotated[list[float | None], "The highest value."]
    last: Annotated[list[float | str | bool | None], "The last value."]


class NewSeries(_SamplesOf, total=False):
    """What came in of one parameter."""

    step_ms: Annotated[float, "The length of a bucket."]


class SamplesMessage(TypedDict):
    """What `/api/samples` sends."""

    at_ms: Annotated[float, "When the message was made."]
    series: Annotated[list[NewSeries], "What came in since the message before."]
