"""Notices: what a node says to all nodes of a role, and the broker to all nodes."""

import json
from dataclasses import dataclass
from typing import Any, Self

from slipring.client.connection import ClientConnection
from slipring.client.subscription import ContentReader, Subscription
from slipring.model import Message

TOPIC = "$slipring/notices"
ROLES = ("all", "publishers", "subscribers", "brokers")
NODE = "node/"


@dataclass(frozen=True, slots=True)
class Notice:
    """What another node, or the broker, says."""

    to: str
    """Whom it is for: a role, or `node/` and this client's id."""
    sender: str
    """The client id of the sender; empty if it is the broker itself."""
    payload: bytes
    message: Message
    """The message that carried it, with all its properties."""

    @classmethod
    def of(cls, message: Message) -> Self:
        """Reads the properties that the broker has added."""
        told = dict(message.properties)
        return cls(told.get("to", ""), told.get("from", ""), message.payload, message)

    @property
    def text(self) -> str:
        """The payload as UTF-8 text; raises UnicodeDecodeError if it is not."""
        return self.payload.decode()

    @property
    def event(self) -> str | None:
        """What happened at the broker: `shutdown`; None in notices of other nodes."""
        told = _json(self.payload) if not self.sender else None
        event = told.get("event") if isinstance(told, dict) else None
        return event if isinstance(event, str) else None


class Notices(ContentReader[Notice]):
    """What `Bus.notices` returns: enter it, then iterate over it."""

    def __init__(self, connection: ClientConnection) -> None:
        super().__init__(Subscription(connection, (TOPIC,), qos=1))

    def _content(self, message: Message) -> Notice:
        return Notice.of(message)


def topic_of(role: str) -> str:
    """The topic of notices to a role; raises ValueError if there is no such role."""
    if role not in ROLES and not (role.startswith(NODE) and len(role) > len(NODE)):
        raise ValueError(f"{role!r} is not a role: {', '.join(ROLES)} or {NODE}CLIENT-ID")
    return f"$slipring/to/{role}"


def _json(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except (ValueError, RecursionError):
        return None
