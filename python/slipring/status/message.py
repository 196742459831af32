"""What the console sends: to its page, to programs as JSON, and to Prometheus as metrics."""

from typing import Annotated, Literal, TypedDict

from slipring.status.alarms import AlarmSummary
from slipring.status.console import ConsoleFigures, LoginFigures
from slipring.status.description import Counter, Gauge
from slipring.status.engine import (
    Acknowledged,
    AwayStatus,
    BrokerFigures,
    BrokerStatus,
    ClientStatus,
    DamagedRange,
    JournalStatus,
    OwnerShare,
    PrefixTraffic,
    ReceiptFigures,
    SessionStatus,
    StreamsStatus,
    TableStatus,
    TrafficCounts,
)
from slipring.status.measured import DiskRoom, SampleAges
from slipring.status.requests import RequestFigures

Level = Literal["memory", "process", "disk"]
"""How safe a QoS 1 or 2 message is when it is acknowledged."""


class DurabilityRule(TypedDict):
    """The level of some topics."""

    topics: Annotated[list[str], "Their filters."]
    level: Annotated[Level, "When their messages are acknowledged."]


class Durability(TypedDict):
    """What the journal promises."""

    default: Annotated[Level, "The level of what no rule matches."]
    journaled: Annotated[list[str], "Filters of what is journaled; the rest is in memory only."]
    rules: Annotated[list[DurabilityRule], "The first match wins."]


class Retention(TypedDict):
    """What is removed from the journal."""

    age_s: Annotated[float | None, "Seconds after which a message is removed; null is never."]
    bytes: Annotated[int | None, "Size beyond which the oldest are removed; null is no bound."]
    keep_unread: Annotated[bool, "Whether messages that a consumer has not read are kept."]


class ConsumerRows(TypedDict):
    """Rows that a job of the [pipeline](pipeline.md#watching-it) says it wrote to a table."""

    table: Annotated[str, "The name of the table."]
    rows: Annotated[
        int,
        "Rows that a consumer wrote to a table since its run began; a corrected row counts again.",
        Counter("journal_consumer_rows", "table", of="consumer"),
    ]
    rows_s: Annotated[float, "Rows per second, over the last 30 s."]
    last_rows: Annotated[int, "Rows of its last commit."]


class ConsumerStatus(TypedDict):
    """A consumer of the journal, and how far it has come."""

    name: Annotated[str, "Its name."]
    offset: Annotated[
        int | None,
        "The offset that a consumer reads next; null if that is unknown.",
        Counter("journal_consumer_read", "consumer"),
    ]
    behind: Annotated[
        int | None,
        "Messages that a consumer has not read.",
        Gauge("journal_consumer_behind", "consumer"),
    ]
    lag_s: Annotated[
        float | None,
        "Seconds since the oldest message on disk was received that a consumer has not read; 0 if "
        "it has read all, null if that is unknown.",
        Gauge("journal_consumer_lag_seconds", "consumer"),
    ]
    messages_s: Annotated[float | None, "Messages that it read per second, over the last 30 s."]
    updated_ms: Annotated[float | None, "When it recorded that offset: its last commit."]
    rows: Annotated[
        list[ConsumerRows], "What it says it wrote, by table; empty if it says nothing."
    ]
    flaw: Annotated[str | None, "Why nothing is known of it: a damaged file, another journal."]


class ArchiveStatus(TypedDict):
    """The [archive](archive.md) of the journal, and how far it is."""

    url: Annotated[str, "Where it is."]
    first_offset: Annotated[int, "The first offset in it."]
    end_offset: Annotated[
        int, "Everything before this offset is archived.", Gauge("archive_end_offset")
    ]
    behind: Annotated[int, "Offsets on disk that are not archived.", Gauge("archive_behind")]
    segments: Annotated[int, "Segments in the archive.", Gauge("archive_segments")]
    bytes: Annotated[int, "Their bytes.", Gauge("archive_bytes")]
    waiting: Annotated[
        int, "Complete segments that are not archived yet.", Gauge("archive_waiting_segments")
    ]
    failure: Annotated[str | None, "Why nothing can be archived now; it is tried again."]
    is_failing: Annotated[bool, "1 while nothing can be archived.", Gauge("archive_failing")]
    failures: Annotated[int, "Failed tries to archive.", Counter("archive_failures")]
    updated_ms: Annotated[float | None, "When something was archived last; null if never."]


class ShownDamage(DamagedRange):
    """A range of offsets that cannot be read, in words."""

    text: Annotated[str, "The same as a sentence."]


class ReceiptSummary(ReceiptFigures):
    """What the start found in the journal."""

    text: Annotated[str, "The same as a sentence."]
    kept: Annotated[int, "Messages that the start found.", Gauge("receipt_kept_messages")]
    damaged: Annotated[
        int, "Messages that the start found damaged.", Gauge("receipt_damaged_messages")
    ]
    damage: Annotated[list[ShownDamage], "Damaged ranges, at most 100."]
    damage_total: Annotated[int, "How many damaged ranges there are."]


class JournalSummary(JournalStatus, DiskRoom):
    """The journal: its state, what it promises, who reads it, what the start found."""

    state: Annotated[
        Literal["ok", "full", "failed", "off"], "`full` and `failed` have a reason and advice."
    ]
    reason: Annotated[str | None, "What is wrong."]
    advice: Annotated[str | None, "What to do about it."]
    messages: Annotated[int | None, "Messages in it."]
    unsynced: Annotated[int | None, "Those that are not on disk yet."]
    durability: Annotated[Durability, "What it promises."]
    acknowledged: Annotated[Acknowledged, "Messages by what was promised, since the start."]
    retention: Annotated[Retention, "What is removed."]
    consumers: Annotated[list[ConsumerStatus], "At most 100, those that are furthest behind."]
    consumers_total: Annotated[int, "How many consumers there are."]
    archive: Annotated[ArchiveStatus | None, "Its archive; null if there is none."]
    receipt: Annotated[ReceiptSummary | None, "What the start found; null without a journal."]


class BrokerSummary(TypedDict):
    """Which broker it is, and the state of its journal."""

    name: Annotated[str, "Its name in the configuration."]
    source: Annotated[str, "Where its data comes from: `console.source`, else its name."]
    mark: Annotated[
        str | None, "What every page shows beside the data, such as `DEMO DATA`; null is nothing."
    ]
    version: Annotated[str, "Its version."]
    uptime_s: Annotated[float, "Seconds since the start."]
    mqtt: Annotated[str, "Where its first listener is."]
    journal: Annotated[JournalSummary, "Its journal; the figures are null if there is none."]


class TableRates(TypedDict):
    """The table's counters per second; the names are theirs, followed by `_s`."""

    frames_s: Annotated[float, "Frames per second."]
    samples_s: Annotated[float, "Samples per second."]
    refused_s: Annotated[float, "Refused per second."]


class TableFigures(TableStatus, TableRates, SampleAges):
    """The current value table, with rates and ages."""


class StreamRate(TypedDict):
    """One stream: what is kept of it, and how fast it comes."""

    index: Annotated[int, "Its number."]
    name: Annotated[str, "Its name."]
    media: Annotated[str, "Its media type."]
    live: Annotated[bool, "Whether a connected client publishes it."]
    publishers: Annotated[int, "How many connected clients publish it."]
    chunks: Annotated[int, "Chunks since the broker started."]
    received_bytes: Annotated[int, "Their bytes."]
    kept_chunks: Annotated[int, "Chunks in its buffer."]
    kept_bytes: Annotated[int, "Their bytes."]
    buffer_bytes: Annotated[int, "Bytes that the buffer may hold."]
    chunks_s: Annotated[float, "Chunks per second."]
    bytes_s: Annotated[float, "Bytes per second."]
    received_ms: Annotated[float | None, "When the last chunk came; null before the first one."]


class StreamFigures(StreamsStatus):
    """The streams, and the first of them one by one."""

    shown: Annotated[list[StreamRate], "The first 100 by index."]


class LimitReached(TypedDict):
    """A limit that was reached since the start."""

    limit: Annotated[str, "Its key in the table `limits` of the configuration, or `quota.KEY`."]
    value: Annotated[int, "What it is set to; of a quota the lowest."]
    times: Annotated[int, "How often it was reached."]
    last_ms: Annotated[float, "When it was seen last."]


class PrefixRate(PrefixTraffic):
    """What is published below the first two levels of a topic: since the start, and per second."""

    messages_s: Annotated[float, "Messages per second."]
    bytes_s: Annotated[float, "Bytes per second."]


class TopicValue(TypedDict):
    """The newest message of a topic that is not a parameter."""

    topic: Annotated[str, "The topic."]
    text: Annotated[str | None, "At most 256 characters; null when it is not UTF-8."]
    bytes: Annotated[int, "Bytes of the whole payload."]
    at_ms: Annotated[float, "When the broker received it."]
    count: Annotated[int, "Messages on the topic so far."]


class BrokerEvent(TypedDict):
    """An event, as in the [log](observing.md#the-log)."""

    at_ms: Annotated[float, "When it happened."]
    level: Annotated[str, "`debug`, `info`, `warning` or `error`."]
    kind: Annotated[str, "What it is about."]
    text: Annotated[str, "What happened."]


class LogRoom(TypedDict):
    """A room of the log."""

    room: Annotated[str, "Its name."]
    level: Annotated[str, "The least important level that is written of it."]


class LogServerStatus(TypedDict):
    """A [log server](observing.md#log-servers), and what it got."""

    server: Annotated[str, "Its kind and its address."]
    sent: Annotated[
        int, "Lines that were sent to a log server.", Counter("log_server_sent", "server")
    ]
    lost: Annotated[
        int,
        "Lines that a log server did not get: it was away, too slow, or refused them.",
        Counter("log_server_lost", "server"),
    ]
    waiting: Annotated[
        int, "Lines that wait for a log server.", Gauge("log_server_waiting", "server")
    ]
    is_failing: Annotated[
        bool, "1 while a log server takes nothing.", Gauge("log_server_failing", "server")
    ]
    failure: Annotated[str | None, "Why it takes nothing; it is tried again."]


class LogStatus(TypedDict):
    """The [log](observing.md#the-log): its levels, and the log servers."""

    rooms: Annotated[list[LogRoom], "The level of each room."]
    servers: Annotated[list[LogServerStatus], "The log servers."]


class LiveMessage(BrokerFigures):
    """The broker as the page shows it."""

    at_ms: Annotated[float, "When the message was made."]
    broker: Annotated[BrokerSummary, "Which broker it is, and its journal."]
    rates: Annotated[TrafficCounts, "Per second, over the last second."]
    table: Annotated[TableFigures, "The current value table."]
    alarms: Annotated[AlarmSummary, "The [alarms](alarms.md): how many."]
    streams: Annotated[StreamFigures, "The [streams](streams.md)."]
    requests: Annotated[RequestFigures, "The [requests](requests.md)."]
    clients: Annotated[list[ClientStatus], "At most 500, longest connected first."]
    away: Annotated[
        list[AwayStatus], "Sessions whose client is away: at most 200, most messages first."
    ]
    holders: Annotated[
        list[SessionStatus], "The ten sessions, connected or away, for which most waits."
    ]
    owners: Annotated[
        list[OwnerShare],
        "Who holds most of each limit with [quotas](limits.md#quotas), five of each at most.",
    ]
    limits: Annotated[list[LimitReached], "Limits that were reached, the latest first."]
    log: Annotated[LogStatus, "The log: its levels, and the log servers."]
    prefixes: Annotated[list[PrefixRate], "At most 20, the busiest of the last second first."]
    values: Annotated[
        list[TopicValue],
        "Of the first message of a socket all topics, at most 5,000; later those that changed.",
    ]
    events: Annotated[
        list[BrokerEvent],
        "Of the first message the last 200, later what is new; oldest first.",
    ]


class JournalHealth(TypedDict):
    """Whether the journal keeps its promises."""

    up: Annotated[bool, "0 once the journal has failed.", Gauge("journal_up")]
    full: Annotated[bool, "1 while there is no room for more.", Gauge("journal_full")]


class Scrape(TypedDict):
    """What `/metrics` shows. No client, user or credential is among it."""

    build: Annotated[dict[str, int], "1, with the version.", Gauge("build_info", "version")]
    status: Annotated[BrokerStatus, "What the engine counts."]
    journal: Annotated[JournalHealth | None, "Whether the journal keeps its promises."]
    consumers: Annotated[list[ConsumerStatus], "Who reads the journal."]
    archive: Annotated[ArchiveStatus | None, "The journal's archive."]
    receipt: Annotated[ReceiptSummary | None, "What the start found in the journal."]
    events: Annotated[
        dict[str, int], "Events by kind, as in the [log](#the-log).", Counter("events", "kind")
    ]
    discovery: Annotated[
        dict[str, int],
        "Datagrams to the port for [discovery](discovery.md#hostile-datagrams): `answered`, or why "
        "not.",
        Counter("discovery_datagrams", "outcome"),
    ]
    prefixes: Annotated[list[PrefixTraffic], "The 100 prefixes with the most messages."]
    answer_times: Annotated[
        dict[str, float],
        "Seconds from the delivery of a [request](requests.md) to its answer, of all answers since "
        "the start; nothing before the first one.",
        Gauge("requests_answer_seconds", "quantile"),
    ]
    alarms: Annotated[AlarmSummary, "The [alarms](alarms.md)."]
    console: Annotated[ConsoleFigures, "The console's own connections."]
    logins: Annotated[LoginFigures, "Logins to the console."]
    log_servers: Annotated[list[LogServerStatus], "The log servers."]
