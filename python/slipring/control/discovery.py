"""Lets a broker be found, by answers over UDP and by mDNS, and has the configuration for that.

A failure here never stops the broker: it is logged.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

from pydantic import Field

from slipring.control.listener import PREFIXES, UNIX, ListenerSection
from slipring.control.section import Section, between
from slipring.discovery.announcement import Announcement
from slipring.discovery.answering import EVERYWHERE, HERE, Responder, listen
from slipring.discovery.endpoint import Endpoint
from slipring.discovery.question import PORT

LOOK_AGAIN_S = 30.0
"""How often the announced name and addresses are compared with the current ones."""

log: logging.Logger = logging.getLogger("slipring.discovery")


class DiscoverySection(Section):
    """How the broker is found: see docs/discovery.md."""

    udp: bool = Field(
        True,
        description="Answer questions for brokers over UDP; those of other machines only if a "
        "listener is open to them.",
    )
    mdns: bool = Field(
        True,
        description="Announce by mDNS the listeners that other machines can reach, if there are "
        "any.",
    )
    port: Annotated[int, between(0, 65_535)] = Field(
        PORT, description="UDP port for questions; 0 picks a free one."
    )


def endpoints(
    listeners: Sequence[ListenerSection], addresses: Iterable[str]
) -> tuple[Endpoint, ...]:
    """Where clients connect, as it is announced."""
    return tuple(
        Endpoint.at(one.name, _scheme(one), address)
        for one, address in zip(listeners, addresses, strict=True)
        if not address.startswith(PREFIXES)
        or (address.startswith(UNIX) and _scheme(one) == "mqtt")  # no URL leads to the others
    )


def _scheme(listener: ListenerSection) -> str:
    if listener.websocket:
        return "wss" if listener.certificate else "ws"
    return "mqtts" if listener.certificate else "mqtt"


class Discovery:
    """Announces a broker while it is open, over UDP and by mDNS."""

    def __init__(
        self,
        section: DiscoverySection,
        tell: Callable[[], Announcement],
        interfaces: Sequence[str] | None = None,
    ) -> None:
        """`tell` makes the announcement; mDNS uses all interfaces if none are named."""
        self._section = section
        self._tell = tell
        self._interfaces = interfaces
        self._answers = Responder(tell)
        self._sockets: list[asyncio.DatagramTransport] = []
        self._telling: asyncio.Task[None] | None = None

    @property
    def counts(self) -> Counter[str]:
        """Datagrams received, by what became of them."""
        return self._answers.counts

    @property
    def port(self) -> int | None:
        """The UDP port on which questions are answered."""
        return int(self._sockets[0].get_extra_info("sockname")[1]) if self._sockets else None

    async def open(self) -> None:
        """Start to answer and announce."""
        public = bool(self._tell().for_others().endpoints)
        if self._section.udp:
            await self._listen(public=public)
        if self._section.mdns and public:
            self._telling = asyncio.create_task(self._advertise())

    async def close(self) -> None:
        """Stop, and withdraw the mDNS announcement."""
        for one in self._sockets:
            one.close()
        if self._telling:
            self._telling.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._telling

    async def _listen(self, *, public: bool) -> None:
        hosts = EVERYWHERE if public else HERE
        try:
            self._sockets = await listen(self._answers, hosts, self._section.port)
        except OSError as error:
            port = self._section.port
            log.warning("discovery: no answers on UDP port %d: %s", port, error.strerror)
        else:
            log.info("discovery: answers on UDP port %d of %s", self.port, hosts[0])

    async def _advertise(self) -> None:
        """Announce by mDNS, and again when the machine's addresses or the broker's name change."""
        from slipring.discovery.mdns import Advertisement, services
        from slipring.discovery.network import addresses

        while True:
            here, told = addresses(), self._tell()
            try:
                async with Advertisement(services(told, here), self._interfaces):
                    log.info("discovery: announced by mDNS as '%s'", told.name)
                    # No event says that an address has changed, so compare.
                    while told.name == self._tell().name and here == addresses():  # noqa: ASYNC110
                        await asyncio.sleep(LOOK_AGAIN_S)
            except OSError as error:
                log.warning("discovery: not announced by mDNS: %s", error.strerror or error)
                await asyncio.sleep(LOOK_AGAIN_S)
