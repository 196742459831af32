"""The rows of a Parquet file of samples, or of a folder of such files."""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from slipring.errors import RecordingError
from slipring.frames.arrays import Times
from slipring.model import Parameter
from slipring.recording.file_format import TimeFormat
from slipring.recording.history.read.history_file import WrongRow, rows_after
from slipring.recording.history.read.time_parsing import parse_time_column
from slipring.recording.open_parquet import first_line, open_parquet

BLOCK_BYTES = 64 << 20
"""Of the file, in memory at once, as far as its row groups tell."""


class ParquetRows:
    """Reads the rows of one file after the other; all files have the same columns."""

    def __init__(self, path: Path) -> None:
        self.name: str = str(path)
        self._paths = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not self._paths:
            raise RecordingError(f"{path} is a folder without a Parquet file")
        metadata = [open_parquet(one).metadata for one in self._paths]
        self._ends = list(accumulate(one.num_rows for one in metadata))
        self.total: int = self._ends[-1]
        self.schema: pa.Schema = metadata[0].schema.to_arrow_schema()
        for one, found in zip(self._paths, metadata, strict=True):
            if not found.schema.to_arrow_schema().equals(self.schema):
                raise RecordingError(f"{one} has other columns than {self._paths[0]}")

    def where(self, row: int) -> str:
        """Where a row is, in words."""
        number = min(bisect_right(self._ends, row), len(self._ends) - 1)
        before = self._ends[number - 1] if number else 0
        return f"{self._paths[number]}, row {row - before + 1:,}"

    def batches(
        self, columns: Sequence[str], skip: int, rows_max: int
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows after the first `skip`, each batch with the number of its first row."""
        first = 0
        for path, end in zip(self._paths, self._ends, strict=True):
            if end > skip:
                file = open_parquet(path)
                count = min(rows_max, max(1, BLOCK_BYTES // _row_bytes(file.metadata)))
                batches = file.iter_batches(count, columns=list(columns))
                try:
                    for number, batch in rows_after(skip, batches, first):
                        yield number, batch
                        first = number + batch.num_rows
                except (OSError, pa.ArrowException) as error:
                    raise RecordingError(f"{self.where(first)}: {first_line(error)}") from None
            first = end

    def times(self, column: pa.Array, time_format: TimeFormat | None) -> Times:
        """The source times of a column; raises WrongRow."""
        try:
            found = parse_time_column(column, time_format)
        except pa.ArrowException as error:
            raise WrongRow(0, f"{column.type} is not a time: {first_line(error)}") from None
        if found.wrong is not None:
            raise WrongRow(found.wrong, f"{column[found.wrong].as_py()!r} is not a time")
        return found.times


def parameter_of(file: str, name: str, definition: bytes | Mapping[str, object]) -> Parameter:
    """The parameter that a definition in a file's metadata describes; or RecordingError."""
    try:
        found = json.loads(definition) if isinstance(definition, bytes) else definition
        return Parameter.of_json(found)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordingError(f"{file}: the definition of {name!r} is not valid: {error}") from None


def _row_bytes(metadata: pq.FileMetaData) -> int:
    """The bytes of a row in the row group with the largest rows."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return max((one.total_byte_size // max(1, one.num_rows) for one in groups), default=0) or 1
