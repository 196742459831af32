"""Which files of a table hold which slices of one journal."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from slipring.lake.files import WrittenFile
from slipring.lake.table import TableFileEntry


class SliceFile(NamedTuple):
    """A file of the table, and the slices from which to which it has rows."""

    path: str
    first: int
    last: int
    partition: dict[str, str]
    is_shared: bool
    """Whether it may have rows of other journals."""


class SliceFiles:
    """The files of a table by slice. A compacted file may be wide: it has rows of many slices."""

    def __init__(self, entries: Iterable[TableFileEntry], journal: str, slice_ns: int) -> None:
        self._narrow: dict[int, dict[str, SliceFile]] = defaultdict(dict)
        self._wide: dict[str, SliceFile] = {}
        for entry in entries:
            least, most = str(entry.least["journal"]), str(entry.most["journal"])
            if least <= journal <= most:
                begin, end = (int(str(one["window_ns"])) for one in (entry.least, entry.most))
                self._add(
                    SliceFile(
                        entry.path,
                        begin // slice_ns,
                        end // slice_ns,
                        entry.partition,
                        least != most,
                    )
                )

    def of(self, piece: int) -> Iterator[SliceFile]:
        """The files that may have rows of a slice."""
        yield from self._narrow.get(piece, {}).values()
        yield from (file for file in self._wide.values() if file.first <= piece <= file.last)

    def put(self, piece: int, files: Iterable[WrittenFile]) -> None:
        """The slice is now in these files only; wide files were divided before."""
        self._narrow[piece] = {
            file.path: SliceFile(file.path, piece, piece, file.partition, False) for file in files
        }

    def replace(self, gone: SliceFile, rests: Iterable[WrittenFile]) -> None:
        """What remains of a file is in others now."""
        self._wide.pop(gone.path, None)
        self._narrow.get(gone.first, {}).pop(gone.path, None)
        for rest in rests:
            self._add(gone._replace(path=rest.path))

    def _add(self, file: SliceFile) -> None:
        if file.first == file.last:
            self._narrow[file.first][file.path] = file
        else:
            self._wide[file.path] = file
