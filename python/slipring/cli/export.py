"""`slipring export`: parse, export, say what came of it."""

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
from slipring.cli.export_samples import Came, export_samples
from slipring.cli.grouped import grouped
from slipring.cli.places import Filters, From, To, recording
from slipring.cli.progress import Shown
from slipring.cli.sample_options import SampleOptions
from slipring.errors import RecordingError
from slipring.recording.form import Form, form_of, form_of_samples
from slipring.spark.place import SCHEMES

if TYPE_CHECKING:
    from slipring.recording.journal import Recording
    from slipring.recording.output import Output


@grouped({"samples": SampleOptions, "access": Access}, without={"url"})
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
    form: Annotated[
        Form | None, typer.Option("--format", help="What to write, where OUT does not say it.")
    ] = None,
    samples: SampleOptions,
    access: Access,
) -> None:
    """Write messages of a journal, or samples of parameters, to a file.

    Messages become Parquet or JSON lines. With --parameters or --names, samples become Parquet
    (a row for each sample, or --wide), CSV (a row for each time, or --grid), or MCAP.

    The broker may be running. A file gets its name when it is whole; Ctrl-C leaves nothing. What is
    damaged in the journal is told and passed over, and the exit code is then 1.

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
    write = _writing(samples, out, form, reached)
    try:
        with _opened(out) as output:
            came = write(recording(source, first, last, filters), output)
    except BrokenPipeError:
        return  # nobody reads any more
    except KeyboardInterrupt:
        kept = "what was written is cut short" if str(out) == "-" else f"{out} was not written"
        print(f"slipring: interrupted: {kept}", file=sys.stderr)
        raise
    _tell(came, out)


def _writing(
    samples: SampleOptions, out: Path, form: Form | None, reached: Access
) -> "Callable[[Recording, Output], Came]":
    """What writes the file that was asked for; raises if there is none such."""
    if not samples.is_given:
        chosen = form_of(out, form)
        return lambda recorded, output: _export_messages(recorded, chosen, output.stream)
    shape = samples.shape(form_of_samples(out, form))
    return lambda recorded, output: export_samples(recorded, samples, shape, reached, output)


def _export_messages(recorded: "Recording", form: Form, stream: BinaryIO) -> Came:
    from slipring.recording.export import export as write

    with Shown("exporting", len(recorded)) as shown:
        exported = write(
            recorded, stream, form, lambda count, end: shown.tell(count, end - recorded.start)
        )
    return Came(counted(exported.messages, "message"), [], exported.damaged)


def _tell(came: Came, out: Path) -> None:
    where = "" if str(out) == "-" else f" in {out}"
    if out.is_dir():
        where += f", a folder with {counted(len(list(out.iterdir())), 'file')}"
    print(f"{came.what}{where}", file=sys.stderr)
    for note in came.notes:
        print(f"slipring: {note}", file=sys.stderr)
    for damage in came.damaged:
        print(f"slipring: left out: {damage}", file=sys.stderr)
    if came.damaged:
        raise typer.Exit(1)


@contextlib.contextmanager
def _opened(out: Path) -> "Iterator[Output]":
    from slipring.recording.output import OneStream, new_file

    if str(out) != "-":
        with new_file(out) as output:
            yield output
        return
    # Not sys.stdout.buffer: that may write a part only, where Python runs unbuffered.
    try:
        with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
            yield OneStream(stream)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RecordingError(f"cannot write standard output: {error.strerror or error}") from None
