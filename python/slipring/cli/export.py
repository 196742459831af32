"""`slipring export`: parse, export, print a summary."""

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.export_samples import ExportSummary, export_samples, withheld_words
from slipring.cli.option_sets import option_sets
from slipring.cli.progress import ProgressDisplay
from slipring.cli.recording_range import Filters, From, To, recording
from slipring.cli.sample_options import SampleOptions
from slipring.errors import RecordingError
from slipring.journal.location import SCHEMES
from slipring.recording.file_format import FileFormat, message_format, sample_format

if TYPE_CHECKING:
    from slipring.recording.output import Output
    from slipring.recording.recording import Recording


@option_sets({"samples": SampleOptions, "access": Access}, without={"url"})
def export(  # noqa: PLR0913 (each is an option, or several)
    journal: Annotated[
        str,
        typer.Argument(
            metavar="JOURNAL",
            help="Folder of a journal, or of its broker; or a broker's address, mqtt://host:port.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT", help="A .parquet, .jsonl, .csv or .mcap file; - is standard output."
        ),
    ],
    *,
    first: From = None,
    last: To = None,
    filters: Filters = None,
    file_format: Annotated[
        FileFormat | None, typer.Option("--format", help="The format, if OUT does not tell it.")
    ] = None,
    samples: SampleOptions,
    access: Access,
) -> None:
    """Write messages of a journal, or samples of parameters, to a file.

    Messages become Parquet or JSON lines. With --parameters or --names, samples become Parquet
    (a row for each sample, or --wide), CSV (a row for each time, or --grid), or MCAP.

    The broker may be running. A file gets its name when it is complete; Ctrl-C leaves no file.
    Damaged messages are left out and listed, with exit code 1; those you may not read are counted.

    For example:

        slipring export slipring-data flight.parquet

        slipring export slipring-data engine.jsonl --from -10m --filter 'gripen/+/engine/#'

        slipring export slipring-data - --from @1200 --to @1300 | jq .topic

        slipring export slipring-data flight.csv --parameters 'gripen/#' --grid 100ms --units

        slipring export mqtt://plane:1883 flight.mcap --parameters 'gripen/#' --from -1h
    """
    interrupt.also_on_sigterm()
    reached = dataclasses.replace(access, url=journal)
    source = reached.journal() if journal.startswith(SCHEMES) else Path(journal)
    if samples.is_given and filters:
        raise typer.BadParameter("--filter is for messages; --parameters chooses samples")
    write = _writing(samples, out, file_format, reached)
    try:
        with _opened(out) as output:
            summary = write(recording(source, first, last, filters), output)
    except BrokenPipeError:
        return  # the reader of the pipe is gone
    except KeyboardInterrupt:
        kept = "what was written is cut short" if str(out) == "-" else f"{out} was not written"
        print(f"slipring: interrupted: {kept}", file=sys.stderr)
        raise
    _tell(summary, out)


def _writing(
    samples: SampleOptions, out: Path, file_format: FileFormat | None, reached: Access
) -> "Callable[[Recording, Output], ExportSummary]":
    """A function that writes the file asked for; raises if the options do not fit."""
    if not samples.is_given:
        chosen = message_format(out, file_format)
        return lambda recorded, output: _export_messages(recorded, chosen, output.stream)
    shape = samples.shape(sample_format(out, file_format))
    return lambda recorded, output: export_samples(recorded, samples, shape, reached, output)


def _export_messages(
    recorded: "Recording", file_format: FileFormat, stream: BinaryIO
) -> ExportSummary:
    from slipring.recording.export import export as write

    with ProgressDisplay("exporting", len(recorded)) as shown:
        exported = write(
            recorded,
            stream,
            file_format,
            lambda count, end: shown.tell(count, end - recorded.start),
        )
    notes = list(withheld_words(exported.withheld))
    return ExportSummary(counted(exported.messages, "message"), notes, exported.damaged)


def _tell(summary: ExportSummary, out: Path) -> None:
    where = "" if str(out) == "-" else f" in {out}"
    if out.is_dir():
        where += f", a folder with {counted(len(list(out.iterdir())), 'file')}"
    print(f"{summary.what}{where}", file=sys.stderr)
    for note in summary.notes:
        print(f"slipring: {note}", file=sys.stderr)
    for damage in summary.damaged:
        print(f"slipring: left out: {damage}", file=sys.stderr)
    if summary.damaged:
        raise typer.Exit(1)


@contextlib.contextmanager
def _opened(out: Path) -> "Iterator[Output]":
    from slipring.recording.output import OutputStream, output_file

    if str(out) != "-":
        with output_file(out) as output:
            yield output
        return
    # Not sys.stdout.buffer: when Python runs unbuffered, it may write only a part.
    try:
        with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
            yield OutputStream(stream)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RecordingError(f"cannot write standard output: {error.strerror or error}") from None
