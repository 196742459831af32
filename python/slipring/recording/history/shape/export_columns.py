"""The parameters that are exported, and the column of each. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slipring.frames import Table
from slipring.frames.arrays import Indices
from slipring.model import Entry, Kind
from slipring.recording.history.shape.recorded_samples import RecordedSamples

NO_COLUMN = -1

ColumnNumbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class ExportColumn:
    """One exported parameter."""

    name: str
    """Its topic, followed by `#` and its index if a later parameter took over the name."""
    entry: Entry

    @property
    def kind(self) -> Kind:
        return self.entry.parameter.kind

    @property
    def topic(self) -> str:
        return self.entry.name


class ExportColumns:
    """The exported parameters, in the order of the columns."""

    def __init__(self, table: Table, entries: Iterable[Entry]) -> None:
        self.table = table
        self.columns: list[ExportColumn] = [_column(table, entry) for entry in entries]
        self.topics: set[str] = {column.topic for column in self.columns}
        numbers = {column.entry.index: number for number, column in enumerate(self.columns)}
        self._numbers: ColumnNumbers = np.full(max(numbers, default=0) + 1, NO_COLUMN, np.int32)
        self._numbers[list(numbers)] = list(numbers.values())

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def entry(self, index: int) -> Entry | None:
        """The exported parameter with this index; None if it is not exported."""
        number = self._numbers[index] if index < len(self._numbers) else NO_COLUMN
        return None if number == NO_COLUMN else self.columns[int(number)].entry

    def numbers(self, indices: Indices) -> ColumnNumbers:
        """The column of each parameter; NO_COLUMN if it is not exported."""
        found = self._numbers[np.minimum(indices, len(self._numbers) - 1)]
        return np.where(indices < len(self._numbers), found, np.int32(NO_COLUMN))

    def narrow(self, samples: RecordedSamples) -> RecordedSamples | None:
        """The samples of exported parameters; None if there are none."""
        mask = self.numbers(samples.indices) != NO_COLUMN
        if mask.all():
            return samples if len(samples) else None
        return samples.take(mask) if mask.any() else None


def _column(table: Table, entry: Entry) -> ExportColumn:
    if table.index(entry.name) == entry.index:
        return ExportColumn(entry.name, entry)
    return ExportColumn(f"{entry.name}#{entry.index}", entry)
