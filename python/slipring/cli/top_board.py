"""What `slipring top` shows at this moment, and what each key changes. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from slipring.frames import Frame, Table
from slipring.frames.arrays import NO_TIME
from slipring.model import Entry
from slipring.native import match_topics

SEARCH_LENGTH_MAX = 200


class SortKey(StrEnum):
    """The column by which rows are sorted."""

    NAME = "name"
    VALUE = "value"
    AGE = "age"
    QUALITY = "quality"


class Ranking:
    """The newest value, time and quality of all parameters, by index, to sort by them."""

    def __init__(self) -> None:
        self._table: Table | None = None
        self._clear(0)

    def _clear(self, size: int) -> None:
        self._values = np.full(size, np.nan)
        self._times = np.full(size, NO_TIME)
        self._qualities = np.full(size, 255, np.uint8)

    def update(self, frame: Frame) -> None:
        """Take the newest samples of a frame."""
        indices = frame.indices
        if frame.table is not self._table:
            self._table = frame.table
            self._clear(0)
        self._grow(int(indices.max(initial=0)) + 1)
        self._values[indices] = frame.values(indices)
        self._times[indices] = frame.times(indices)
        self._qualities[indices] = frame.qualities(indices)

    def _grow(self, size: int) -> None:
        more = size - len(self._values)
        if more > 0:
            self._values = np.append(self._values, np.full(more, np.nan))
            self._times = np.append(self._times, np.full(more, NO_TIME))
            self._qualities = np.append(self._qualities, np.full(more, 255, np.uint8))

    def order(self, entries: Sequence[Entry], key: SortKey) -> list[Entry]:
        """The largest value, the highest age or the worst quality first; unknown ones last."""
        indices = np.array([entry.index for entry in entries], np.int64)
        if not len(indices):
            return []
        self._grow(int(indices.max()) + 1)
        if key is SortKey.VALUE:
            weights = -self._values[indices]  # NaN goes last
        elif key is SortKey.AGE:
            times = self._times[indices]
            weights = np.where(times == NO_TIME, np.inf, times.astype(np.float64))
        else:
            qualities = self._qualities[indices]
            weights = np.where(qualities == 255, np.inf, -(qualities >> 6).astype(np.float64))
        return [entries[at] for at in np.argsort(weights, kind="stable")]


@dataclass
class Board:
    """Which parameters are chosen, in which order, and which of them are on the screen."""

    filters: list[str]
    sort: SortKey = SortKey.NAME
    search: str = ""
    typed: str | None = None
    """What is being typed after /; None if nothing is."""
    is_reversed: bool = False
    is_paused: bool = False
    is_over: bool = False
    offset: int = 0
    height: int = 1
    """How many rows the screen has."""
    entries: list[Entry] = field(default_factory=list)
    """What is chosen, sorted."""

    def press(self, key: str) -> None:
        """Do what a key says."""
        if self.typed is not None:
            self._type(key)
        elif key in ("q", "Q"):
            self.is_over = True
        elif key == "/":
            self.typed = ""
        elif key == " ":
            self.is_paused = not self.is_paused
        elif key == "r":
            self.is_reversed = not self.is_reversed
        elif key in ("left", "right", "<", ">"):
            self._sort_by_neighbour(-1 if key in ("left", "<") else 1)
        else:
            self._scroll(key)

    def _type(self, key: str) -> None:
        typed = self.typed or ""
        if key == "enter":
            self.search, self.typed, self.offset = typed, None, 0
        elif key == "escape":
            self.search, self.typed = "", None
        elif key == "backspace":
            self.typed = typed[:-1]
        elif len(key) == 1:
            self.typed = (typed + key)[:SEARCH_LENGTH_MAX]

    def _sort_by_neighbour(self, step: int) -> None:
        keys = list(SortKey)
        self.sort = keys[(keys.index(self.sort) + step) % len(keys)]
        self.offset = 0

    def _scroll(self, key: str) -> None:
        steps = {"up": -1, "down": 1, "page up": -self.height, "page down": self.height}
        ends = {"home": 0, "end": len(self.entries)}
        self.offset = ends.get(key, self.offset + steps.get(key, 0))
        self._stay_inside()

    def _stay_inside(self) -> None:
        self.offset = max(0, min(self.offset, len(self.entries) - self.height))

    def choose(self, table: Table, ranking: Ranking) -> None:
        """Find what is chosen, and sort it."""
        chosen = self._found(table.matching(*self.filters))
        if self.sort is SortKey.NAME:
            self.entries = sorted(chosen, key=lambda entry: entry.name)
        else:
            self.entries = ranking.order(chosen, self.sort)
        if self.is_reversed:
            self.entries.reverse()
        self._stay_inside()

    def _found(self, entries: list[Entry]) -> list[Entry]:
        """Those that the search finds: a filter of topics, or a part of the name."""
        if set(self.search) & set("+#"):
            matched = match_topics([self.search], [entry.name for entry in entries])
            return [entry for entry, is_found in zip(entries, matched, strict=True) if is_found]
        word = self.search.casefold()
        return [entry for entry in entries if word in entry.name.casefold()]

    @property
    def visible(self) -> list[Entry]:
        """The rows of the screen."""
        return self.entries[self.offset : self.offset + self.height]
