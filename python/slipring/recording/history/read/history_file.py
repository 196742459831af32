"""What a file of samples offers to an import, whatever its format; and rows that are wrong."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa

from slipring.errors import RecordingError
from slipring.model import Parameter
from slipring.recording.history.shape.dense_block import DenseBlock


class RowBlock(NamedTuple):
    """The samples of some rows."""

    samples: list[DenseBlock]
    first: int
    """The rows are [first, end) of the file, counted from 0."""
    end: int
    done: int
    """How far the file is read, in units of its `total`."""


class HistoryFile(Protocol):
    """A file that is read block by block. It can be read several times."""

    name: str
    total: int | None
    """How much there is to read; None if that is unknown."""
    columns: list[str]
    """The names of its parameters, as the file has them."""
    earlier: list[str]
    """Not imported: earlier parameters, whose names others took over. A broker has one of each."""

    def where(self, row: int) -> str:
        """Where a row is, in words."""

    def known(self) -> Mapping[str, Parameter]:
        """The definitions that the file itself contains."""

    def guessed(self, columns: Sequence[str]) -> Mapping[str, Parameter]:
        """Definitions guessed from the values; without the columns that have no value."""

    def blocks(self, types: Mapping[str, Parameter], skip: int) -> Iterator[RowBlock]:
        """The samples of these columns after the first `skip` rows, in the order of `types`."""


class WrongRow(Exception):
    """A row that cannot be imported; the text says why."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row
        """Counted from the first row of the batch."""


class WrongCell(WrongRow):
    """A cell that is not a value of its column's type."""

    def __init__(self, row: int, column: str, why: str) -> None:
        super().__init__(row, f"column {column!r}: {why}")
        self.why = why


def blocks_before_wrong(
    batch: pa.RecordBatch,
    first: int,
    read: Callable[[pa.RecordBatch], RowBlock],
    where: Callable[[int], str],
) -> Iterator[RowBlock]:
    """The block of a batch. If a row is wrong: the block of the rows before it, then the error."""
    try:
        block = read(batch)
    except WrongRow as wrong:
        if wrong.row:
            # Columns are checked one after the other: a later one may be wrong in an earlier row.
            yield from blocks_before_wrong(batch[: wrong.row], first, read, where)
        raise RecordingError(f"{where(first + wrong.row)}: {wrong}") from None
    yield block


def rows_after(
    skip: int, batches: Iterator[pa.RecordBatch], first: int = 0
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows after the first `skip` of a file, each batch with the number of its first row.

    `first` is the number of the first row of the first batch.
    """
    for batch in batches:
        begin = min(max(0, skip - first), batch.num_rows)
        if begin < batch.num_rows:
            yield first + begin, batch[begin:]
        first += batch.num_rows
