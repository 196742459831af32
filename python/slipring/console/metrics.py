"""The broker's counters in the text format of Prometheus. Shows no client, no user, no credential.

Every family is always there, and labels are bounded: a scrape costs the same on a busy day.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from slipring import __version__
from slipring.console.journal_metrics import Family, journal_families
from slipring.control import Broker
from slipring.control.limits import LimitsSection
from slipring.native import Status

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIXES_SHOWN = 100
"""Prefixes with the most messages since the start; which they are changes seldom."""


def metrics_text(broker: Broker, further: Iterable[Family] = ()) -> str:
    """Everything there is to scrape, and further families."""
    status = broker.engine.status()
    lines: list[str] = []
    for name, kind, meaning, samples in chain(_families(broker, status), further):
        lines += (f"# HELP {name} {meaning}", f"# TYPE {name} {kind}")
        lines += (f"{name}{_labels(labels)} {_number(value)}" for labels, value in samples)
    return "\n".join(lines) + "\n"


def _families(broker: Broker, status: Status) -> Iterator[Family]:
    yield "slipring_build_info", "gauge", "The version.", [({"version": __version__}, 1)]
    for name, meaning, value in _gauges(status):
        yield f"slipring_{name}", "gauge", meaning, [({}, value)]
    for name, meaning, value in _counters(status):
        yield f"slipring_{name}_total", "counter", meaning, [({}, value)]
    yield from _table(status.table)
    yield from _streams(status.streams)
    yield (
        "slipring_messages_acknowledged_total",
        "counter",
        "QoS 1 and 2 messages acknowledged, by how safe they were then.",
        [({"level": level}, count) for level, count in status.acknowledged.items()],
    )
    yield (
        "slipring_notices_total",
        "counter",
        "What nodes said to others: accepted, refused, and each delivery.",
        [({"outcome": outcome}, count) for outcome, count in status.notices.items()],
    )
    if status.journal is not None:
        yield from journal_families(broker, status.journal)
    yield (
        "slipring_limit_reached_total",
        "counter",
        "Times a limit was reached; the label is its key in the configuration.",
        [({"limit": limit}, status.reached.get(limit, 0)) for limit in _limits()],
    )
    yield (
        "slipring_events_total",
        "counter",
        "Events told by the engine.",
        [({"kind": kind}, count) for kind, count in broker.overview.event_counts.items()],
    )
    yield (
        "slipring_discovery_datagrams_total",
        "counter",
        "Datagrams to the port for discovery, by what became of them.",
        [({"outcome": outcome}, count) for outcome, count in broker.discovery.counts.items()],
    )
    yield from _prefixes(broker)


def _gauges(status: Status) -> list[tuple[str, str, float]]:
    return [
        ("uptime_seconds", "Seconds since the start.", status.uptime_s),
        ("clients", "Connected clients.", status.clients),
        ("sessions", "Sessions, connected or waiting for their client.", status.sessions),
        ("sessions_away", "Sessions waiting for their client.", status.sessions - status.clients),
        ("subscriptions", "Subscriptions of all sessions.", status.subscriptions),
        ("retained_messages", "Retained messages.", status.retained_messages),
        ("retained_bytes", "Bytes of the retained messages, about.", status.retained_bytes),
        ("waiting_messages", "Messages without a first subscriber yet.", status.waiting_messages),
        ("waiting_bytes", "Bytes of those, about.", status.waiting_bytes),
        ("memory_bytes", "Memory of all that waits for others.", status.memory_bytes),
        ("memory_budget_bytes", "What that may be at most.", status.memory_budget_bytes),
        ("topics", "Topics with a newest value.", status.topics),
    ]


def _counters(status: Status) -> list[tuple[str, str, float]]:
    totals = status.totals
    return [
        ("connections", "Clients let in.", status.connections),
        ("messages_received", "Messages received from publishers.", totals.messages_in),
        ("messages_sent", "Messages sent to subscribers.", totals.messages_out),
        ("received_bytes", "Bytes received, all packets.", totals.bytes_in),
        ("sent_bytes", "Bytes sent, all packets.", totals.bytes_out),
        ("messages_dropped", "Messages dropped on the way to a subscriber.", totals.dropped),
        ("messages_expired", "Messages that expired before they were sent.", totals.expired),
    ]


def _table(figures: Mapping[str, int]) -> Iterator[Family]:
    for name, meaning in (
        ("parameters", "Parameters in the table."),
        ("stale", "Parameters whose value is stale."),
        ("value_bytes", "Bytes of the newest values of text and bytes parameters."),
        ("selections", "Selections that subscribers have."),
        ("readers", "Clients that read parameters by plain subscriptions."),
        ("readers_newest", "Those of them that get newest values only, now."),
    ):
        yield f"slipring_table_{name}", "gauge", meaning, [({}, figures[name])]
    for name, meaning in (
        ("frames", "Frames taken from publishers."),
        ("samples", "Samples taken from publishers."),
        ("refused", "Frames and plain samples refused."),
    ):
        yield f"slipring_table_{name}_total", "counter", meaning, [({}, figures[name])]


def _streams(figures: Mapping[str, int]) -> Iterator[Family]:
    yield "slipring_streams", "gauge", "Streams that are declared.", [({}, figures["streams"])]
    for name, meaning in (
        ("readers", "Subscriptions that read streams."),
        ("kept_bytes", "Bytes of chunks in the buffers."),
    ):
        yield f"slipring_streams_{name}", "gauge", meaning, [({}, figures[name])]
    for name, meaning in (
        ("chunks", "Chunks taken from publishers."),
        ("bytes", "Bytes of those."),
        ("delivered", "Chunks given to readers."),
        ("lost", "Chunks that readers missed."),
        ("refused", "Chunks refused."),
    ):
        yield f"slipring_streams_{name}_total", "counter", meaning, [({}, figures[name])]


def _prefixes(broker: Broker) -> Iterator[Family]:
    traffic = broker.engine.prefixes(PREFIXES_SHOWN)
    for name, meaning, samples in (
        ("messages", "Messages published below a prefix.", [one.messages for one in traffic]),
        ("payload_bytes", "Payload published below a prefix.", [one.bytes for one in traffic]),
        ("deliveries", "Deliveries to subscribers.", [one.deliveries for one in traffic]),
    ):
        labels = [{"prefix": one.prefix} for one in traffic]
        yield (
            f"slipring_prefix_{name}_total",
            "counter",
            f"{meaning} The busiest {PREFIXES_SHOWN} since the start.",
            zip(labels, samples, strict=True),
        )


def _limits() -> list[str]:
    """The keys that are bounds; the others say what happens there."""
    fields = LimitsSection.model_fields
    return [name for name, field in fields.items() if field.annotation is int]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(text)}"' for name, text in labels.items()) + "}"


def _escape(text: str) -> str:
    """Keep a topic from ending its label: the format's own escapes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
