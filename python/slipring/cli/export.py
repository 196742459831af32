"""`slipring export`: parse, export, say what came of it."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from slipring.cli import interrupt
from slipring.cli.display import counted
from slipring.cli.places import Filters, From, To, recording
from slipring.cli.progress import Shown
from slipring.recording.form import Form, form_of

if TYPE_CHECKING:
    from slipring.recording.export import Exported


def export(
    journal: Annotated[
        Path, typer.Argument(metavar="JOURNAL", help="Folder of a journal, or of its broker.")
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A .parquet or .jsonl file; - is standard output.")
    ],
    *,
    first: From = None,
    last: To = None,
    filters: Filters = None,
    form: Annotated[
        Form | None, typer.Option("--format", help="What to write, where OUT does not say it.")
    ] = None,
) -> None:
    """Write messages of a journal to a Parquet file or as JSON lines.

    The broker may be running. A file gets its name when it is whole; Ctrl-C leaves nothing.
    What is damaged in the journal is told and passed over, and the exit code is then 1.

    For example:

        slipring export slipring-data flight.parquet

        slipring export slipring-data engine.jsonl --from -10m --filter 'gripen/+/engine/#'

        slipring export slipring-data - --from @1200 --to @1300 | jq .topic
    """
    chosen = form or form_of(out)
    interrupt.also_on_sigterm()
    try:
        with _opened(out) as stream:
            exported = _export(journal, first, last, filters, (stream, chosen))
    except BrokenPipeError:
        return  # nobody reads any more
    except KeyboardInterrupt:
        kept = "what was written is cut short" if str(out) == "-" else f"{out} was not written"
        print(f"slipring: interrupted: {kept}", file=sys.stderr)
        raise
    _tell(exported, out)


def _export(
    journal: Path,
    first: str | None,
    last: str | None,
    filters: list[str] | None,
    into: tuple[BinaryIO, Form],
) -> "Exported":
    from slipring.recording.export import export as write

    recorded = recording(journal, first, last, filters)
    with Shown("exporting", len(recorded)) as shown:
        return write(
            recorded, *into, lambda messages, end: shown.tell(messages, end - recorded.start)
        )


def _tell(exported: "Exported", out: Path) -> None:
    where = "" if str(out) == "-" else f" in {out}"
    print(f"{counted(exported.messages, 'message')}{where}", file=sys.stderr)
    for damage in exported.damaged:
        print(f"slipring: left out: {damage}", file=sys.stderr)
    if exported.damaged:
        raise typer.Exit(1)


@contextlib.contextmanager
def _opened(out: Path) -> Iterator[BinaryIO]:
    from slipring.recording.output import new_file

    if str(out) != "-":
        with new_file(out) as stream:
            yield stream
        return
    # Not sys.stdout.buffer: that may write a part only, where Python runs unbuffered.
    with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
        yield stream
