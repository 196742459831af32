"""What the console sends to a page that watches parameters."""

from typing import Annotated, TypedDict

from slipring.status.requests import SelectionStatus, SubscriberStatus


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


class ParameterBranch(TypedDict):
    """One level below a branch of the names."""

    level: Annotated[str, "The level."]
    parameters: Annotated[int, "Parameters that begin with it, itself included."]
    has_more: Annotated[bool, "Whether there are further levels below it."]
    is_parameter: Annotated[bool, "Whether it is a parameter."]


class BranchesMessage(TypedDict):
    """The levels below a branch of the names."""

    branches: Annotated[list[ParameterBranch], "At most 500, in their order."]
    total: Annotated[int, "How many there are."]


class WordCount(TypedDict):
    """A word that a search can have, and how many parameters have it."""

    word: Annotated[str, "The word."]
    parameters: Annotated[int, "How many parameters."]


class WordsMessage(TypedDict):
    """What searches can be by."""

    units: Annotated[list[WordCount], "Units, at most 100, the most frequent first."]
    publishers: Annotated[
        list[WordCount],
        "Clients that declared parameters, at most 100; none for who may watch only some topics.",
    ]


class PublisherName(TypedDict):
    """A publisher of a parameter."""

    client_id: Annotated[str, "The client."]
    connected: Annotated[bool, "Whether it publishes now."]


class CopyLine(TypedDict):
    """A command to copy."""

    title: Annotated[str, "What runs it."]
    text: Annotated[str, "The command."]


class ParameterMessage(TypedDict):
    """One parameter, with who publishes and who reads it."""

    at_ms: Annotated[float, "When the message was made."]
    definition: Annotated[ParameterDefinition, "Its definition."]
    labels: Annotated[list[str], "The words of an enumeration, in the order of their numbers."]
    value: Annotated[ParameterSample | None, "Its newest value."]
    publishers: Annotated[
        list[PublisherName],
        "Who declared it, at most 50. This and the next four are empty for who may watch only "
        "some topics.",
    ]
    subscribers: Annotated[list[SubscriberStatus], "Plain subscriptions with it, at most 50."]
    subscribers_total: Annotated[int, "How many there are."]
    selections: Annotated[list[SelectionStatus], "Selections with it, at most 50."]
    selections_total: Annotated[int, "How many there are."]
    lines: Annotated[list[CopyLine], "Lines that read it."]


class ParametersMessage(TypedDict):
    """The parameters that a search finds."""

    at_ms: Annotated[float, "When the message was made."]
    search: Annotated[str, "What these rows were searched by."]
    sort: Annotated[str, "What they are sorted by."]
    first: Annotated[int, "The first row in view, from 0."]
    parameters: Annotated[int, "How many the table has."]
    matching: Annotated[int, "How many the search finds."]
    problem: Annotated[str | None, "What is wrong with the search; then it finds nothing."]
    definitions: Annotated[
        list[ParameterDefinition] | None,
        "The rows in view, at most 200, in their order (numbers in names count as numbers) if they "
        "are others than in the message before, else null.",
    ]
    values: Annotated[
        list[ParameterSample],
        "Those that changed since; all after new definitions. A parameter without a value is not "
        "among them.",
    ]
