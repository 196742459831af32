"""The streams, and their rates over about the last second."""

from collections.abc import Iterable, Mapping
from typing import Any

from slipring.status.message import StreamRate

STREAMS_SHOWN = 100
"""How many streams are shown: the first by index."""


class StreamRates:
    """Turns readings of the engine's streams into rates."""

    def __init__(self) -> None:
        """Start empty."""
        self.at_s: float | None = None
        self.all: list[StreamRate] = []

    def sample(self, now_s: float, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take one reading; `now_s` is monotonic. A new stream started at 0."""
        earlier = {rate["index"]: rate for rate in self.all}
        passed = None if self.at_s is None else now_s - self.at_s
        self.all = [_rate(row, earlier.get(row["index"]), passed) for row in rows]
        self.at_s = now_s


def _rate(row: Mapping[str, Any], earlier: StreamRate | None, passed_s: float | None) -> StreamRate:
    chunks, received_bytes = (earlier["chunks"], earlier["received_bytes"]) if earlier else (0, 0)
    received_ns = row["received_ns"]
    return {
        "index": row["index"],
        "name": row["name"],
        "media": row["media"],
        "live": row["live"],
        "publishers": row["publishers"],
        "chunks": row["next"],
        "received_bytes": row["received_bytes"],
        "kept_chunks": row["next"] - row["first"],
        "kept_bytes": row["bytes"],
        "buffer_bytes": row["buffer_bytes"],
        "chunks_s": (row["next"] - chunks) / passed_s if passed_s else 0.0,
        "bytes_s": (row["received_bytes"] - received_bytes) / passed_s if passed_s else 0.0,
        "received_ms": None if received_ns is None else received_ns / 1e6,
    }
