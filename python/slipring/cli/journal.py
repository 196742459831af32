"""`slipring journal ...`: shows, checks and salvages journals, and manages their consumers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipring.cli.display import printable
from slipring.cli.journal_archive import archive, restore
from slipring.cli.progress import ProgressDisplay
from slipring.cli.recording_range import DATA
from slipring.errors import JournalError

if TYPE_CHECKING:
    from rich.table import Table

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of a journal, or of its broker.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]

journal: typer.Typer = typer.Typer(
    help="Show a journal, check it, manage its consumers.", no_args_is_help=True
)


@journal.command()
def check(folder: Folder = DATA, *, as_json: AsJson = False) -> None:
    """Read every byte of a journal, and say what a start would find. Changes nothing.

    The broker may be running. The exit code is 1 if something is damaged. Unfinished bytes at the
    end, which a crash leaves, are not damage; the next start cuts them.

    For example:

        slipring journal check

        slipring journal check /var/lib/slipring --json | jq .damage
    """
    from slipring.cli import journal_report
    from slipring.journal.location import journal_folder
    from slipring.journal.writer_lock import is_open_for_writing
    from slipring.native import journal_check

    found = journal_folder(folder)
    with ProgressDisplay("checking", None, "bytes") as shown:
        report = journal_check(found, shown.tell_bytes)
    is_open = is_open_for_writing(found)
    if as_json:
        _print_json(journal_report.as_json(report, is_open=is_open))
    else:
        _print(journal_report.facts_of(report, is_open=is_open), *journal_report.tables(report))
    if not report.is_whole:
        raise typer.Exit(1)


@journal.command()
def salvage(
    folder: Annotated[
        Path, typer.Argument(metavar="FROM", help="Folder of the damaged journal, or its broker.")
    ],
    into: Annotated[Path, typer.Argument(metavar="TO", help="Folder for the new journal.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Copy what is readable in a damaged journal into a new folder. The old one is not changed.

    Messages keep their offsets, so that readers continue where they were; the state of sessions
    and the consumers are copied too. Offsets that cannot be read are left out and listed. The
    broker must be stopped. The exit code is 0 if all was copied, else 1.

    For example:

        slipring journal salvage slipring-data saved

        mv slipring-data/journal damaged && mv saved slipring-data/journal
    """
    from slipring.cli import journal_report
    from slipring.journal.location import journal_folder
    from slipring.native import journal_salvage

    found = journal_folder(folder)
    with ProgressDisplay("salvaging", None, "bytes") as shown:
        report = journal_salvage(found, into, shown.tell_bytes)
    if as_json:
        _print_json(journal_report.salvage_json(report))
    else:
        _print(journal_report.salvage_facts(report), *journal_report.salvage_tables(report))
    if not report.is_whole:
        raise typer.Exit(1)


@journal.command()
def show(folder: Folder = DATA, *, as_json: AsJson = False) -> None:
    """Show a journal: segments, times, sizes, consumers. Quick: does not read the messages.

    For example:

        slipring journal show

        slipring journal show /var/lib/slipring --json | jq .segments
    """
    from slipring.cli import journal_contents
    from slipring.journal.contents import contents

    found = contents(folder)
    if as_json:
        _print_json(journal_contents.as_json(found))
    else:
        _print(*journal_contents.tables(found))


@journal.command()
def consumers(folder: Folder = DATA, *, as_json: AsJson = False) -> None:
    """List the consumers of a journal, and how far each has read; retention waits for them.

    For example:

        slipring journal consumers

        slipring journal consumers /var/lib/slipring --json
    """
    from slipring.cli import journal_contents
    from slipring.journal.contents import contents

    found = contents(folder)
    if as_json:
        _print_json(journal_contents.consumers_json(found))
    elif found.consumers:
        _print(journal_contents.consumers_table(found))
    else:
        print(f"{found.folder} has no consumers")


@journal.command()
def forget(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The consumer, as listed.")],
    folder: Folder = DATA,
    *,
    as_json: AsJson = False,
) -> None:
    """Forget a consumer, so that retention does not wait for it. It may register itself again.

    For example:

        slipring journal forget lake
    """
    from slipring.journal.location import journal_folder
    from slipring.native import forget_consumer

    found = journal_folder(folder)
    if not found.is_dir():
        raise JournalError(f"there is no journal in {found}")
    try:
        is_gone = forget_consumer(found, name)
    except ValueError as error:
        raise JournalError(str(error)) from None
    if as_json:
        _print_json({"name": name, "forgotten": is_gone})
    elif is_gone:
        print(f"{printable(name)} is forgotten")
    if not is_gone:
        raise JournalError(
            f"{found} has no consumer {name!r}; `slipring journal consumers` lists them"
        )


journal.command("archive")(archive)
journal.command("restore")(restore)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def _print(*shown: "Table") -> None:
    from slipring.cli import terminal_table

    terminal_table.show(*shown)
