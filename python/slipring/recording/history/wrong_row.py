"""Rows of a file that are wrong: the rows before them are given all the same. Pure."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from slipring.errors import RecordingError
from slipring.recording.history.history_file import Block


class WrongRow(Exception):
    """A row that is none; its words say why."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row = row
        """Counted from the first row that was given."""


class WrongCell(WrongRow):
    """A cell that is no value of its column's type."""

    def __init__(self, row: int, column: str, why: str) -> None:
        super().__init__(row, f"column {column!r}: {why}")
        self.why = why


def blocks_before_wrong(
    batch: pa.RecordBatch,
    first: int,
    read: Callable[[pa.RecordBatch], Block],
    place: Callable[[int], str],
) -> Iterator[Block]:
    """The block of a batch; where a row is wrong, that of the rows before it, then the error."""
    try:
        block = read(batch)
    except WrongRow as wrong:
        if wrong.row:
            # A column that was looked at later may have a wrong cell in an earlier row.
            yield from blocks_before_wrong(batch[: wrong.row], first, read, place)
        raise RecordingError(f"{place(first + wrong.row)}: {wrong}") from None
    yield block
