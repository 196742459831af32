"""What the engine counts and lists: the fields of `crates/engine/src/status.rs`; tests compare."""

from typing import Annotated, Literal, TypedDict

from slipring.status.description import Counter, Gauge
from slipring.status.requests import RequestsStatus


class TrafficCounts(TypedDict):
    """What came from clients and went to them: since the start, or per second."""

    messages_in: Annotated[float, "Messages from publishers.", Counter("messages_received")]
    messages_out: Annotated[float, "Messages to subscribers.", Counter("messages_sent")]
    bytes_in: Annotated[float, "Bytes received, all packets.", Counter("received_bytes")]
    bytes_out: Annotated[float, "Bytes sent, all packets.", Counter("sent_bytes")]
    dropped: Annotated[
        float, "Messages dropped on the way to a subscriber.", Counter("messages_dropped")
    ]
    expired: Annotated[
        float, "Messages that expired before they were sent.", Counter("messages_expired")
    ]


class Totals(TrafficCounts):
    """What went through the broker since the start."""

    connections: Annotated[int, "Clients let in.", Counter("connections")]


class RetainedMessages(TypedDict):
    """Retained messages, without the broker's own."""

    messages: Annotated[int, "Retained messages.", Gauge("retained_messages")]
    bytes: Annotated[int, "Bytes of the retained messages, about.", Gauge("retained_bytes")]


class WaitingMessages(TypedDict):
    """Messages that wait for their first subscriber."""

    messages: Annotated[
        int, "Messages that wait for their first subscriber.", Gauge("waiting_messages")
    ]
    bytes: Annotated[
        int, "Bytes of the messages that wait for a subscriber, about.", Gauge("waiting_bytes")
    ]


class MemoryParts(TypedDict):
    """What the memory of all that waits is made of, in bytes."""

    outboxes: Annotated[int, "QoS 0 messages that wait for their clients."]
    queues: Annotated[int, "QoS 1 and 2 messages that wait or are in flight."]
    waiting: Annotated[int, "Messages that wait for their first subscriber."]
    retained: Annotated[int, "Retained messages."]
    requests: Annotated[int, "Requests and answers that are stored."]
    journal: Annotated[int, "What waits to be written into the journal."]
    other: Annotated[
        int, "Packets that come in or go out, answers, streams, what selections gathered."
    ]


class VictimCounts(TypedDict):
    """Messages dropped because memory was short, since the start."""

    outboxes: Annotated[int, "QoS 0 messages."]
    queues: Annotated[int, "QoS 1 and 2 messages."]
    waiting: Annotated[int, "Messages that waited for their first subscriber."]
    retained: Annotated[int, "Retained messages."]
    requests: Annotated[int, "Requests and answers."]


class MemoryUse(TypedDict):
    """Memory of [all that waits](limits.md#memory) for others."""

    bytes: Annotated[
        int, "Memory of [all that waits](limits.md#memory) for others.", Gauge("memory_bytes")
    ]
    budget: Annotated[
        int, "The most that this memory may be; 0 means no bound.", Gauge("memory_budget_bytes")
    ]
    parts: Annotated[
        MemoryParts,
        "What this memory is made of, at most a second ago. A payload that waits for several "
        "clients counts for each of them, so the parts can be more than the whole.",
        Gauge("memory_part_bytes", "part"),
    ]
    victims: Annotated[
        VictimCounts,
        "Messages dropped because memory was short, by where they were stored.",
        Counter("memory_victims", "part"),
    ]


class TableStatus(TypedDict):
    """The current value table: what is in it now, and what came for it since the start."""

    parameters: Annotated[int, "Parameters in the table.", Gauge("table_parameters")]
    stale: Annotated[int, "Parameters whose value is stale.", Gauge("table_stale")]
    value_bytes: Annotated[
        int,
        "Bytes of the newest values of text and bytes parameters; `limits.parameter_bytes` is "
        "their bound.",
        Gauge("table_value_bytes"),
    ]
    selections: Annotated[
        int, "Selections that are served; equal ones are one.", Gauge("table_selections")
    ]
    readers: Annotated[
        int,
        "Clients and shared subscriptions that read parameters by "
        "[plain subscriptions](table.md#plain-subscriptions).",
        Gauge("table_readers"),
    ]
    readers_newest: Annotated[
        int, "Those readers that get newest values only, now.", Gauge("table_readers_newest")
    ]
    frames: Annotated[int, "Frames taken from publishers.", Counter("table_frames")]
    samples: Annotated[int, "Samples taken from publishers.", Counter("table_samples")]
    refused: Annotated[int, "Frames and plain samples refused.", Counter("table_refused")]


class StreamsStatus(TypedDict):
    """The [streams](streams.md): what there is now, and what went through them since the start."""

    streams: Annotated[int, "[Streams](streams.md) that are declared.", Gauge("streams")]
    readers: Annotated[int, "Subscriptions that read streams.", Gauge("streams_readers")]
    kept_bytes: Annotated[int, "Bytes of chunks in the buffers.", Gauge("streams_kept_bytes")]
    chunks: Annotated[int, "Chunks taken from publishers.", Counter("streams_chunks")]
    bytes: Annotated[int, "Bytes of the chunks taken.", Counter("streams_bytes")]
    delivered: Annotated[int, "Chunks given to readers.", Counter("streams_delivered")]
    lost: Annotated[int, "Chunks that readers missed.", Counter("streams_lost")]
    refused: Annotated[int, "Chunks refused.", Counter("streams_refused")]


class Acknowledged(TypedDict):
    """QoS 1 and 2 messages since the start, by their [durability](durability.md) then."""

    memory: Annotated[int, "Acknowledged at once."]
    process: Annotated[int, "Acknowledged when they were written."]
    disk: Annotated[int, "Acknowledged when they were on the disk."]


class NoticeCounts(TypedDict):
    """[Notices](notices.md) since the start."""

    accepted: Annotated[int, "Sent, and not refused."]
    delivered: Annotated[int, "Deliveries, to a client each."]
    refused: Annotated[int, "Too large, or too many at once."]


class JournalStatus(TypedDict):
    """The journal; every field is null if nothing is journaled."""

    first_offset: Annotated[int | None, "The oldest offset.", Gauge("journal_first_offset")]
    next_offset: Annotated[
        int | None, "The offset of the next message.", Gauge("journal_next_offset")
    ]
    synced_offset: Annotated[
        int | None, "Everything before this offset is on disk.", Gauge("journal_synced_offset")
    ]
    bytes: Annotated[int | None, "Bytes of all segments.", Gauge("journal_bytes")]
    bytes_max: Annotated[
        int | None,
        "Bytes at which the journal is full; null (0 as a metric) leaves it to the disk.",
        Gauge("journal_bytes_max"),
    ]
    segments: Annotated[int | None, "Segment files.", Gauge("journal_segments")]
    not_journaled: Annotated[
        int | None,
        "Messages that a failed journal did not take.",
        Counter("journal_not_journaled"),
    ]
    held_by: Annotated[
        str | None, "What still needs old messages, so that they stay; null if nothing does."
    ]
    no_space: Annotated[str | None, "Why there is no room for more; null while there is room."]
    failure: Annotated[str | None, "What failed; null if nothing has."]


class AuditStatus(TypedDict):
    """The audit; null if none is kept."""

    records: Annotated[int, "Records written since the start.", Counter("audit_records")]
    lost: Annotated[int, "Records that were not written.", Counter("audit_lost")]
    bytes: Annotated[int, "Bytes of all records.", Gauge("audit_bytes")]
    trouble: Annotated[str | None, "Why records cannot be written; null while they are."]


class BrokerFigures(TypedDict):
    """Figures that the console sends as the engine counts them."""

    totals: Annotated[Totals, "Counts since the start."]
    clients_total: Annotated[int, "Connected clients.", Gauge("clients")]
    sessions_total: Annotated[
        int, "Sessions, connected or waiting for their client.", Gauge("sessions")
    ]
    sessions_away: Annotated[int, "Sessions that wait for their client.", Gauge("sessions_away")]
    subscriptions_total: Annotated[int, "Subscriptions of all sessions.", Gauge("subscriptions")]
    topics_total: Annotated[
        int, "Topics with a newest value; parameters are not among them.", Gauge("topics")
    ]
    retained: Annotated[RetainedMessages, "Retained messages."]
    waiting: Annotated[WaitingMessages, "Messages that wait for their first subscriber."]
    memory: Annotated[MemoryUse, "Memory of [all that waits](limits.md#memory) for others."]


class BrokerStatus(BrokerFigures):
    """The broker as a whole."""

    uptime_s: Annotated[float, "Seconds since the start.", Gauge("uptime_seconds")]
    table: Annotated[TableStatus, "The current value table."]
    streams: Annotated[StreamsStatus, "The streams."]
    requests: Annotated[RequestsStatus, "The requests."]
    acknowledged: Annotated[
        Acknowledged,
        "QoS 1 and 2 messages acknowledged, by their [durability](durability.md) then.",
        Counter("messages_acknowledged", "level"),
    ]
    notices: Annotated[
        NoticeCounts,
        "[Notices](notices.md): accepted, refused, and each delivery to a client.",
        Counter("notices", "outcome"),
    ]
    reached: Annotated[
        dict[str, int],
        "Times each [limit](limits.md) was reached; the label is its key in the configuration.",
        Counter("limit_reached", "limit"),
    ]
    journal: Annotated[JournalStatus | None, "The journal."]
    audit: Annotated[AuditStatus | None, "The [audit](audit.md); null if none is kept."]


class ClientStatus(TrafficCounts):
    """A connected client."""

    client_id: Annotated[str, "Its identifier."]
    address: Annotated[str, "Where it connects from."]
    listener: Annotated[str, "The name of the listener it came by."]
    user: Annotated[str | None, "The user name that it gave, or proved."]
    protocol: Annotated[str, "What it speaks: `MQTT 5`."]
    connected_s: Annotated[float, "Seconds since it connected."]
    samples_in: Annotated[int, "Samples of parameters that the table took from it."]
    queued_messages: Annotated[int, "QoS 1 and 2 messages that wait or are in flight."]
    queued_bytes: Annotated[int, "Bytes that wait for it, QoS 0 too."]
    inflight: Annotated[int, "QoS 1 and 2 messages sent and not settled."]
    slowed: Annotated[
        bool,
        "Whether it is read more slowly: its owner reached a [quota](limits.md#quotas-by-user).",
    ]
    subscriptions: Annotated[list[str], "Its filters, in order."]


class AwayStatus(TypedDict):
    """A session whose client is away."""

    client_id: Annotated[str, "The client's identifier."]
    user: Annotated[str | None, "The user to whom the session belongs."]
    since_ms: Annotated[float, "When the client left."]
    expires_s: Annotated[float | None, "Seconds until the session ends; null is for ever."]
    queued_messages: Annotated[int, "QoS 1 and 2 messages that wait for the client."]
    queued_bytes: Annotated[int, "Their bytes."]
    subscriptions: Annotated[list[str], "Its filters, in order."]


class SessionStatus(TypedDict):
    """A session, connected or away: its owner, and what it holds."""

    client_id: Annotated[str, "The client's identifier."]
    user: Annotated[str | None, "The user to whom the session belongs."]
    owner: Annotated[str, "The owner in whose quota it counts: `user:NAME` or `address:IP`."]
    state: Annotated[Literal["connected", "away"], "Whether the client is here."]
    address: Annotated[str | None, "Where the client is connected from."]
    since_ms: Annotated[float, "Since when the client is here, or away."]
    kept: Annotated[bool, "Whether the session is kept when the client goes."]
    expires_s: Annotated[
        float | None, "Seconds until the session of a client that is away ends; null is for ever."
    ]
    queued_messages: Annotated[int, "QoS 1 and 2 messages that wait or are in flight."]
    queued_bytes: Annotated[int, "Bytes that wait for it."]
    subscriptions: Annotated[int, "How many filters it has."]
    parameters: Annotated[int, "Parameters that it has declared."]


class OwnerShare(TypedDict):
    """What one owner holds of a limit that has [quotas](limits.md#quotas)."""

    limit: Annotated[str, "The limit's key in the configuration."]
    owner: Annotated[str, "`user:NAME` or `address:IP`."]
    held: Annotated[int, "How much it holds."]
    most: Annotated[int, "How much one owner may hold."]


class PrefixTraffic(TypedDict):
    """What was published below the first two levels of a topic, since the start."""

    prefix: Annotated[str, "The first two levels."]
    messages: Annotated[
        int, "Messages published below the prefix.", Counter("prefix_messages", "prefix")
    ]
    bytes: Annotated[
        int, "Payload published below the prefix.", Counter("prefix_payload_bytes", "prefix")
    ]
    deliveries: Annotated[
        int, "Deliveries of these messages.", Counter("prefix_deliveries", "prefix")
    ]


class DamagedRange(TypedDict):
    """A range of offsets that cannot be read."""

    first_offset: Annotated[int, "The first of them."]
    end_offset: Annotated[int, "One past the last."]
    why: Annotated[str, "What is wrong, and in which file."]


class ReceiptFigures(TypedDict):
    """What a start found in the journal, without what is damaged."""

    identity: Annotated[str, "Which journal it is."]
    epoch: Annotated[int, "The number of this start: its time in milliseconds, or more."]
    first_offset: Annotated[int, "The oldest offset."]
    next_offset: Annotated[int, "The offset of the next message."]
    segments: Annotated[int, "Segment files."]
    bytes_read: Annotated[int, "Bytes that were read and checked."]
    cut_bytes: Annotated[
        int, "Bytes that the start cut from the journal's end.", Gauge("receipt_cut_bytes")
    ]
    cut_why: Annotated[str | None, "Why, if something was cut."]
    flaws: Annotated[list[str], "What the sessions have lost, and why."]
    sessions: Annotated[int, "Sessions that the start restored.", Gauge("receipt_sessions")]
    queued: Annotated[
        int, "Messages that waited in these sessions.", Gauge("receipt_queued_messages")
    ]
    retained: Annotated[
        int, "Retained messages that the start restored.", Gauge("receipt_retained_messages")
    ]
    waiting: Annotated[int, "Messages that still wait for their first subscriber."]
    requests: Annotated[int, "Requests that go on.", Gauge("receipt_requests")]
    seconds: Annotated[float, "Seconds that the recovery took.", Gauge("receipt_seconds")]


class StartReceipt(ReceiptFigures):
    """What a start found in the journal."""

    left_out: Annotated[
        list[list[int]], "Offsets that no message has: the first, and one past the last."
    ]
    narrowed: Annotated[int | None, "The folder's earlier mode, if others could read it."]
    damage: Annotated[list[DamagedRange], "What cannot be read."]
