"""Which parameters an export is about, and which column each of them is. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slipring.errors import RecordingError
from slipring.frames import Table
from slipring.frames.arrays import Indices
from slipring.model import Entry, Kind
from slipring.recording.history.definitions import Definitions
from slipring.recording.history.samples import Samples

NO_COLUMN = -1

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Column:
    """One chosen parameter."""

    name: str
    """Its topic; behind it `#` and its index where a later parameter has the same name."""
    entry: Entry

    @property
    def kind(self) -> Kind:
        return self.entry.parameter.kind

    @property
    def topic(self) -> str:
        return self.entry.name


class Chosen:
    """The parameters of an export, in the order of its columns."""

    def __init__(self, definitions: Definitions, entries: Iterable[Entry]) -> None:
        self.table = definitions.table
        self.columns = [_column(self.table, entry) for entry in entries]
        self.topics = {column.topic for column in self.columns}
        places = {column.entry.index: place for place, column in enumerate(self.columns)}
        self._places: Numbers = np.full(max(places, default=0) + 1, NO_COLUMN, np.int32)
        self._places[list(places)] = list(places.values())

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def has(self, index: int) -> bool:
        """Whether the parameter with this index is chosen."""
        return index < len(self._places) and self._places[index] != NO_COLUMN

    def entry(self, index: int) -> Entry:
        """The chosen parameter with this index."""
        return self.columns[int(self._places[index])].entry

    def places(self, indices: Indices) -> Numbers:
        """The column of each index; NO_COLUMN where it is not chosen."""
        found = self._places[np.minimum(indices, len(self._places) - 1)]
        return np.where(indices < len(self._places), found, np.int32(NO_COLUMN))

    def narrow(self, samples: Samples) -> Samples | None:
        """The samples of chosen parameters; None where there are none."""
        mask = self.places(samples.indices) != NO_COLUMN
        if mask.all():
            return samples if len(samples) else None
        return samples.take(mask) if mask.any() else None


def choose(definitions: Definitions, filters: Sequence[str], where: str) -> Chosen:
    """The parameters that the filters match; raises RecordingError where there is none."""
    entries = definitions.matching(filters)
    if not entries:
        raise RecordingError(
            f"no parameter of {where} matches {' or '.join(map(repr, filters))}; "
            f"its table has {len(definitions.table):,} parameters"
        )
    return Chosen(definitions, entries)


def choose_named(definitions: Definitions, names: Sequence[str]) -> Chosen:
    """The parameters with these names, which are there, in their order."""
    names = list(dict.fromkeys(names))
    if not names:
        raise RecordingError("no names are given: write a parameter's name in each line")
    return Chosen(definitions, definitions.named(names))


def _column(table: Table, entry: Entry) -> Column:
    if table.index(entry.name) == entry.index:
        return Column(entry.name, entry)
    return Column(f"{entry.name}#{entry.index}", entry)
