"""The half of `slipring export` that is about samples: finds their definitions, and sums up."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipring.cli.access import Access
from slipring.cli.display import counted
from slipring.cli.progress import ProgressDisplay
from slipring.cli.sample_options import SampleOptions
from slipring.errors import JournalDamaged

if TYPE_CHECKING:
    from slipring.recording.history.export import ExportedSamples, HistoryShape
    from slipring.recording.history.read.definitions import Definitions
    from slipring.recording.history.read.sample_reader import SkippedFrames
    from slipring.recording.output import Output
    from slipring.recording.recording import Recording


@dataclass(frozen=True)
class ExportSummary:
    """The result of an export, in words."""

    what: str
    notes: list[str]
    damaged: list[JournalDamaged]


def export_samples(
    recorded: "Recording",
    options: SampleOptions,
    shape: "HistoryShape",
    access: Access,
    out: "Output",
) -> ExportSummary:
    """Write the samples that are asked for."""
    from slipring.recording.history.export import export_samples as write
    from slipring.recording.history.read.sample_reader import SampleReader

    definitions = _definitions(recorded, access)
    reader = SampleReader(recorded, options.choose(definitions, recorded.name))
    # An export by time reads the recording twice.
    total = len(recorded) * (2 if shape.is_by_time else 1)
    with ProgressDisplay("exporting", total, "samples") as shown:
        exported = write(reader, out, shape, shown.tell)
    notes = [f"the definitions: {flaw}" for flaw in definitions.flaws]
    return ExportSummary(_what(exported, shape), [*notes, *_notes(exported)], exported.damaged)


def _definitions(recorded: "Recording", access: Access) -> "Definitions":
    from slipring.recording.history.read.definitions import Definitions, of_broker, of_journal

    if recorded.folder is not None:
        return of_journal(recorded.folder)

    async def ask() -> Definitions:
        async with access.connect() as bus:
            return await of_broker(bus)

    return asyncio.run(ask())


def _what(exported: "ExportedSamples", shape: "HistoryShape") -> str:
    samples = counted(exported.samples, "sample")
    return f"{samples}, {counted(exported.rows, 'row')}" if shape.is_by_time else samples


def _notes(exported: "ExportedSamples") -> Iterator[str]:
    if exported.replaced:
        yield (
            f"{counted(exported.replaced, 'sample')} had the parameter and the time of a later "
            "one, which replaced it; a long Parquet file or MCAP has them all"
        )
    yield from (f"left out: {words}" for words in skipped_words(exported.skipped))
    yield from withheld_words(exported.withheld)


def withheld_words(withheld: int) -> Iterator[str]:
    """The messages that the broker kept back, in words."""
    if withheld:
        yield (
            f"left out: {counted(withheld, 'message')} that you may not read; "
            "that needs the right `journal` on their topics"
        )


def skipped_words(skipped: "SkippedFrames") -> Iterator[str]:
    """The frames of which no sample was read, in words."""
    if skipped.of_other_tables:
        frames = counted(skipped.of_other_tables, "frame")
        yield f"{frames} of another table, whose parameters this journal does not know"
    if skipped.unreadable:
        yield f"{counted(skipped.unreadable, 'frame')} that cannot be read"
