"""The message that the broker publishes when a client goes without closing its connection."""

from dataclasses import dataclass

from slipring.client.payload import Value, encode


@dataclass(frozen=True, slots=True)
class Will:
    """For `slipring.connect(..., will=slipring.Will("gripen/39-7/state", "gone"))`.

    `Bus.close` withdraws it; a crash, a lost network or a broker that ends the connection does not.
    """

    topic: str
    value: Value = b""
    qos: int = 0
    retain: bool = False
    """Whether the broker keeps it for later subscribers."""
    delay_s: int = 0
    """How long the broker waits for the client to come back, at most until its session ends."""

    def row(self) -> tuple[str, bytes, int, bool, int]:
        """What the native client takes."""
        return self.topic, encode(self.value), self.qos, self.retain, self.delay_s
