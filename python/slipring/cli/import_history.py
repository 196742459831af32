"""The half of `slipring import` that is about samples: from a file into a broker."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.cli import interrupt
from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.history_options import HistoryOptions
from slipring.cli.progress import ProgressDisplay
from slipring.errors import RecordingError, SlipringError

if TYPE_CHECKING:
    from slipring.recording.history.importing import RowProgress
    from slipring.recording.history.read.import_columns import ImportColumns
    from slipring.recording.importing import MessageProgress

RECONNECT_S = 30.0
"""How long an import waits for a broker that is gone, before it says what arrived and ends."""


async def import_history(path: Path, options: HistoryOptions, access: Access, skip: int) -> None:
    """Declare the parameters of a file, and publish its samples."""
    from slipring.recording.history.importing import RowProgress, SampleImport
    from slipring.recording.history.read.import_columns import ImportColumns
    from slipring.recording.history.read.open_history import ReadOptions, open_history

    read_options = ReadOptions(options.time_column, options.time_format, options.units)
    file = open_history(path, read_options)
    async with access.connect(reconnect_s=RECONNECT_S) as bus:
        prefix, given = options.prefix or "", options.given(await bus.table())
        with interrupt.blocking():
            columns = ImportColumns(file, prefix, given)
        publisher = bus.publisher()
        progress = RowProgress(publisher, skip)

        def arrived() -> str:
            return f"{counted(progress.arrived, 'row')} acknowledged"

        with (
            resume_hint(arrived, progress),
            ProgressDisplay("importing", file.total, "rows") as shown,
        ):
            blocks = interrupt.interruptible(file.blocks(columns.types, skip))
            async with publisher:
                samples = SampleImport(bus, publisher, columns, progress, file.where)
                await samples.run(blocks, shown.tell)
    _tell(progress, columns, access.url)
    if file.earlier:
        told = ", ".join(file.earlier[:5]) + (", ..." if len(file.earlier) > 5 else "")
        print(
            f"slipring: left out: {told}: another parameter has the name now; import it from a "
            "file with a column of another name",
            file=sys.stderr,
        )


def _tell(progress: "RowProgress", columns: "ImportColumns", url: str) -> None:
    samples = counted(progress.samples, "sample")
    parameters = counted(len(columns.topics), "parameter")
    print(f"{samples} of {parameters}, {counted(progress.arrived, 'row')}, acknowledged by {url}")
    if columns.empty:
        told = ", ".join(columns.empty[:5]) + (", ..." if len(columns.empty) > 5 else "")
        print(f"slipring: no value is in the columns {told}", file=sys.stderr)


@contextlib.contextmanager
def resume_hint(
    arrived: Callable[[], str], progress: "RowProgress | MessageProgress"
) -> Iterator[None]:
    """If the import ends early, say what has arrived and how to import the rest of the file."""

    def rest() -> str:
        return f"{arrived()}: continue after them with --skip {progress.next_row}"

    try:
        yield
    except SlipringError as error:
        raise RecordingError(f"{error}; {rest()}") from None
    except BaseException:
        print(f"slipring: interrupted; {rest()}", file=sys.stderr)
        raise
