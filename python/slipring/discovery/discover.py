"""`slipring.discover`: every way of looking at once. What it needs is imported when it looks."""

import asyncio
from collections.abc import Sequence

from slipring.discovery.found import FoundBroker, merged
from slipring.discovery.question import PORT

TIMEOUT_S = 2.0


async def discover(
    *hosts: str, timeout_s: float = TIMEOUT_S, port: int = PORT, mdns: bool = True
) -> list[FoundBroker]:
    """The brokers that answer within a time: of this machine, of its networks, and of `hosts`.

    The question goes by UDP to `port`, as a broadcast and to each host; with `mdns` what brokers
    tell by mDNS counts too. Each broker is there once. Whoever answers has proved nothing. Raises
    OSError for a host that is not known.
    """
    from slipring.discovery.asking import ask

    ways = [ask(hosts, port, timeout_s)]
    if mdns:
        from slipring.discovery.mdns import browse

        ways.append(browse(timeout_s))
    found: Sequence[list[FoundBroker]] = await asyncio.gather(*ways)
    return merged(one for way in found for one in way)
