"""Losses: stored messages of this client that the broker had to drop."""

import json
from dataclasses import dataclass
from typing import Any, Self

from slipring.client.connection import ClientConnection
from slipring.client.subscription import ContentReader, Subscription
from slipring.model import Message

TOPIC = "$slipring/dropped"


@dataclass(frozen=True, slots=True)
class Loss:
    """Messages that this client published, and that the broker stored and then dropped."""

    messages: int
    """How many; a message that was stored for several subscribers counts for each."""
    bytes: int
    """Their bytes: topics, properties and payloads."""
    limit: str
    """The limit that was reached last, such as `memory_bytes` or `queue_messages`."""
    topics: tuple[str, ...]
    """Some of their topics, four at most."""
    since_ms: float
    """When the broker began to count them, in milliseconds since 1970."""

    @classmethod
    def of(cls, message: Message) -> Self:
        """Reads what the broker tells; what is missing is 0 or empty."""
        told = _json(message.payload)
        topics = told.get("topics")
        return cls(
            int(told.get("messages") or 0),
            int(told.get("bytes") or 0),
            str(told.get("limit") or ""),
            tuple(map(str, topics)) if isinstance(topics, list) else (),
            float(told.get("since_ms") or 0),
        )


class Losses(ContentReader[Loss]):
    """What `Bus.losses` returns: enter it, then iterate over it."""

    def __init__(self, connection: ClientConnection) -> None:
        super().__init__(Subscription(connection, (TOPIC,), qos=0))

    def _content(self, message: Message) -> Loss:
        return Loss.of(message)


def _json(payload: bytes) -> dict[str, Any]:
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
