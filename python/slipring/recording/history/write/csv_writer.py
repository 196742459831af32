"""Wide rows as CSV: a header with the names, a line of units if asked for, then the rows."""

import base64
import csv
import io
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pcsv

from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.history.shape.file_schema import QUALITY_SUFFIX
from slipring.recording.history.shape.wide_rows import WideRows
from slipring.recording.history.write.arrow_rows import ArrowRows


class CsvWriter:
    """Writes rows as they come. Bytes are in Base64; an empty cell has no sample."""

    def __init__(
        self, stream: BinaryIO, rows: ArrowRows, columns: ExportColumns, *, has_units: bool
    ) -> None:
        self._stream = stream
        self._rows = rows
        schema = rows.schema
        self._bytes = [
            number for number, field in enumerate(schema) if pa.types.is_binary(field.type)
        ]
        """The columns of bytes."""
        self._write_line(schema.names)
        if has_units:
            units = {column.name: column.entry.parameter.unit or "" for column in columns.columns}
            names = [name.removesuffix(QUALITY_SUFFIX) for name in schema.names]
            self._write_line([units.get(name, "") for name in names])

    def write(self, rows: WideRows) -> None:
        batch = self._rows.batch(rows)
        for number in self._bytes:
            batch = batch.set_column(
                number, batch.schema.names[number], _encoded(batch.column(number))
            )
        options = pcsv.WriteOptions(include_header=False, quoting_style="needed")
        pcsv.write_csv(batch, self._stream, options)

    def close(self) -> None:
        """Write nothing: CSV has no footer."""

    def _write_line(self, words: list[str]) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(words)
        self._stream.write(line.getvalue().encode())


def _encoded(column: pa.Array) -> pa.Array:
    values = column.to_pylist()
    return pa.array(
        [None if value is None else base64.b64encode(value).decode() for value in values],
        pa.string(),
    )
