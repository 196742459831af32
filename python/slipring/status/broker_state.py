"""What the HTTP API tells of health, clients, topics and storage. Only types."""

from typing import Annotated, Literal, TypedDict

from slipring.status.engine import ClientStatus
from slipring.status.measured import SampleAges
from slipring.status.message import JournalSummary, LimitReached, TopicValue


class HealthTrouble(TypedDict):
    """Why the broker is not ready."""

    state: Annotated[Literal["failed", "full", "silent"], "What kind of trouble it is."]
    reason: Annotated[str, "What is wrong."]
    advice: Annotated[str, "What to do about it."]


class HealthMessage(SampleAges):
    """What `/api/health` answers: with 200 whether the broker is ready or not."""

    at_ms: Annotated[float, "When the answer was made."]
    version: Annotated[str, "The version of the broker."]
    uptime_s: Annotated[float, "Seconds since the start."]
    is_live: Annotated[bool, "Whether the engine answers."]
    is_ready: Annotated[bool, "Whether clients are served, and QoS 1 and 2 acknowledged."]
    troubles: Annotated[list[HealthTrouble], "Why it is not ready; empty if it is."]
    clients: Annotated[int, "Connected clients."]
    parameters: Annotated[int, "Parameters in the table."]
    stale: Annotated[int, "Parameters whose value is stale."]
    samples_s: Annotated[float, "Samples per second."]
    messages_s: Annotated[float, "Messages from publishers per second."]
    dropped: Annotated[float, "Messages dropped on the way to a subscriber, since the start."]
    dropped_s: Annotated[float, "Those per second."]
    refused: Annotated[int, "Frames and samples refused, since the start."]
    limits: Annotated[list[LimitReached], "Limits that were reached."]


class ClientsMessage(TypedDict):
    """What `/api/clients` answers."""

    at_ms: Annotated[float, "When the answer was made."]
    clients: Annotated[list[ClientStatus], "Connected clients, 500 at most."]
    total: Annotated[int, "How many there are."]


class TopicRow(TopicValue):
    """A topic that is not a parameter, with its newest message."""

    messages_s: Annotated[
        float | None, "Messages per second since the question before; null without one."
    ]


class TopicsMessage(TypedDict):
    """What `/api/topics` answers."""

    at_ms: Annotated[float, "When the topics were looked at."]
    topics: Annotated[list[TopicRow], "In the order of their names."]
    total: Annotated[int, "How many the filter matches."]
    next: Annotated[str | None, "`after` of the next page; null on the last one."]


class LakeTableFigures(TypedDict):
    """A table of the lake."""

    name: Annotated[str, "Its name."]
    rows: Annotated[int, "Its rows."]
    bytes: Annotated[int, "Bytes of its files."]
    files: Annotated[int, "How many files it has."]
    version: Annotated[int, "Its version: how many commits there were."]
    newest_ms: Annotated[float | None, "The newest time in it; null if it has none."]


class LakeFigures(TypedDict):
    """The lake."""

    uri: Annotated[str, "Where it is."]
    tables: Annotated[list[LakeTableFigures], "Its tables."]
    trouble: Annotated[str | None, "Why nothing is known of it."]


class StorageMessage(TypedDict):
    """What `/api/storage` answers."""

    at_ms: Annotated[float, "When the answer was made."]
    journal: Annotated[JournalSummary, "The journal, its retention, consumers and archive."]
    lake: Annotated[LakeFigures | None, "The lake; null if there is none."]
