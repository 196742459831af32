"""The half of `slipring import` that is about samples: a history into a broker."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from slipring.cli import interrupt
from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.history_options import HistoryOptions
from slipring.cli.progress import Shown
from slipring.errors import RecordingError, SlipringError

if TYPE_CHECKING:
    from slipring.recording.history.importing import Rows
    from slipring.recording.history.settling import Settled


async def import_history(path: Path, options: HistoryOptions, access: Access, skip: int) -> None:
    """Declare the parameters of a file, and publish its samples."""
    from slipring.recording.history.importing import Import, Rows
    from slipring.recording.history.open_history import open_history
    from slipring.recording.history.settling import Settled

    file = open_history(path, options.manner())
    async with access.connect() as bus:
        prefix, said = options.prefix or "", options.said(await bus.table())
        settled = interrupt.blocking(lambda: Settled(file, prefix, said))
        publisher = bus.publisher()
        rows = Rows(publisher, skip)
        with _rest_told(rows), Shown("importing", file.total, "rows") as shown:
            blocks = interrupt.heard(file.blocks(settled.types, skip))
            async with publisher:
                await Import(bus, publisher, settled, rows, file.place).run(blocks, shown.tell)
    _tell(rows, settled, access.url)
    if file.earlier:
        told = ", ".join(file.earlier[:5]) + (", ..." if len(file.earlier) > 5 else "")
        print(
            f"slipring: left out: {told}: another parameter has the name now; import it from a "
            "file with a column of another name",
            file=sys.stderr,
        )


def _tell(rows: "Rows", settled: "Settled", url: str) -> None:
    samples = counted(rows.samples, "sample")
    parameters = counted(len(settled.topics), "parameter")
    print(f"{samples} of {parameters}, {counted(rows.arrived, 'row')}, acknowledged by {url}")
    if settled.empty:
        told = ", ".join(settled.empty[:5]) + (", ..." if len(settled.empty) > 5 else "")
        print(f"slipring: no value is in the columns {told}", file=sys.stderr)


@contextlib.contextmanager
def _rest_told(rows: "Rows") -> Iterator[None]:
    """Where it ends early, say what is there and how to go on with the rest of the file."""
    try:
        yield
    except SlipringError as error:
        raise RecordingError(f"{error}; {_rest(rows)}") from None
    except BaseException:
        print(f"slipring: interrupted; {_rest(rows)}", file=sys.stderr)
        raise


def _rest(rows: "Rows") -> str:
    there = counted(rows.arrived, "row")
    return f"{there} acknowledged: go on behind them with --skip {rows.next_row}"
