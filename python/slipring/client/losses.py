"""Losses: stored messages of this client that the broker had to drop."""

import json
import math
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
        """Reads what the broker tells; what is missing or makes no sense is 0 or empty."""
        told = _json(message.payload)
        topics = told.get("topics")
        return cls(
            int(_number(told.get("messages"))),
            int(_number(told.get("bytes"))),
            str(told.get("limit") or ""),
            tuple(map(str, topics)) if isinstance(topics, list) else (),
            _number(told.get("since_ms")),
        )


class Losses(ContentReader[Loss]):
    """What `Bus.losses` returns: enter it, then iterate over it."""

    def __init__(self, connection: ClientConnection) -> None:
        super().__init__(Subscription(connection, (TOPIC,), qos=0))

    def _content(self, message: Message) -> Loss:
        return Loss.of(message)


def _number(told: object) -> float:
    """0 for what is no number: other brokers let any client publish on this topic."""
    return told if isinstance(told, int | float) and math.isfinite(told) else 0


def _json(payload: bytes) -> dict[str, Any]:
    try:
        told = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
