"""Slipring: telemetry from machines that move to people who stand still."""

from typing import TYPE_CHECKING

from slipring.client import Bus, Clock, Loss, Notice, Publisher, Subscription, Tls, Will, connect
from slipring.client.chunks import Chunks
from slipring.client.parts import Parts
from slipring.client.service_request import Request, ThreadRequest
from slipring.client.serving import Service
from slipring.client.streams import StreamWriter
from slipring.discovery import FoundBroker, discover
from slipring.errors import (
    ConnectError,
    ConnectionLost,
    DeclareRefused,
    FrameError,
    InvalidTopic,
    NoAnswer,
    PublishRefused,
    Refused,
    RequestCancelled,
    RequestDropped,
    RequestEnded,
    RequestFailed,
    RequestLost,
    RequestNotDelivered,
    RequestRefused,
    RequestTimedOut,
    SecretError,
    ServiceFailed,
    SlipringError,
)
from slipring.model import (
    AlarmLimits,
    Answer,
    Chunk,
    ConnectionChange,
    Entry,
    Hops,
    Kind,
    Message,
    Parameter,
    Quality,
    Reason,
    Refusal,
    Sample,
    Status,
    Stream,
    TableChange,
)
from slipring.native import version as __version__

if TYPE_CHECKING:
    from slipring.client.declared import Declared
    from slipring.client.selection import Selection
    from slipring.frames import Frame, Newest, Samples, Table

WITH_NUMPY = {
    "Declared": "slipring.client.declared",
    "Frame": "slipring.frames",
    "Newest": "slipring.frames",
    "Samples": "slipring.frames",
    "Selection": "slipring.client.selection",
    "Table": "slipring.frames",
}
"""Where the names are that need numpy; it is imported with the first of them."""

__all__ = [
    "AlarmLimits",
    "Answer",
    "Bus",
    "Chunk",
    "Chunks",
    "Clock",
    "ConnectError",
    "ConnectionChange",
    "ConnectionLost",
    "DeclareRefused",
    "Declared",
    "Entry",
    "FoundBroker",
    "Frame",
    "FrameError",
    "Hops",
    "InvalidTopic",
    "Kind",
    "Loss",
    "Message",
    "Newest",
    "NoAnswer",
    "Notice",
    "Parameter",
    "Parts",
    "PublishRefused",
    "Publisher",
    "Quality",
    "Reason",
    "Refusal",
    "Refused",
    "Request",
    "RequestCancelled",
    "RequestDropped",
    "RequestEnded",
    "RequestFailed",
    "RequestLost",
    "RequestNotDelivered",
    "RequestRefused",
    "RequestTimedOut",
    "Sample",
    "Samples",
    "SecretError",
    "Selection",
    "Service",
    "ServiceFailed",
    "SlipringError",
    "Status",
    "Stream",
    "StreamWriter",
    "Subscription",
    "Table",
    "TableChange",
    "ThreadRequest",
    "Tls",
    "Will",
    "__version__",
    "connect",
    "discover",
]


def __getattr__(name: str) -> object:
    if name not in WITH_NUMPY:
        raise AttributeError(f"module 'slipring' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(WITH_NUMPY[name]), name)
    globals()[name] = found
    return found
