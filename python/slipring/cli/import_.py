"""`slipring import`: parse, import, say how far it came, whatever ended it."""

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.grouped import grouped
from slipring.cli.history_options import HistoryOptions
from slipring.cli.import_history import import_history
from slipring.cli.progress import Shown
from slipring.errors import RecordingError, SlipringError

if TYPE_CHECKING:
    from slipring.recording.importing import Intake


@grouped({"history": HistoryOptions, "access": Access})
def import_(  # noqa: PLR0913 (each is an option, or several)
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Parquet, JSON lines or CSV; - is standard input, JSON lines."
        ),
    ],
    *,
    to: Annotated[
        str | None, typer.Option(metavar="URL", help="The broker to publish to; as --url.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="No broker: append to this journal, which no broker has open.",
        ),
    ] = None,
    skip: Annotated[
        int, typer.Option(min=0, metavar="ROWS", help="Begin behind so many rows of the file.")
    ] = 0,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass over rows that are no message, and count them.")
    ] = False,
    history: HistoryOptions,
    access: Access,
) -> None:
    """Publish the messages or samples of a file to a broker, or append messages to a journal.

    A broker gets them at QoS 1, and what is counted is what it has acknowledged. A journal gets
    messages with their publishers and receive times. Only `topic` and `payload` must be in the
    file. Ctrl-C says how to go on later.

    A CSV file, or a Parquet file without messages, is a history: a column of source times, and a
    column for each parameter. Its parameters are declared, and its samples published as frames.

    For example:

        slipring import flight.parquet --to mqtt://127.0.0.1:1883

        slipring import flight.jsonl --journal old-flight/journal

        zcat history.jsonl.gz | slipring import - --skip-bad

        slipring import history.csv --prefix gripen/39-7 --dictionary engine.csv
    """
    reached = access if to is None else dataclasses.replace(access, url=to)
    if history.is_asked_of(file):
        if journal is not None or skip_bad:
            raise typer.BadParameter("--journal and --skip-bad are for messages, not a history")
        interrupt.run(import_history(file, history, reached, skip))
    elif journal is None:
        interrupt.run(_into_broker(file, reached, skip=skip, skip_bad=skip_bad))
    elif to is not None:
        raise typer.BadParameter("give --to or --journal, not both")
    else:
        interrupt.also_on_sigterm()
        _into_journal(file, journal, skip=skip, skip_bad=skip_bad)


def _into_journal(path: Path, folder: Path, *, skip: int, skip_bad: bool) -> None:
    from slipring.recording.files import open_messages
    from slipring.recording.importing import import_to_journal, into, open_journal

    with open_messages(path) as file, contextlib.closing(open_journal(folder)) as writer:
        intake = into(writer, skip)
        with _rest_told(intake, "in the journal"), Shown("importing", file.total) as shown:
            chunks = file.chunks(skip=skip, skip_bad=skip_bad)
            import_to_journal(chunks, writer, intake, shown.tell)
    print(f"{counted(intake.messages, 'message')} in {folder}{_bad(intake)}")


async def _into_broker(path: Path, access: Access, *, skip: int, skip_bad: bool) -> None:
    from slipring.recording.files import open_messages
    from slipring.recording.importing import import_to_broker, through

    with open_messages(path) as file:
        async with access.connect() as bus:
            publisher = bus.publisher()
            intake = through(publisher, skip)
            with _rest_told(intake, "acknowledged"), Shown("importing", file.total) as shown:
                chunks = interrupt.heard(file.chunks(skip=skip, skip_bad=skip_bad))
                async with publisher:
                    await import_to_broker(chunks, publisher, intake, file.place, shown.tell)
    print(f"{counted(intake.messages, 'message')} acknowledged by {access.url}{_bad(intake)}")


@contextlib.contextmanager
def _rest_told(intake: "Intake", where: str) -> Iterator[None]:
    """Where it ends early, say what is there and how to go on with the rest of the file."""
    try:
        yield
    except SlipringError as error:
        raise RecordingError(f"{error}; {_rest(intake, where)}") from None
    except BaseException:
        print(f"slipring: interrupted; {_rest(intake, where)}", file=sys.stderr)
        raise


def _rest(intake: "Intake", where: str) -> str:
    there = f"{counted(intake.messages, 'message')} {where}{_bad(intake)}"
    return f"{there}: go on behind them with --skip {intake.next_row}"


def _bad(intake: "Intake") -> str:
    return f", {counted(intake.bad, 'bad row')} passed over" if intake.bad else ""
