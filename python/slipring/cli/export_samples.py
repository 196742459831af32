"""The half of `slipring export` that is about samples: where definitions are, what is told."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.progress import Shown
from slipring.cli.sample_options import SampleOptions
from slipring.errors import JournalDamaged

if TYPE_CHECKING:
    from slipring.recording.history.definitions import Definitions
    from slipring.recording.history.export import Exported, Shape
    from slipring.recording.journal import Recording
    from slipring.recording.output import Output


@dataclass(frozen=True)
class Came:
    """What an export came to, in words."""

    what: str
    notes: list[str]
    damaged: list[JournalDamaged]


def export_samples(
    recorded: "Recording",
    options: SampleOptions,
    shape: "Shape",
    access: Access,
    out: "Output",
) -> Came:
    """Write the samples that are asked for."""
    from slipring.recording.history.export import export_samples as write
    from slipring.recording.history.source import Source

    definitions = _definitions(recorded, access)
    source = Source(recorded, options.choose(definitions, recorded.name))
    # A table by time is looked at twice.
    total = len(recorded) * (2 if shape.is_by_time else 1)
    with Shown("exporting", total, "samples") as shown:
        exported = write(source, out, shape, shown.tell)
    notes = [f"the definitions: {flaw}" for flaw in definitions.flaws]
    return Came(_what(exported, shape), [*notes, *_notes(exported)], exported.damaged)


def _definitions(recorded: "Recording", access: Access) -> "Definitions":
    from slipring.recording.history.definitions import Definitions, of_broker, of_journal

    if recorded.folder is not None:
        return of_journal(recorded.folder)

    async def ask() -> Definitions:
        async with access.connect() as bus:
            return await of_broker(bus)

    return asyncio.run(ask())


def _what(exported: "Exported", shape: "Shape") -> str:
    samples = counted(exported.samples, "sample")
    return f"{samples}, {counted(exported.rows, 'row')}" if shape.is_by_time else samples


def _notes(exported: "Exported") -> Iterator[str]:
    if exported.replaced:
        yield (
            f"{counted(exported.replaced, 'sample')} had the parameter and the time of a later "
            "one, which stands there instead; a long Parquet file or MCAP has them all"
        )
    if exported.skipped.of_other_tables:
        frames = counted(exported.skipped.of_other_tables, "frame")
        yield f"left out: {frames} of another table, whose parameters this journal does not know"
    if exported.skipped.unreadable:
        yield f"left out: {counted(exported.skipped.unreadable, 'frame')} that cannot be read"
