"""Rows of counters, each with its rates over about the last second: topic prefixes, streams."""

from collections.abc import Iterable, Mapping
from typing import Any

SHOWN_AS_LISTED = (
    "index", "name", "media", "live", "publishers", "received_bytes", "buffer_bytes",
)  # fmt: skip


class RowRates:
    """Compares each reading of some rows with the reading before."""

    def __init__(self, key: str, **counters: str) -> None:
        """`key` tells rows apart; `counters` has the counter of each rate by the rate's name."""
        self.at_s: float | None = None
        self.rows: list[Any] = []
        """The rows of the last reading, with their rates."""
        self._key = key
        self._counters = counters

    def sample(self, now_s: float, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take one reading; `now_s` is monotonic. The counters of a new row started at 0."""
        earlier = {row[self._key]: row for row in self.rows}
        passed_s = None if self.at_s is None else now_s - self.at_s
        self.rows = [self._row(row, earlier.get(row[self._key], {}), passed_s) for row in rows]
        self.at_s = now_s

    def _row(
        self, row: Mapping[str, Any], earlier: Mapping[str, Any], passed_s: float | None
    ) -> dict[str, Any]:
        grown = {name: row[of] - earlier.get(of, 0) for name, of in self._counters.items()}
        return {**row, **{name: by / passed_s if passed_s else 0.0 for name, by in grown.items()}}


def stream_row(listed: Mapping[str, Any]) -> dict[str, Any]:
    """A stream as the console shows it, from the engine's list; without its rates."""
    received_ns = listed["received_ns"]
    return {
        **{name: listed[name] for name in SHOWN_AS_LISTED},
        "chunks": listed["next"],
        "kept_chunks": listed["next"] - listed["first"],
        "kept_bytes": listed["bytes"],
        "received_ms": None if received_ns is None else received_ns / 1e6,
    }
