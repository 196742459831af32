"""The message that the broker publishes when a client goes without closing its connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from slipring.client.payload import Value, encode

SECONDS_MAX = 0xFFFF_FFFF

PropertiesRow: TypeAlias = tuple[
    list[tuple[str, str]], str | None, str | None, bytes | None, int | None
]
"""What the native client takes: pairs, content type, response topic, correlation data, expiry."""


@dataclass(frozen=True, slots=True)
class Will:
    """For `slipring.connect(..., will=slipring.Will("gripen/39-7/state", "gone"))`.

    `Bus.close` withdraws it; a crash, a lost network or a broker that ends the connection does not.
    What follows `delay_s` is as in `Bus.publish`.
    """

    topic: str
    value: Value = b""
    qos: int = 0
    retain: bool = False
    """Whether the broker keeps it for later subscribers."""
    delay_s: int = 0
    """How long the broker waits for the client to come back, at most until its session ends."""
    properties: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    content_type: str | None = field(default=None, kw_only=True)
    response_topic: str | None = field(default=None, kw_only=True)
    correlation_data: bytes | None = field(default=None, kw_only=True)
    expiry_s: int | None = field(default=None, kw_only=True)
    """Seconds after its publication at which the broker drops it."""

    def __post_init__(self) -> None:
        if self.qos not in (0, 1, 2):
            raise ValueError(f"QoS is 0, 1 or 2, not {self.qos}")
        for name, seconds in (("delay_s", self.delay_s), ("expiry_s", self.expiry_s or 0)):
            if not 0 <= seconds <= SECONDS_MAX:
                raise ValueError(f"{name} is whole seconds from 0 to {SECONDS_MAX}, not {seconds}")

    def row(self) -> tuple[str, bytes, int, bool, int, PropertiesRow]:
        """What the native client takes."""
        details = (self.content_type, self.response_topic, self.correlation_data, self.expiry_s)
        given = (list(self.properties.items()), *details)
        return self.topic, encode(self.value), self.qos, self.retain, self.delay_s, given
