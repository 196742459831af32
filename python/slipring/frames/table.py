"""A broker's table as a client knows it: its parameters, by name and by index.

It asks nobody: `slipring.client` puts in what the broker reports.
"""

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Any

import numpy as np

from slipring.frames.arrays import Indices, Values
from slipring.frames.index_cache import IndexCache
from slipring.frames.labels import NO_SET, Labels
from slipring.model import Entry, Parameter
from slipring.model.nearest import nearest_name
from slipring.model.notebook import ROWS_MAX, html_table
from slipring.native import match_topics


class Table:
    """The parameters of a broker, and their indices.

    A name that was removed is not in the table any more, but its index still has a name: frames
    may be on their way.
    """

    def __init__(self, identity: int = 0) -> None:
        self.identity = identity
        """Which table it is: another one has other indices."""
        self.revision = 0
        """Grows with every change."""
        self.labels: Labels = Labels()
        self.index_cache: IndexCache = IndexCache()
        self._entries: dict[str, Entry] = {}
        self._parameters: dict[int, Parameter] = {}
        self._indices: dict[str, int] = {}
        self._names: Values = np.full(64, None, object)
        self._sets = np.full(64, NO_SET, np.int32)
        self._known = np.zeros(64, np.bool_)

    def __repr__(self) -> str:
        return f"<Table {self.identity}, revision {self.revision}: {len(self)} parameters>"

    def _repr_html_(self) -> str:
        """For notebooks: the first parameters."""
        first = nsmallest(ROWS_MAX, self._entries.values(), key=lambda entry: entry.index)
        rows = (
            (one.index, one.name, one.parameter.type, one.parameter.unit, one.parameter.description)
            for one in first
        )
        heads = ("index", "name", "type", "unit", "description")
        return html_table(repr(self)[1:-1], heads, rows, len(self))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Entry:
        try:
            return self._entries[name]
        except KeyError:
            raise self._unknown(name) from None

    def get(self, name: str) -> Entry | None:
        """The parameter with this name, if there is one."""
        return self._entries.get(name)

    def entries(self) -> list[Entry]:
        """All parameters, by index."""
        return sorted(self._entries.values(), key=lambda entry: entry.index)

    def matching(self, *filters: str) -> list[Entry]:
        """The parameters whose topics match one of the filters, by index."""
        entries = self.entries()
        chosen = match_topics(filters, [entry.name for entry in entries])
        return [entry for entry, is_chosen in zip(entries, chosen, strict=True) if is_chosen]

    def indices(self, names: Iterable[str]) -> Indices:
        """The indices of these names, for many calls of `Frame.values`; raises KeyError."""
        return np.array([self.index(name) for name in names], np.uint32)

    def index(self, name: str) -> int:
        """The index of a name, even of one that was removed; raises KeyError."""
        index = self.find(name)
        if index is None:
            raise self._unknown(name)
        return index

    def find(self, name: str) -> int | None:
        """The same; None instead of an error."""
        return self._indices.get(name)

    def _unknown(self, name: str) -> KeyError:
        near = nearest_name(name, self._entries)
        hint = f"; did you mean {near!r}?" if near else ""
        return KeyError(f"the table has no parameter {name!r}{hint}")

    def names(self, indices: Indices) -> Values:
        """The names of these indices; None for one that is not known."""
        inside = indices < len(self._names)
        if inside.all():
            return self._names[indices]
        found: Values = np.full(len(indices), None, object)
        found[inside] = self._names[indices[inside]]
        return found

    def parameter(self, index: int) -> Parameter | None:
        """The definition of the parameter that has this index, or had it."""
        return self._parameters.get(index)

    def knows(self, indices: Indices) -> bool:
        """Whether all of these indices are known."""
        if not len(indices):
            return True
        return bool(indices.max() < len(self._known) and self._known[indices].all())

    def label_sets(self, indices: Indices) -> "np.ndarray[Any, np.dtype[np.int32]]":
        """The number of each one's set of labels, for `labels.look_up`."""
        inside = np.minimum(indices, len(self._sets) - 1)
        return np.where(indices < len(self._sets), self._sets[inside], np.int32(NO_SET))

    def put(self, entry: Entry) -> None:
        """Adds or changes a parameter."""
        self._grow(entry.index + 1)
        before = self._entries.get(entry.name)
        if before is None or before.index <= entry.index:
            self._entries[entry.name] = entry
            self._indices[entry.name] = entry.index
        self._parameters[entry.index] = entry.parameter
        self._names[entry.index] = entry.name
        self._sets[entry.index] = self.labels.set_of(entry.parameter.labels)
        self._known[entry.index] = True

    def remove(self, first: int, count: int) -> list[str]:
        """Removes a range of parameters, and returns their names."""
        gone = [
            name
            for name in self._names[first : first + count]
            if name in self._entries and first <= self._entries[name].index < first + count
        ]
        for name in gone:
            del self._entries[name]
        return gone

    def keep_only(self, names: Iterable[str]) -> list[str]:
        """Removes all others, and returns their names."""
        gone = list(self._entries.keys() - set(names))
        for name in gone:
            del self._entries[name]
        return gone

    def range_names(self, first: int, count: int) -> list[str]:
        """The known names of a range of indices."""
        return [name for name in self._names[first : first + count] if name is not None]

    def _grow(self, size: int) -> None:
        have = len(self._names)
        if size <= have:
            return
        more = max(size, 2 * have) - have
        self._names = np.concatenate([self._names, np.full(more, None, object)])
        self._sets = np.concatenate([self._sets, np.full(more, NO_SET, np.int32)])
        self._known = np.concatenate([self._known, np.zeros(more, np.bool_)])
