"""`slipring import`: parse, import, say how far it came, whatever ended it."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipring.cli import interrupt
from slipring.cli.display import counted
from slipring.cli.progress import Shown
from slipring.errors import RecordingError, SlipringError

if TYPE_CHECKING:
    from slipring.recording.importing import Intake


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Parquet or JSON lines; - is standard input, as lines."
        ),
    ],
    journal: Annotated[
        Path | None,
        typer.Option(help="Append to the journal in this folder, which no broker has open."),
    ] = None,
    skip: Annotated[
        int, typer.Option(min=0, metavar="ROWS", help="Begin behind so many rows of the file.")
    ] = 0,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Pass over rows that are no message, and count them.")
    ] = False,
) -> None:
    """Take in the messages of a file."""
    assert journal is not None
    interrupt.also_on_sigterm()
    _into_journal(file, journal, skip=skip, skip_bad=skip_bad)


def _into_journal(path: Path, folder: Path, *, skip: int, skip_bad: bool) -> None:
    from slipring.recording.files import open_messages
    from slipring.recording.importing import import_to_journal, into, open_journal

    with open_messages(path) as file:
        writer = open_journal(folder)
        intake = into(writer, skip)
        try:
            with Shown("importing", file.total) as shown:
                import_to_journal(file, writer, intake, shown.tell, skip_bad=skip_bad)
        except SlipringError as error:
            raise RecordingError(f"{error}; {_rest(intake, 'in the journal')}") from None
        except KeyboardInterrupt:
            print(f"slipring: interrupted; {_rest(intake, 'in the journal')}", file=sys.stderr)
            raise
        finally:
            writer.close()
    print(f"{counted(intake.messages, 'message')} in {folder}{_bad(intake)}")


def _rest(intake: "Intake", where: str) -> str:
    """What is there, and what to do about the rest of the file."""
    there = f"{counted(intake.messages, 'message')} {where}{_bad(intake)}"
    return f"{there}: go on behind them with --skip {intake.next_row}"


def _bad(intake: "Intake") -> str:
    return f", {counted(intake.bad, 'bad row')} passed over" if intake.bad else ""
