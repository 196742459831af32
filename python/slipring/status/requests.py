"""What the engine shows of requests, services, topics and their subscribers.

The fields are those of `requests/watching.rs` and `topic_status.rs` in `crates/engine/src`; tests
compare.
"""

from typing import Annotated, Literal, TypedDict, get_args

from slipring.status.description import Counter, Gauge

RequestStateName = Literal[
    "new",
    "stored",
    "delivered",
    "answered",
    "answer stored",
    "answer delivered",
    "request not delivered",
    "answer not delivered",
    "cancelled",
    "timed out",
    "failed",
    "dropped",
]
"""Where a request is in its life, or how it ended."""
REQUEST_STATES: tuple[RequestStateName, ...] = get_args(RequestStateName)
"""In the order of a request's life; the ends last."""


class RequestTotals(TypedDict):
    """[Requests](requests.md) as a whole."""

    asked: Annotated[int, "Requests that came since the start.", Counter("requests_asked")]
    open: Annotated[int, "Requests that are not over.", Gauge("requests_open")]
    topics: Annotated[int, "Topics with open requests.", Gauge("requests_topics")]
    services: Annotated[int, "Clients that serve requests.", Gauge("services")]
    room: Annotated[
        int, "Requests that all services together can have at once.", Gauge("services_room")
    ]
    retried: Annotated[int, "Requests that went to another service.", Counter("requests_retried")]
    parts: Annotated[int, "Partial answers.", Counter("requests_parts")]
    late: Annotated[
        int,
        "Answers that came too late, twice, to no request, or from a client that did not have it.",
        Counter("requests_late"),
    ]
    refused: Annotated[int, "Messages refused as requests.", Counter("requests_refused")]
    p50_ms: Annotated[float | None, "Half of all answers came within so many milliseconds."]
    p99_ms: Annotated[float | None, "99 of 100 answers came within so many milliseconds."]


class RequestsStatus(RequestTotals):
    """[Requests](requests.md): how many there are now, and what became of the others."""

    states: Annotated[
        dict[str, int],
        "[Requests](requests.md#watching) that are not over, by state; those that are `delivered` "
        "are what the services are busy with.",
        Gauge("requests", "state"),
    ]
    ends: Annotated[
        dict[str, int],
        "Requests that are over, by how they ended.",
        Counter("requests_ended", "end"),
    ]


class RequestStatus(TypedDict):
    """One request."""

    key: Annotated[str, "Its key: 16 hexadecimal digits."]
    topic: Annotated[str, "Its topic."]
    state: Annotated[RequestStateName, "Where it is in its life, or how it ended."]
    asker: Annotated[str, "The client that asked."]
    service: Annotated[str | None, "The client that has it, or had it last."]
    priority: Annotated[Literal["high", "normal", "low"], "Its priority."]
    payload_bytes: Annotated[int, "Bytes of its payload; 0 once its answer was stored."]
    asked_ms: Annotated[float, "When it came, in milliseconds since 1970."]
    stored_ms: Annotated[
        float | None, "When it began to wait for a service; null if one was free at once."
    ]
    delivered_ms: Annotated[float | None, "When a service got it, the last one."]
    ended_ms: Annotated[float | None, "When it was answered, or ended otherwise."]
    times_out_ms: Annotated[float | None, "When it will time out; null once it cannot."]
    reason: Annotated[
        str | None,
        "Why it failed, in the words of its service (200 bytes of them) or of the broker.",
    ]


class ServiceStatus(TypedDict):
    """One service of requests."""

    client_id: Annotated[str, "The client."]
    connected: Annotated[bool, "Whether it is connected."]
    busy: Annotated[int, "Requests that it has."]
    limit: Annotated[int, "Requests that it can have at once."]
    answered: Annotated[int, "Requests that it answered."]
    failed: Annotated[int, "Requests that it failed."]
    p50_ms: Annotated[float | None, "Half of its answers came within so many milliseconds."]
    p99_ms: Annotated[float | None, "99 of 100 of its answers came within so many milliseconds."]


class TopicRequests(TypedDict):
    """The open requests of one topic."""

    topic: Annotated[str, "The topic."]
    open: Annotated[int, "Requests that are not over."]
    stored: Annotated[int, "Those of them that wait for a service."]


class WaitingTopic(TypedDict):
    """Messages of one topic that wait for their first subscriber."""

    topic: Annotated[str, "The topic."]
    messages: Annotated[int, "How many wait."]
    bytes: Annotated[int, "Their bytes, about."]


class SubscriberStatus(TypedDict):
    """One subscription that matches a topic."""

    client_id: Annotated[str, "The client."]
    connected: Annotated[bool, "Whether it is connected."]
    filter: Annotated[str, "The filter, without the share."]
    qos: Annotated[int, "The QoS that it asks for."]
    share: Annotated[str | None, "The name of its share; null if it shares with nobody."]
    serve: Annotated[int, "Requests that it computes at once; 0 if it does not say."]
    priority: Annotated[str | None, "The priority of messages that name none."]


class SelectionStatus(TypedDict):
    """One [selection](table.md#select) that has a parameter."""

    client_id: Annotated[str, "The client."]
    connected: Annotated[bool, "Whether it is connected."]
    filter: Annotated[str, "What it selects by."]
    rate_hz: Annotated[
        float | None, "The newest values at most so often; null if it is sent every sample."
    ]


class PublisherStatus(TypedDict):
    """One client that declared parameters."""

    client_id: Annotated[str, "The client."]
    connected: Annotated[bool, "Whether it publishes them now."]
    ranges: Annotated[list[tuple[int, int]], "Ranges of indices: the first, and how many."]


class TopicStatus(TypedDict):
    """One topic: what came on it, and who is subscribed to it."""

    topic: Annotated[str, "The topic."]
    messages: Annotated[
        int | None,
        "Messages on it since the start, without requests; null if there was none, or if it is a "
        "parameter.",
    ]
    last_ms: Annotated[float | None, "When the last one came."]
    last_bytes: Annotated[int | None, "Bytes of its payload."]
    subscribers: Annotated[list[SubscriberStatus], "The subscriptions that match it."]
    subscribers_total: Annotated[int, "How many there are."]
    selections: Annotated[list[SelectionStatus], "If it is a parameter, the selections with it."]
    selections_total: Annotated[int, "How many there are."]


class RequestCount(TypedDict):
    """How many requests are in a state, or ended so."""

    state: Annotated[RequestStateName, "The state."]
    count: Annotated[int, "How many."]


class RequestFigures(RequestTotals):
    """[Requests](requests.md): how many there are now, and what became of the others."""

    states: Annotated[list[RequestCount], "How many are in each state."]
    ends: Annotated[list[RequestCount], "How many ended in each way since the start."]


class OneRequestMessage(TypedDict):
    """What `/api/requests/KEY` answers."""

    at_ms: Annotated[float, "When the answer was made."]
    request: Annotated[RequestStatus, "The request."]


class RequestsMessage(TypedDict):
    """What `/api/requests` answers."""

    at_ms: Annotated[float, "When the answer was made."]
    figures: Annotated[RequestFigures, "All requests in numbers."]
    requests: Annotated[
        list[RequestStatus],
        "Those that were asked for: open ones, those that time out next first; then the last ones "
        "that ended, of the last 1,000.",
    ]
    services: Annotated[list[ServiceStatus], "At most 50, the busiest first."]
    topics: Annotated[list[TopicRequests], "At most 20, those with the most open requests first."]
    waiting: Annotated[
        list[WaitingTopic],
        "Plain messages that wait for their first subscriber: at most 20 topics, most messages "
        "first.",
    ]
