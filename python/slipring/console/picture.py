"""A broker as the page shows it: plain dictionaries, ready for JSON."""

import codecs
import time
from dataclasses import asdict, dataclass
from typing import Any

from slipring import __version__
from slipring.console.journal import journal_picture
from slipring.console.operating import session_picture
from slipring.control import Broker
from slipring.control.events import Told
from slipring.control.overview import Reached
from slipring.control.streams import StreamRate
from slipring.native import AwaySession, ConnectedClient, OwnerShare, Status, Value

CLIENTS_SHOWN = 500
VALUES_SHOWN = 5_000
PREFIXES_SHOWN = 20
TEXT_SHOWN = 256
"""Characters of a payload that are shown."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of the broker one reader has seen."""

    change: int = 0
    event: int = 0


def picture(broker: Broker, seen: Seen) -> tuple[Json, Seen]:
    """Everything that is shown, and of values and events those that `seen` does not cover yet.

    With it comes what is seen after that.
    """
    status = broker.engine.status()
    clients = broker.engine.clients(CLIENTS_SHOWN)
    values, change = broker.engine.values(seen.change, VALUES_SHOWN)
    events = broker.overview.events_after(seen.event)
    told = {
        "at_ms": _ms(time.time_ns()),
        "broker": _broker(broker, status),
        "rates": {key: getattr(broker.overview.rates, key) for key in COUNTERS},
        "totals": {key: getattr(status.totals, key) for key in COUNTERS}
        | {"connections": status.connections},
        "clients": [_client(broker, client) for client in clients],
        "clients_total": status.clients,
        "away": [_away(session) for session in broker.away()],
        "sessions_total": status.sessions,
        "sessions_away": status.sessions - status.clients,
        "subscriptions_total": status.subscriptions,
        "retained": {"messages": status.retained_messages, "bytes": status.retained_bytes},
        "waiting": {"messages": status.waiting_messages, "bytes": status.waiting_bytes},
        "memory": {"bytes": status.memory_bytes, "budget": status.memory_budget_bytes},
        "table": _table(broker, status),
        "streams": status.streams
        | {"shown": [_stream(one) for one in broker.overview.streams.all]},
        "topics_total": status.topics,
        "limits": [limit_picture(broker, status, one) for one in broker.overview.limits_reached()],
        "holders": [session_picture(one) for one in broker.holders()],
        "owners": [_owner(share) for share in broker.owners()],
        "prefixes": [asdict(rate) for rate in broker.overview.prefixes.busiest(PREFIXES_SHOWN)],
        "values": [_value(value) for value in values],
        "events": [_event(event) for event in events],
    }
    return told, Seen(change, events[-1].number if events else seen.event)


COUNTERS = ("messages_in", "messages_out", "bytes_in", "bytes_out", "dropped", "expired")


def _broker(broker: Broker, status: Status) -> Json:
    return {
        "name": broker.config.name,
        "version": __version__,
        "uptime_s": status.uptime_s,
        "mqtt": broker.engine.address,
        "journal": journal_picture(broker, status),
    }


def _table(broker: Broker, status: Status) -> Json:
    rates = asdict(broker.overview.table_rates)
    return status.table | {f"{name}_s": rate for name, rate in rates.items()}


def _stream(one: StreamRate) -> Json:
    return {
        "name": one.name,
        "media": one.media,
        "live": one.live,
        "publishers": one.publishers,
        "kept_chunks": one.kept_chunks,
        "kept_bytes": one.kept_bytes,
        "buffer_bytes": one.buffer_bytes,
        "chunks_s": one.chunks_s,
        "bytes_s": one.bytes_s,
        "received_ms": None if one.received_ns is None else _ms(one.received_ns),
    }


def limit_picture(broker: Broker, status: Status, reached: Reached) -> Json:
    """Show a limit that was reached, with the value that holds."""
    is_memory = reached.limit == "memory_bytes"  # 0 in the file is a part of the machine's
    value = getattr(broker.config.limits, reached.limit)
    return {
        "limit": reached.limit,
        "value": status.memory_budget_bytes if is_memory else value,
        "times": reached.times,
        "last_ms": _ms(reached.last_ns),
    }


def _owner(share: OwnerShare) -> Json:
    return {"limit": share.limit, "owner": share.owner, "held": share.held, "most": share.most}


def _client(broker: Broker, client: ConnectedClient) -> Json:
    connected_s = (time.time_ns() - client.connected_ns) / 1e9
    return {
        "client_id": client.client_id,
        "address": client.address,
        "listener": broker.listener_name(client.listener),
        "user": client.user,
        "protocol": client.protocol,
        "connected_s": max(0.0, connected_s),
        "messages_in": client.totals.messages_in,
        "messages_out": client.totals.messages_out,
        "dropped": client.totals.dropped,
        "expired": client.totals.expired,
        "queued_messages": client.queued_messages,
        "queued_bytes": client.queued_bytes,
        "inflight": client.inflight,
        "subscriptions": client.subscriptions,
    }


def _away(session: AwaySession) -> Json:
    return {
        "client_id": session.client_id,
        "user": session.user,
        "since_ms": _ms(session.since_ns),
        "expires_s": session.expires_s,
        "queued_messages": session.queued_messages,
        "queued_bytes": session.queued_bytes,
        "subscriptions": session.subscriptions,
    }


def _value(value: Value) -> Json:
    return {
        "topic": value.topic,
        "text": as_text(value.payload, whole=len(value.payload) == value.payload_bytes),
        "bytes": value.payload_bytes,
        "at_ms": _ms(value.receive_ns),
        "count": value.count,
    }


def _event(event: Told) -> Json:
    return {
        "at_ms": _ms(event.at_ns),
        "level": event.level,
        "kind": event.kind,
        "text": event.text,
    }


def as_text(payload: bytes, *, whole: bool) -> str | None:
    """Give the payload as text, or None if it is not; a cut one may end within a character."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(payload, final=whole)
    except UnicodeDecodeError:
        return None
    return text[:TEXT_SHOWN]


def _ms(ns: int) -> float:
    return ns / 1e6
