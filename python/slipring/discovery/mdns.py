"""Brokers on the local network by mDNS and DNS-SD (RFC 6762, RFC 6763): told, and looked for."""

import asyncio
import ipaddress
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias

from slipring.discovery.announcement import TEXT_CHARACTERS_MAX, Announcement
from slipring.discovery.found import FoundBroker
from slipring.discovery.place import WEBSOCKET, WEBSOCKET_PATH, Place, is_path

if TYPE_CHECKING:
    from zeroconf import InterfaceChoice, ServiceInfo, ServiceStateChange, Zeroconf
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    Interfaces: TypeAlias = Sequence[str] | InterfaceChoice

TYPES = {
    "mqtt": "_mqtt._tcp.local.",
    "mqtts": "_secure-mqtt._tcp.local.",
    "ws": "_mqtt-ws._tcp.local.",
    "wss": "_mqtt-wss._tcp.local.",
}
"""Types of services, by what is spoken there: registered ones, and what others use too."""
SUBTYPE = "_slipring._sub."
"""Before a type: only brokers of this kind."""
LABEL_BYTES_MAX = 63
TEXT_BYTES_MAX = 200
FOUND_MAX = 1_000
"""Services that are looked at in one search."""


def services(told: Announcement, addresses: Iterable[str]) -> "list[ServiceInfo]":
    """What is told: every listener that others can reach, with what it speaks."""
    from zeroconf import ServiceInfo

    everywhere = list(addresses)
    return [
        ServiceInfo(
            TYPES[place.scheme],
            f"{_label(told, place)}.{TYPES[place.scheme]}",
            port=place.port,
            parsed_addresses=_addresses(place, everywhere),
            properties=_properties(told, place),
            server=f"slipring-{told.id[:12]}-{place.name}.local.",
        )
        for place in told.for_others().places
        if place.scheme in TYPES
    ]


def _addresses(place: Place, everywhere: list[str]) -> list[str]:
    if place.host is None or place.is_everywhere:
        return [address for address in everywhere if place.takes(address)]
    return [place.host]


def _properties(told: Announcement, place: Place) -> dict[str, str]:
    facts = {
        "txtvers": "1",
        "id": told.id,
        "name": told.name,
        "version": told.version,
        "table": "" if told.table is None else str(told.table),
        "console": _console(told.for_others().console),
        "path": place.path if place.scheme in WEBSOCKET else "",
    }
    return {key: _cut(text, TEXT_BYTES_MAX) for key, text in facts.items() if text}


def _console(place: Place | None) -> str:
    """A URL, or only its port where the host is the broker's."""
    if place is None:
        return ""
    return f":{place.port}" if place.is_everywhere else place.url("")


def _label(told: Announcement, place: Place) -> str:
    """A name that no other service has, in one label: a dot would begin another one."""
    printable = "".join(letter if letter.isprintable() else " " for letter in told.name)
    mark = f" [{told.id[:6]} {place.name}]"
    return _cut(printable.replace(".", "-"), LABEL_BYTES_MAX - len(mark)) + mark


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")


class Advertisement:
    """What is told for as long as it is open."""

    def __init__(self, infos: "Sequence[ServiceInfo]", on: "Interfaces | None" = None) -> None:
        """Tell of these services on these interfaces; OSError where there is no multicast."""
        # A responder has one type for a name, so the subtype is told by a second one.
        self._told = list(infos), [_as_subtype(info) for info in infos]
        self._responders = open_zeroconf(on), open_zeroconf(on)

    async def __aenter__(self) -> Self:
        for responder, infos in zip(self._responders, self._told, strict=True):
            for info in infos:
                # The names are nobody else's, so nobody is asked whether they are free.
                await responder.async_register_service(info, cooperating_responders=True)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(responder.async_close() for responder in self._responders))


def _as_subtype(info: "ServiceInfo") -> "ServiceInfo":
    from zeroconf import IPVersion, ServiceInfo

    return ServiceInfo(
        SUBTYPE + info.type,
        info.name,
        port=info.port,
        addresses=info.addresses_by_version(IPVersion.All),
        properties=info.properties,
        server=info.server,
    )


class Search:
    """Services that are heard of, and what they tell when they are asked."""

    def __init__(self, timeout_s: float) -> None:
        self.found: dict[str, FoundBroker] = {}
        self._timeout_ms = timeout_s * 1_000
        self._asked: dict[str, asyncio.Task[None]] = {}

    def heard(
        self,
        zeroconf: "Zeroconf",
        service_type: str,
        name: str,
        state_change: "ServiceStateChange",
    ) -> None:
        """Take news of a service; zeroconf gives them by these names."""
        if name not in self._asked and len(self._asked) < FOUND_MAX:
            ask = self._ask(zeroconf, service_type, name)
            self._asked[name] = asyncio.get_running_loop().create_task(ask)

    async def _ask(self, zeroconf: "Zeroconf", service_type: str, name: str) -> None:
        from zeroconf.asyncio import AsyncServiceInfo

        info = AsyncServiceInfo(service_type, name)
        if await info.async_request(zeroconf, self._timeout_ms) and (broker := read(info)):
            self.found[name] = broker

    async def end(self) -> None:
        """What has not told yet will not be heard."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)


async def browse(timeout_s: float, on: "Interfaces | None" = None) -> list[FoundBroker]:
    """Everyone who is told of within a time; nobody where there is no multicast."""
    from zeroconf import DNSQuestionType
    from zeroconf.asyncio import AsyncServiceBrowser

    try:
        looking = open_zeroconf(on)
    except OSError:
        return []
    search = Search(timeout_s)
    browser = AsyncServiceBrowser(
        looking.zeroconf,
        list(TYPES.values()),
        handlers=[search.heard],
        # An answer to one alone may reach another program of this machine instead.
        question_type=DNSQuestionType.QM,
    )
    try:
        await asyncio.sleep(timeout_s)
    finally:
        await browser.async_cancel()
        await search.end()
        await looking.async_close()
    return sorted(search.found.values(), key=lambda one: one.urls)  # mqtt:// before mqtts://


def read(info: "ServiceInfo | AsyncServiceInfo") -> FoundBroker | None:
    """What a service tells, if there is a way to it."""
    from zeroconf import IPVersion

    scheme = next((scheme for scheme, kind in TYPES.items() if kind == info.type), None)
    hosts = [str(one) for one in info.ip_addresses_by_version(IPVersion.All) if _is_usable(one)]
    if scheme is None or not info.port or not hosts:
        return None
    texts = {key: text for key, text in info.decoded_properties.items() if text}
    table, path = texts.get("table", ""), texts.get("path", "")
    path = path if is_path(path) else WEBSOCKET_PATH
    return FoundBroker(
        name=(texts.get("name") or info.get_name())[:TEXT_CHARACTERS_MAX],
        urls=tuple(Place("", scheme, host, info.port, path).url(host) for host in hosts),
        id=texts.get("id"),
        version=texts.get("version"),
        table=int(table) if table.isdecimal() and len(table) <= 10 else None,
        console=_read_console(texts.get("console", ""), hosts[0]),
        found_by=("mdns",),
    )


def _read_console(text: str, host: str) -> str | None:
    if text.startswith(":") and text[1:].isdecimal():
        return Place("console", "http", host, int(text[1:])).url(host)
    return text if text.startswith("http://") else None


def _is_usable(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """A link-local address means nothing without its interface."""
    return not address.is_link_local


def open_zeroconf(on: "Interfaces | None") -> "AsyncZeroconf":
    """Take part in mDNS on these interfaces, or on all."""
    from zeroconf import InterfaceChoice
    from zeroconf.asyncio import AsyncZeroconf

    return AsyncZeroconf(interfaces=InterfaceChoice.All if on is None else on)
