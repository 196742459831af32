"""Slipring: telemetry from machines that move to people who stand still."""

from slipring.client import Bus, Clock, Notice, Publisher, Subscription, Tls, connect
from slipring.discovery import FoundBroker, discover
from slipring.errors import (
    ConnectError,
    ConnectionLost,
    InvalidTopic,
    NoAnswer,
    PublishRefused,
    Refused,
    SlipringError,
)
from slipring.model import ConnectionChange, Message
from slipring.native import version as __version__

__all__ = [
    "Bus",
    "Clock",
    "ConnectError",
    "ConnectionChange",
    "ConnectionLost",
    "FoundBroker",
    "InvalidTopic",
    "Message",
    "NoAnswer",
    "Notice",
    "PublishRefused",
    "Publisher",
    "Refused",
    "SlipringError",
    "Subscription",
    "Tls",
    "__version__",
    "connect",
    "discover",
]
