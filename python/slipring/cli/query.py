"""`slipring query`: SQL over the tables of the lake, without Spark."""

import contextlib
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from slipring.cli import interrupt
from slipring.cli.awaited import awaited
from slipring.cli.display import ago, counted, size
from slipring.cli.lake_options import AsOf, LakeWhere, opened_lake
from slipring.errors import LakeError

if TYPE_CHECKING:
    import pyarrow as pa

    from slipring.cli.query_output import QueryFormat
    from slipring.lake.lake import Lake

FORMATS = ("table", "csv", "json", "arrow", "parquet")


def query(
    sql: Annotated[
        str | None,
        typer.Argument(
            metavar="SQL",
            help="One SELECT; the lake's tables are its tables. - reads it from standard input.",
        ),
    ] = None,
    *,
    lake: LakeWhere = None,
    as_of: AsOf = None,
    shape: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"{', '.join(FORMATS)}; by default as FILE is named, or table."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows to a file; - is standard output."),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Show the tables: rows, size, newest time.")
    ] = False,
) -> None:
    """Ask the lake in SQL (that of DataFusion), without Spark.

    Only the files, row groups and pages are read that can have the rows: name the parameter and a
    range of source_time. DESCRIBE samples shows the columns of a table. A file gets its name when
    it is complete; Ctrl-C leaves no file.

    For example:

        slipring query --list

        slipring query "SELECT source_time, value FROM samples WHERE parameter = 'gripen/39-7/engine/egt' ORDER BY source_time DESC LIMIT 10"

        slipring query "SELECT parameter, max(max) AS peak FROM rollup_1m GROUP BY parameter" --format csv

        slipring query "SELECT * FROM events" --lake s3://bucket/lake --output events.parquet

        slipring query - --format csv < peaks.sql > peaks.csv

        slipring query "SELECT count(*) FROM samples" --as-of -1h
    """  # noqa: E501 (a command is one line)
    interrupt.also_on_sigterm()
    output = None if output == Path("-") else output
    opened = opened_lake(lake, as_of)
    if listed:
        _show_tables(opened)
        return
    if sql is None:
        raise LakeError(
            "give a SELECT, or --list to see the tables; slipring query --help has examples"
        )
    _tell_end(opened, sys.stdin.read() if sql == "-" else sql, _format(shape, output), output)


def _tell_end(lake: "Lake", sql: str, chosen: "QueryFormat", output: Path | None) -> None:
    """Run a question; an interrupt says what was not written."""
    try:
        _run(lake, sql, chosen, output)
    except BrokenPipeError:
        return  # the reader of the pipe is gone
    except KeyboardInterrupt:
        kept = f": {output} was not written" if output else ""
        print(f"slipring: interrupted{kept}", file=sys.stderr)
        raise


def _format(shape: str | None, output: Path | None) -> "QueryFormat":
    from slipring.cli.query_output import QueryFormat, output_format

    if shape is not None and shape not in FORMATS:
        raise typer.BadParameter(f"--format is {shape!r}; allowed: {', '.join(FORMATS)}")
    chosen = output_format(None if shape is None else QueryFormat(shape), output)
    is_binary = chosen in (QueryFormat.ARROW, QueryFormat.PARQUET)
    if is_binary and output is None and sys.stdout.isatty():
        raise LakeError(f"{chosen} is not for a terminal: give --output FILE")
    return chosen


def _run(lake: "Lake", sql: str, chosen: "QueryFormat", output: Path | None) -> None:
    from slipring.cli.query_output import write_batches

    found = awaited(lambda: _batches(lake, sql), "querying", "rows", lambda batch: batch.num_rows)
    first = next(found)  # it has the schema, and may have no row
    with _opened(output) as stream:
        rows, written = write_batches(first.schema, itertools.chain([first], found), chosen, stream)
    if written < rows:
        more = f"{rows - written:,} more; --format csv or --output FILE has them all"
        print(f"{counted(rows, 'row')}, {more}", file=sys.stderr)
    elif output is not None:
        print(f"{counted(rows, 'row')} in {output}", file=sys.stderr)


def _batches(lake: "Lake", sql: str) -> "Iterator[pa.RecordBatch]":
    """The rows; the first batch is empty and has the schema."""
    import pyarrow as pa

    reader = lake.stream(sql)
    # Not from_pylist: Arrow would import pandas for it.
    yield pa.record_batch([pa.nulls(0, one.type) for one in reader.schema], schema=reader.schema)
    yield from reader


@contextlib.contextmanager
def _opened(output: Path | None) -> Iterator[BinaryIO]:
    from slipring.recording.output import output_file

    if output is not None:
        with output_file(output) as file:
            yield file.stream
        return
    # Not sys.stdout.buffer: when Python runs unbuffered, it may write only a part.
    with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
        yield stream


def _show_tables(lake: "Lake") -> None:
    from slipring.cli.terminal_table import show, table

    shown = table("table", "+rows", "+size", "+files", "+version", "newest")
    for one in lake.tables():
        newest = ""
        if one.newest is not None:
            stands = f"{one.newest:%Y-%m-%dT%H:%M:%S}.{one.newest.microsecond // 1000:03}Z"
            newest = f"{stands}, {ago(time.time() - one.newest.timestamp())}"
        figures = (f"{one.rows:,}", size(one.bytes), f"{one.files:,}", f"{one.version:,}")
        shown.add_row(one.name, *figures, newest)
    show(shown)
