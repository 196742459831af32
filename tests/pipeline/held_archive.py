"""`slipring pipeline run`, held at every step between read and commit until it is told to go on.

Usage: held_archive.py CARE ARGUMENT...; the arguments are those of `slipring`. At each step it
prints `step NAME` and waits for a line. With CARE `upkeep` it compacts the lake instead, which is
then the only argument.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

from slipring.cli import main
from slipring.lake.files import put_file, write_file
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.lake.upkeep import TableUpkeep, UpkeepPolicy
from slipring.pipeline import range_files
from slipring.pipeline.archive_table import ArchiveTable
from slipring.pipeline.destination import Destination

LATER = timedelta(hours=3)
"""So much later every slice of time is over, and its files are made one."""


def hold(step: str) -> None:
    sys.stdout.write(f"step {step}\n")
    sys.stdout.flush()
    sys.stdin.readline()


def held(
    found: Callable[..., Any], before: Callable[..., str], after: Callable[..., str]
) -> Callable[..., Any]:
    """The function, held before and after it; an empty name is no step."""

    @wraps(found)
    def watched(*given: Any, **options: Any) -> Any:
        if step := before(*given):
            hold(step)
        made = found(*given, **options)
        if step := after(*given):
            hold(step)
        return made

    return watched


def nothing(*_: object) -> str:
    return ""


def hold_the_archive() -> None:
    """Replace what the archive calls, from reading the positions to noting the new one."""
    archive: Any = ArchiveTable
    destination: Any = Destination
    files: Any = range_files
    destination.target = held(Destination.target, nothing, lambda *_: "begun")
    for name, write in (("write_file", write_file), ("put_file", put_file)):
        before = nothing if name == "write_file" else lambda *_: "decoded"
        setattr(files, name, held(write, before, lambda _, spec, *__: f"written {spec.name}"))
    archive.commit = held(
        ArchiveTable.commit,
        lambda table, *_: "writing done" if table.table.spec.name == "set_aside" else "",
        lambda table, *_: f"committed {table.table.spec.name}",
    )
    destination.commit = held(Destination.commit, nothing, lambda *_: "noted")


def compact(lake: str, *, is_held: bool) -> int:
    """Compact all tables of the archive; how many files were replaced."""
    if is_held:
        table: Any = LakeTable
        table.commit = held(LakeTable.commit, lambda *_: "compacted", nothing)
    where, replaced = LakeLocation.of(lake), 0
    for spec in range_files.SPECS.values():
        care = TableUpkeep(where, spec, UpkeepPolicy())
        replaced += care.turn(datetime.now(UTC) + LATER).compacted_files
    return replaced


if __name__ == "__main__":
    care, *arguments = sys.argv[1:]
    if care == "upkeep":
        compact(arguments[0], is_held=True)
    else:
        hold_the_archive()
        sys.argv[1:] = arguments
        main()
