"""Brokers on the local network by mDNS and DNS-SD (RFC 6762, RFC 6763): advertise and browse."""

import asyncio
import ipaddress
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias

from slipring.discovery.announcement import TEXT_CHARACTERS_MAX, Announcement
from slipring.discovery.endpoint import WEBSOCKET, WEBSOCKET_PATH, Endpoint, is_path
from slipring.discovery.found import FoundBroker

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
"""The service type of each scheme: registered ones, and those in common use."""
SUBTYPE = "_slipring._sub."
"""In front of a type: Slipring's brokers only."""
LABEL_BYTES_MAX = 63
TEXT_BYTES_MAX = 200
FOUND_MAX = 1_000
"""Services that one search asks for details."""


def services(announcement: Announcement, addresses: Iterable[str]) -> "list[ServiceInfo]":
    """What is advertised: every listener that other machines can reach."""
    from zeroconf import ServiceInfo

    everywhere = list(addresses)
    return [
        ServiceInfo(
            TYPES[endpoint.scheme],
            f"{_label(announcement, endpoint)}.{TYPES[endpoint.scheme]}",
            port=endpoint.port,
            parsed_addresses=_addresses(endpoint, everywhere),
            properties=_properties(announcement, endpoint),
            server=f"slipring-{announcement.id[:12]}-{endpoint.name}.local.",
        )
        for endpoint in announcement.for_others().endpoints
        if endpoint.scheme in TYPES
    ]


def _addresses(endpoint: Endpoint, everywhere: list[str]) -> list[str]:
    if endpoint.host is None or endpoint.is_everywhere:
        return [address for address in everywhere if endpoint.takes(address)]
    return [endpoint.host]


def _properties(announcement: Announcement, endpoint: Endpoint) -> dict[str, str]:
    facts = {
        "txtvers": "1",
        "id": announcement.id,
        "name": announcement.name,
        "version": announcement.version,
        "table": "" if announcement.table is None else str(announcement.table),
        "console": _console(announcement.for_others().console),
        "path": endpoint.path if endpoint.scheme in WEBSOCKET else "",
    }
    return {key: _cut(text, TEXT_BYTES_MAX) for key, text in facts.items() if text}


def _console(endpoint: Endpoint | None) -> str:
    """The URL of the console; only `:PORT` if every address of the broker leads to it."""
    if endpoint is None:
        return ""
    return f":{endpoint.port}" if endpoint.is_everywhere else endpoint.url("")


def _label(announcement: Announcement, endpoint: Endpoint) -> str:
    """A unique name in one DNS label; without a dot, which would begin another label."""
    printable = "".join(letter if letter.isprintable() else " " for letter in announcement.name)
    mark = f" [{announcement.id[:6]} {endpoint.name}]"
    return _cut(printable.replace(".", "-"), LABEL_BYTES_MAX - len(mark)) + mark


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")


class Advertisement:
    """Advertises services for as long as it is open."""

    def __init__(self, infos: "Sequence[ServiceInfo]", on: "Interfaces | None" = None) -> None:
        """Advertise on these interfaces; OSError if there is no multicast."""
        # A responder has one type for a name, so a second one advertises the subtype.
        self._told = list(infos), [_as_subtype(info) for info in infos]
        self._responders = open_zeroconf(on), open_zeroconf(on)

    async def __aenter__(self) -> Self:
        for responder, infos in zip(self._responders, self._told, strict=True):
            for info in infos:
                # The names are unique, so no probe has to ask whether they are free.
                await responder.async_register_service(info, cooperating_responders=True)
        return self

    async def __aexit__(self, *_: object) -> None:
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
    """Asks each service that is heard of for its details."""

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
        """Note that a service exists; zeroconf calls this with these names."""
        if name not in self._asked and len(self._asked) < FOUND_MAX:
            ask = self._ask(zeroconf, service_type, name)
            self._asked[name] = asyncio.get_running_loop().create_task(ask)

    async def _ask(self, zeroconf: "Zeroconf", service_type: str, name: str) -> None:
        from zeroconf.asyncio import AsyncServiceInfo

        info = AsyncServiceInfo(service_type, name)
        if await info.async_request(zeroconf, self._timeout_ms) and (broker := read(info)):
            self.found[name] = broker

    async def end(self) -> None:
        """Cancel the questions without an answer."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)


async def browse(timeout_s: float, on: "Interfaces | None" = None) -> list[FoundBroker]:
    """The brokers that are advertised within a time; none if there is no multicast."""
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
        # A unicast answer may reach another program of this machine instead.
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
    """The broker that a service describes; None if it cannot be reached."""
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
        urls=tuple(Endpoint("", scheme, host, info.port, path).url(host) for host in hosts),
        id=texts.get("id"),
        version=texts.get("version"),
        table=int(table) if table.isdecimal() and len(table) <= 10 else None,
        console=_read_console(texts.get("console", ""), hosts[0]),
        found_by=("mdns",),
    )


def _read_console(text: str, host: str) -> str | None:
    if text.startswith(":") and text[1:].isdecimal():
        return Endpoint("console", "http", host, int(text[1:])).url(host)
    return text if text.startswith("http://") else None


def _is_usable(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether it is not link-local: such an address means nothing without its interface."""
    return not address.is_link_local


def open_zeroconf(on: "Interfaces | None") -> "AsyncZeroconf":
    """Open mDNS on these interfaces, or on all."""
    from zeroconf import InterfaceChoice
    from zeroconf.asyncio import AsyncZeroconf

    return AsyncZeroconf(interfaces=InterfaceChoice.All if on is None else on)
