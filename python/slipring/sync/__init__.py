"""The client without asyncio: every call runs on one event loop, in a thread of its own.

Never decides anything itself. `slipring.client` documents the calls.
"""

from typing import Any

from slipring.client import bus as client_bus
from slipring.client import connecting
from slipring.discovery import FoundBroker
from slipring.discovery import discover as ask_for_brokers
from slipring.sync.bus import Bus
from slipring.sync.declared import Declared
from slipring.sync.readers import Chunks, Losses, Notices, Selection, Subscription
from slipring.sync.waiting import like, run
from slipring.sync.writers import Clock, Publisher, Service, StreamWriter

__all__ = [
    "Bus",
    "Chunks",
    "Clock",
    "Declared",
    "Losses",
    "Notices",
    "Publisher",
    "Selection",
    "Service",
    "StreamWriter",
    "Subscription",
    "connect",
    "discover",
]


@like(connecting.connect)
def connect(*args: Any, **options: Any) -> Bus:
    """Opens a connection, with the options of `slipring.connect`; for `with`, or to be closed."""

    async def opened() -> client_bus.Bus:
        return await connecting.connect(*args, **options)

    return Bus(run(opened()))


@like(ask_for_brokers)
def discover(*hosts: Any, **options: Any) -> list[FoundBroker]:
    """The brokers that answer, with the options of `slipring.discover`."""
    return run(ask_for_brokers(*hosts, **options))
