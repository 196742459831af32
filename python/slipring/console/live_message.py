"""The live message: the broker as the page shows it, ready for JSON."""

import codecs
import time
from dataclasses import dataclass
from typing import TypeAlias

from slipring import __version__
from slipring.console.journal import journal_summary
from slipring.console.log_levels import log_status
from slipring.console.requests import request_figures
from slipring.control import Broker
from slipring.control.events import EventEntry
from slipring.control.overview import ReachedLimit
from slipring.native import Value
from slipring.status.description import part
from slipring.status.engine import BrokerFigures, BrokerStatus
from slipring.status.message import (
    BrokerEvent,
    BrokerSummary,
    LimitReached,
    LiveMessage,
    TopicValue,
)

CLIENTS_SHOWN = 500
VALUES_SHOWN = 5_000
PREFIXES_SHOWN = 20
TEXT_SHOWN = 256
"""Characters of a payload that are shown."""


Parts: TypeAlias = frozenset[str]
PARTS: Parts = frozenset({"away", "clients", "events", "prefixes", "streams", "values"})
"""Lists that can be long: a page asks for those that it shows."""


@dataclass(frozen=True, slots=True)
class LivePosition:
    """How far one reader has come: the last change of a value, and the last event."""

    change: int = 0
    event: int = 0


def live_message(
    broker: Broker, seen: LivePosition, parts: Parts = PARTS
) -> tuple[LiveMessage, LivePosition]:
    """Make the message with the values and events after a position; and the position after it.

    Lists that are not asked for stay empty, and the position in them stays where it is.
    """
    engine, overview = broker.engine, broker.overview
    status = engine.status()
    most = VALUES_SHOWN if "values" in parts else 0
    values, change = engine.values(seen.change, most) if most else ([], seen.change)
    events = overview.events_after(seen.event) if "events" in parts else []
    streams = overview.streams.rows if "streams" in parts else []
    told: LiveMessage = {
        **part(BrokerFigures, status),
        "at_ms": _ms(time.time_ns()),
        "broker": _broker(broker, status),
        "rates": overview.rates,
        "alarms": broker.alarms.board.summary(),
        "table": {**status["table"], **overview.table_rates, **broker.sample_ages()},
        "streams": {**status["streams"], "shown": streams},
        "requests": request_figures(status["requests"]),
        "clients": engine.clients(CLIENTS_SHOWN) if "clients" in parts else [],
        "away": broker.away() if "away" in parts else [],
        "holders": broker.holders(),
        "owners": broker.owners(),
        "limits": [limit_reached(broker, status, one) for one in overview.limits_reached()],
        "log": log_status(broker.log),
        "prefixes": overview.busiest_prefixes(PREFIXES_SHOWN) if "prefixes" in parts else [],
        "values": [shown_topic(value) for value in values],
        "events": [_event(event) for event in events],
    }
    return told, LivePosition(change, events[-1].number if events else seen.event)


def _broker(broker: Broker, status: BrokerStatus) -> BrokerSummary:
    return {
        "name": broker.config.name,
        "source": broker.config.console.source or broker.config.name,
        "mark": broker.config.console.mark or None,
        "version": __version__,
        "uptime_s": status["uptime_s"],
        "mqtt": broker.engine.address,
        "journal": journal_summary(broker, status),
    }


def limit_reached(broker: Broker, status: BrokerStatus, reached: ReachedLimit) -> LimitReached:
    """Describe a limit that was reached, with the value in force."""
    is_memory = (
        reached.limit == "memory_bytes"
    )  # 0 in the file means a part of the machine's memory
    quota = reached.limit.removeprefix("quota.")
    if quota != reached.limit:
        numbers = (table.numbers().get(quota) for table in broker.config.quota)
        value = min((number for number in numbers if number is not None), default=0)
    else:
        value = getattr(broker.config.limits, reached.limit)
    return {
        "limit": reached.limit,
        "value": status["memory"]["budget"] if is_memory else value,
        "times": reached.times,
        "last_ms": _ms(reached.last_ns),
    }


def shown_topic(value: Value) -> TopicValue:
    """A topic with its newest message."""
    return {
        "topic": value.topic,
        "text": as_text(value.payload, whole=len(value.payload) == value.payload_bytes),
        "bytes": value.payload_bytes,
        "at_ms": _ms(value.receive_ns),
        "count": value.count,
    }


def _event(event: EventEntry) -> BrokerEvent:
    return {
        "at_ms": _ms(event.at_ns),
        "level": event.level,
        "kind": event.kind,
        "text": event.text,
    }


def as_text(payload: bytes, *, whole: bool) -> str | None:
    """Decode a payload; None if it is not UTF-8. A cut one may end within a character."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(payload, final=whole)
    except UnicodeDecodeError:
        return None
    return text[:TEXT_SHOWN]


def _ms(ns: int) -> float:
    return ns / 1e6
