"""Brokers that were found; one that was found twice is merged. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from slipring.discovery.endpoint import is_loopback

LATER = ("ws", "unix:")
"""Sorted after MQTT over TCP and TLS: slower, or for this machine only."""


@dataclass(frozen=True, slots=True)
class FoundBroker:
    """A broker that answered; `slipring.connect(broker.url)` connects to it."""

    name: str
    urls: tuple[str, ...]
    """Where it listens, at least one address. `slipring.connect` takes each of them."""
    id: str | None = None
    """The broker's identity; None for a broker that is not Slipring's."""
    version: str | None = None
    uptime_s: float | None = None
    table: int | None = None
    """The identity of its table."""
    console: str | None = None
    """The address of its console."""
    found_by: tuple[str, ...] = ()
    """`udp`, `mdns` or both."""

    @property
    def url(self) -> str:
        """The first address: this machine before others, TCP and TLS before other transports."""
        return self.urls[0]


def merged(found: Iterable[FoundBroker]) -> list[FoundBroker]:
    """Each broker once, by its identity, sorted by name; of two answers the first one counts."""
    brokers: dict[str, FoundBroker] = {}
    for one in found:
        key = one.id or one.urls[0]
        brokers[key] = _both(brokers[key], one) if key in brokers else one
    ordered = (replace(one, urls=_near_first(one.urls)) for one in brokers.values())
    return sorted(ordered, key=lambda one: (one.name, one.id or "", one.urls))


def _both(first: FoundBroker, again: FoundBroker) -> FoundBroker:
    return replace(
        first,
        urls=tuple(dict.fromkeys(first.urls + again.urls)),
        version=first.version or again.version,
        uptime_s=again.uptime_s if first.uptime_s is None else first.uptime_s,
        table=again.table if first.table is None else first.table,
        console=first.console or again.console,
        found_by=tuple(sorted({*first.found_by, *again.found_by})),
    )


def _near_first(urls: tuple[str, ...]) -> tuple[str, ...]:
    """TCP before WebSocket before Unix sockets; loopback addresses first among each."""
    return tuple(sorted(urls, key=lambda url: (_kind(url), not _is_near(url))))


def _kind(url: str) -> int:
    return next((order for order, scheme in enumerate(LATER, 1) if url.startswith(scheme)), 0)


def _is_near(url: str) -> bool:
    host = url.partition("://")[2].partition("/")[0].rpartition(":")[0]
    return is_loopback(host.strip("[]"))
