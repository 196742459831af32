"""`slipring journal ...`: look at a journal, check it, and look after its consumers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slipring.cli.display import printable
from slipring.cli.progress import Shown
from slipring.errors import JournalError

if TYPE_CHECKING:
    from rich.table import Table

Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of a journal, or of its broker.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
DATA = Path("slipring-data")

journal = typer.Typer(
    help="Look at a journal, check it, look after those who read it.", no_args_is_help=True
)


@journal.command()
def check(folder: Folder = DATA, *, as_json: AsJson = False) -> None:
    """Read every byte of a journal and say what a start would find. Changes nothing.

    The broker may be running. The exit code is 1 where something is damaged; bytes at the end
    that a crash left unfinished are no damage, and are cut at the next start.

    For example:

        slipring journal check

        slipring journal check /var/lib/slipring --json | jq .damage
    """
    from slipring.cli import journal_report
    from slipring.native import journal_check
    from slipring.recording.holder import is_open_for_writing
    from slipring.recording.journal import journal_folder

    place = journal_folder(folder)
    with Shown("checking", None, "bytes") as shown:
        report = journal_check(place, shown.tell_bytes)
    is_open = is_open_for_writing(place)
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
    """Copy all that is whole in a damaged journal into a new folder. Leaves the old one as it is.

    Messages keep their offsets, so that readers go on where they were; the state of sessions and
    the consumers come along. Offsets that cannot be read are left out and listed. The broker must
    be stopped. The exit code is 0 where all was copied, 1 where something was lost or nothing
    could be copied.

    For example, for a broker with the data folder slipring-data:

        slipring journal salvage slipring-data saved

        mv slipring-data/journal damaged && mv saved slipring-data/journal
    """
    from slipring.cli import journal_report
    from slipring.native import journal_salvage
    from slipring.recording.journal import journal_folder

    place = journal_folder(folder)
    with Shown("salvaging", None, "bytes") as shown:
        report = journal_salvage(place, into, shown.tell_bytes)
    if as_json:
        _print_json(journal_report.salvage_json(report))
    else:
        _print(journal_report.salvage_facts(report), *journal_report.salvage_tables(report))
    if not report.is_whole:
        raise typer.Exit(1)


@journal.command()
def show(folder: Folder = DATA, *, as_json: AsJson = False) -> None:
    """Show a journal: segments, times, sizes, consumers. Quick: reads no more than it shows.

    For example:

        slipring journal show

        slipring journal show /var/lib/slipring --json | jq .segments
    """
    from slipring.cli import journal_contents
    from slipring.recording.segments import contents

    found = contents(folder)
    if as_json:
        _print_json(journal_contents.as_json(found))
    else:
        _print(*journal_contents.tables(found))


@journal.command()
def consumers(folder: Folder = DATA, *, as_json: AsJson = False) -> None:
    """List who reads a journal and how far each has come; retention waits for them.

    For example:

        slipring journal consumers

        slipring journal consumers /var/lib/slipring --json
    """
    from slipring.cli import journal_contents
    from slipring.recording.segments import contents

    found = contents(folder)
    if as_json:
        _print_json(journal_contents.consumers_json(found))
    elif found.consumers:
        _print(journal_contents.consumers_table(found))
    else:
        print(f"nobody has noted how far it has read {found.folder}")


@journal.command()
def forget(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The consumer, as listed.")],
    folder: Folder = DATA,
    *,
    as_json: AsJson = False,
) -> None:
    """Forget a consumer, so that retention waits for it no longer. It may come back by itself.

    For example:

        slipring journal forget lake
    """
    from slipring.native import forget_consumer
    from slipring.recording.journal import journal_folder

    place = journal_folder(folder)
    if not place.is_dir():
        raise JournalError(f"there is no journal in {place}")
    try:
        is_gone = forget_consumer(place, name)
    except ValueError as error:
        raise JournalError(str(error)) from None
    if as_json:
        _print_json({"name": name, "forgotten": is_gone})
    elif is_gone:
        print(f"{printable(name)} is forgotten")
    if not is_gone:
        raise JournalError(
            f"{place} has no consumer {name!r}; `slipring journal consumers` lists them"
        )


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def _print(*shown: "Table") -> None:
    from slipring.cli import tables

    tables.show(*shown)
