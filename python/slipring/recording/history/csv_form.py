"""Rows as CSV: a header with the names, one with the units if they are wanted, then the rows."""

import base64
import csv
import io
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pcsv

from slipring.recording.history.arrow_cells import QUALITY, ArrowCells
from slipring.recording.history.cells import Cells
from slipring.recording.history.chosen import Chosen


class CsvForm:
    """Writes each block of rows when it comes. Bytes are in Base64; an empty cell is no sample."""

    def __init__(
        self, stream: BinaryIO, rows: ArrowCells, chosen: Chosen, *, has_units: bool
    ) -> None:
        self._stream = stream
        self._rows = rows
        schema = rows.schema
        self._bytes = [
            place for place, field in enumerate(schema) if pa.types.is_binary(field.type)
        ]
        self._head(schema.names)
        if has_units:
            units = {column.name: column.entry.parameter.unit or "" for column in chosen.columns}
            self._head([units.get(name.removesuffix(QUALITY), "") for name in schema.names])

    def write(self, cells: Cells) -> None:
        batch = self._rows.batch(cells)
        for place in self._bytes:
            batch = batch.set_column(
                place, batch.schema.names[place], _printable(batch.column(place))
            )
        options = pcsv.WriteOptions(include_header=False, quoting_style="needed")
        pcsv.write_csv(batch, self._stream, options)

    def close(self) -> None:
        """Nothing stands behind the last row."""

    def _head(self, words: list[str]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(words)
        self._stream.write(line.getvalue().encode())


def _printable(column: pa.Array) -> pa.Array:
    values = column.to_pylist()
    return pa.array(
        [None if value is None else base64.b64encode(value).decode() for value in values],
        pa.string(),
    )
