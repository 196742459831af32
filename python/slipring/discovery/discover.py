"""`slipring.discover`: asks over UDP and browses mDNS at once. Imports both when called."""

import asyncio
from collections.abc import Sequence

from slipring.discovery.found import FoundBroker, merged
from slipring.discovery.question import PORT

TIMEOUT_S = 2.0


async def discover(
    *hosts: str, timeout_s: float = TIMEOUT_S, port: int = PORT, mdns: bool = True
) -> list[FoundBroker]:
    """The brokers that answer within a time: on this machine, on its networks, and on `hosts`.

    The question goes by UDP to `port`, as a broadcast and to each host; with `mdns`, brokers that
    advertise themselves by mDNS are found too. Each broker is listed once. An answer proves nothing
    about its sender. Raises OSError for an unknown host.
    """
    from slipring.discovery.asking import ask

    ways = [ask(hosts, port, timeout_s)]
    if mdns:
        from slipring.discovery.mdns import browse

        ways.append(browse(timeout_s))
    found: Sequence[list[FoundBroker]] = await asyncio.gather(*ways)
    return merged(one for way in found for one in way)
