"""Streams as the engine tells them, and how fast each one comes, over the last second or so."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

STREAMS_SHOWN = 100
"""The streams that are looked at: the first by index."""


@dataclass(frozen=True, slots=True)
class StreamRate:
    """What is known of one stream: now, and per second."""

    index: int
    name: str
    media: str
    live: bool
    publishers: int
    chunks: int
    """Since the broker started."""
    kept_chunks: int
    kept_bytes: int
    buffer_bytes: int
    received_bytes: int
    received_ns: int | None
    """When the last chunk was received; None before the first one."""
    chunks_s: float
    bytes_s: float


class StreamRates:
    """Takes readings of the engine's streams, and keeps the last one."""

    def __init__(self) -> None:
        """Start with nothing known."""
        self.at_s: float | None = None
        self.all: list[StreamRate] = []

    def sample(self, now_s: float, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take one reading; `now_s` is monotonic. A stream that is new has begun at nothing."""
        earlier = {rate.index: rate for rate in self.all}
        passed = None if self.at_s is None else now_s - self.at_s
        self.all = [_rate(row, earlier.get(row["index"]), passed) for row in rows]
        self.at_s = now_s


def _rate(row: Mapping[str, Any], earlier: StreamRate | None, passed_s: float | None) -> StreamRate:
    chunks, received_bytes = (earlier.chunks, earlier.received_bytes) if earlier else (0, 0)
    return StreamRate(
        index=row["index"],
        name=row["name"],
        media=row["media"],
        live=row["live"],
        publishers=row["publishers"],
        chunks=row["next"],
        kept_chunks=row["next"] - row["first"],
        kept_bytes=row["bytes"],
        buffer_bytes=row["buffer_bytes"],
        received_bytes=row["received_bytes"],
        received_ns=row["received_ns"],
        chunks_s=(row["next"] - chunks) / passed_s if passed_s else 0.0,
        bytes_s=(row["received_bytes"] - received_bytes) / passed_s if passed_s else 0.0,
    )
