"""The broker's counters in the text format of Prometheus. Shows no client, no user, no credential.

Every family is always there, and labels are bounded: a scrape costs the same on a busy day. Which
metrics there are is in `slipring.status`.
"""

from collections.abc import Iterator

from slipring import __version__
from slipring.console.authenticator import Authenticator
from slipring.console.journal import archive_of, consumers_of, receipt_summary
from slipring.console.listener import ConsoleListener
from slipring.console.log_levels import log_status
from slipring.console.narrowing import below
from slipring.console.requests import answer_times
from slipring.console.visitor import Visitor
from slipring.control import Broker
from slipring.status.description import Family, families, without_links
from slipring.status.message import Scrape

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIXES_SHOWN = 100
"""Prefixes with the most messages since the start; which they are changes seldom."""


def metrics_text(
    broker: Broker, listener: ConsoleListener, authenticator: Authenticator, visitor: Visitor
) -> str:
    """Everything there is to scrape; of the prefixes, those that the visitor may watch."""
    scrape = _scrape(broker, listener, authenticator)
    if visitor.watched != "all":
        seen = visitor.may_watch_all_of
        scrape["prefixes"] = [one for one in scrape["prefixes"] if seen(below(one["prefix"]))]
    found = families(Scrape, [scrape])
    return "".join(f"{line}\n" for family in found for line in _lines(family))


def _scrape(broker: Broker, listener: ConsoleListener, authenticator: Authenticator) -> Scrape:
    status, receipt = broker.engine.status(), broker.receipt
    journal = status["journal"]
    return {
        "build": {__version__: 1},
        "status": status,
        "journal": journal
        and {"up": journal["failure"] is None, "full": journal["no_space"] is not None},
        "consumers": consumers_of(broker, status),
        "archive": archive_of(broker, status),
        "receipt": receipt and receipt_summary(receipt),
        "events": broker.overview.event_counts,
        "discovery": broker.discovery.counts,
        "prefixes": broker.engine.prefixes(PREFIXES_SHOWN),
        "answer_times": answer_times(status["requests"]),
        "alarms": broker.alarms.board.summary(),
        "console": listener.figures(),
        "logins": {"open": len(authenticator.logins), "attempts": dict(authenticator.outcomes)},
        "log_servers": log_status(broker.log)["servers"],
    }


def _lines(family: Family) -> Iterator[str]:
    metric = family.metric
    yield f"# HELP {metric.name} {without_links(family.meaning)}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for texts, value in family.samples:
        pairs = zip(metric.labels, texts, strict=True)
        labels = ",".join(f'{label}="{_escape(text)}"' for label, text in pairs)
        yield f"{metric.name}{f'{{{labels}}}' if labels else ''} {_number(value)}"


def _escape(text: str) -> str:
    """Keep a topic from ending its label: the format's own escapes."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
