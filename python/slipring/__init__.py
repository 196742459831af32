"""Slipring: telemetry from machines that move to people who stand still."""

from slipring.client import Bus, Subscription, Tls, connect
from slipring.errors import (
    ConnectError,
    ConnectionLost,
    InvalidTopic,
    Refused,
    SlipringError,
)
from slipring.model import Message
from slipring.native import version as __version__

__all__ = [
    "Bus",
    "ConnectError",
    "ConnectionLost",
    "InvalidTopic",
    "Message",
    "Refused",
    "SlipringError",
    "Subscription",
    "Tls",
    "__version__",
    "connect",
]
