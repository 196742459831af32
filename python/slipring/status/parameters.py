"""What the console sends to a page that watches parameters."""

from typing import Annotated, TypedDict


class AlarmBounds(TypedDict):
    """Alarm limits; null if there is no such limit."""

    low_critical: Annotated[float | None, "Below it is critical."]
    low: Annotated[float | None, "Below it is a warning."]
    high: Annotated[float | None, "Above it is a warning."]
    high_critical: Annotated[float | None, "Above it is critical."]


class ParameterDefinition(TypedDict):
    """A parameter's definition; null is what it does not say."""

    index: Annotated[int, "Its number in the table."]
    name: Annotated[str, "Its name, which is its topic."]
    type: Annotated[str, "`bool`, `u8` to `i64`, `f32`, `f64`, `text`, `bytes` or `enum`."]
    unit: Annotated[str | None, "Its unit."]
    description: Annotated[str | None, "What it is."]
    range: Annotated[tuple[float, float] | None, "The lowest and the highest value."]
    limits: Annotated[AlarmBounds | None, "Its alarm limits."]
    rate_hz: Annotated[float | None, "How often it is expected."]
    source: Annotated[str | None, "What measures it."]


class ParameterSample(TypedDict):
    """A parameter's newest value."""

    index: Annotated[int, "The parameter's number."]
    value: Annotated[
        float | bool | str,
        "In its type; of an enumeration its label, of bytes the first 64 in hex. An integer beyond "
        "±2^53 and a number that JSON does not have (`nan`, `inf`) are text. Texts are cut at 256 "
        "characters.",
    ]
    time_ms: Annotated[float, "The source's time; of a stale value when it became so."]
    received_ms: Annotated[float, "When the broker received it."]
    quality: Annotated[str, "`good`, `uncertain`, `bad` or `stale`."]
    why: Annotated[str | None, "The reason for it."]


class ParametersMessage(TypedDict):
    """The parameters that a search finds."""

    at_ms: Annotated[float, "When the message was made."]
    search: Annotated[str, "What these rows were searched by."]
    parameters: Annotated[int, "How many the table has."]
    matching: Annotated[int, "How many the search finds."]
    definitions: Annotated[
        list[ParameterDefinition] | None,
        "The first 200 in the order of their names (numbers in names as numbers) if they are "
        "others than in the message before, else null.",
    ]
    values: Annotated[
        list[ParameterSample],
        "Those that changed since; all after new definitions. A parameter without a value is not "
        "among them.",
    ]
