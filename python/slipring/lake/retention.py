"""Which files of a table must go: the oldest, when it is too large or when they are too old."""

from slipring.lake.table import LakeTable, TableFileEntry

KEPT_SHARE = 0.9
"""A table that is too large shrinks to this share of its size, not by a file in each commit."""


class SizeBound:
    """Keeps a table below a size; counts by itself, so that a commit need not list the table."""

    def __init__(self, table: LakeTable, keep_bytes: int) -> None:
        self._table = table
        self._keep_bytes = keep_bytes
        self._bytes = sum(file.bytes for file in table.files())

    def surplus(self, new_bytes: int) -> list[TableFileEntry]:
        """The oldest files, which must go if the table grows by so many bytes."""
        self._bytes += new_bytes
        if self._bytes <= self._keep_bytes:
            return []
        found = []
        for file in self._table.files():
            if self._bytes <= self._keep_bytes * KEPT_SHARE:
                break
            found.append(file)
            self._bytes -= file.bytes
        return found
