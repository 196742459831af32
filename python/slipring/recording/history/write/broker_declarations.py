"""What recorded messages are about, declared at the broker that they are replayed to."""

from typing import Any

from slipring.client import Bus
from slipring.errors import DeclareRefused, RecordingError
from slipring.frames.arrays import Indices
from slipring.model import Parameter


class BrokerDeclarations:
    """Declares over one connection; the client declares again by itself after a reconnection."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def declare(self, parameters: dict[str, Parameter]) -> tuple[int, Indices]:
        """Declare parameters by topic; the table's identity, and their indices there."""
        try:
            declared = await self._bus.declare("", parameters)
        except DeclareRefused as refused:
            raise RecordingError(f"cannot declare the recorded parameters: {refused}") from None
        return declared.table, declared.indices

    async def declare_stream(self, topic: str, definition: dict[str, Any]) -> None:
        """Declare a stream."""
        try:
            await self._bus.declare_stream(topic, **definition)
        except DeclareRefused as refused:
            raise RecordingError(f"cannot declare the recorded stream {topic}: {refused}") from None
