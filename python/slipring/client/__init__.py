"""Publish and subscribe from Python: asyncio in front, the Rust client behind."""

from slipring.client.bus import Bus
from slipring.client.changes import Changes
from slipring.client.clock import Clock
from slipring.client.connecting import connect
from slipring.client.losses import Loss, Losses
from slipring.client.notices import Notice, Notices
from slipring.client.publisher import Publisher
from slipring.client.subscription import Subscription
from slipring.client.tls import Tls
from slipring.client.will import Will

__all__ = [
    "Bus",
    "Changes",
    "Clock",
    "Loss",
    "Losses",
    "Notice",
    "Notices",
    "Publisher",
    "Subscription",
    "Tls",
    "Will",
    "connect",
]
