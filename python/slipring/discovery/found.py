"""Brokers that were found, and the same broker found twice. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from slipring.discovery.place import is_loopback

LATER = ("ws", "unix:")
"""What comes after MQTT over TCP and TLS: more work for the same, or this machine's alone."""


@dataclass(frozen=True, slots=True)
class FoundBroker:
    """A broker that answered; `slipring.connect(broker.url)` connects to it."""

    name: str
    urls: tuple[str, ...]
    """Where it listens, at least one. `slipring.connect` takes each of them."""
    id: str | None = None
    """Tells brokers apart; None for a broker that is not Slipring's."""
    version: str | None = None
    uptime_s: float | None = None
    table: int | None = None
    """The id of its table of current values."""
    console: str | None = None
    """The address of its page for people."""
    found_by: tuple[str, ...] = ()
    """`udp`, `mdns` or both."""

    @property
    def url(self) -> str:
        """The first of them: on this machine before on others, TCP and TLS before the others."""
        return self.urls[0]


def merged(found: Iterable[FoundBroker]) -> list[FoundBroker]:
    """Each broker once, by its id, in the order of names; what came first counts."""
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
    """Addresses of this machine before the same machine's others; TCP, WebSocket, Unix sockets."""
    return tuple(sorted(urls, key=lambda url: (_kind(url), not _is_near(url))))


def _kind(url: str) -> int:
    return next((place for place, scheme in enumerate(LATER, 1) if url.startswith(scheme)), 0)


def _is_near(url: str) -> bool:
    host = url.partition("://")[2].partition("/")[0].rpartition(":")[0]
    return is_loopback(host.strip("[]"))
