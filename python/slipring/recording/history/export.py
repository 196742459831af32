"""Samples of a recording into a file: in the order of arrival, or by time. Memory is bounded."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from slipring.errors import JournalDamaged, RecordingError
from slipring.recording.form import Form
from slipring.recording.history.arrow_cells import ArrowCells
from slipring.recording.history.cells import Cells, Layout
from slipring.recording.history.csv_form import CsvForm
from slipring.recording.history.grid import Grid
from slipring.recording.history.mcap_form import McapForm
from slipring.recording.history.parquet_forms import LongParquet, WideParquet
from slipring.recording.history.samples import Samples
from slipring.recording.history.source import Skipped, Source
from slipring.recording.history.survey import Survey
from slipring.recording.history.sweep import Stretch, Sweep
from slipring.recording.moment import format_time
from slipring.recording.output import Output

GRID_ROWS_MAX = 100_000_000

OnProgress = Callable[[int, int], None]
"""Told how many samples are through, and how much of twice the recording is looked at."""


@dataclass(frozen=True)
class Shape:
    """What the file is to look like."""

    form: Form
    is_wide: bool = False
    """A row for each time; CSV is always so."""
    grid_ns: int | None = None
    """Rows at even times instead; then it is wide."""
    has_units: bool = False
    time_name: str = "time"

    @property
    def is_by_time(self) -> bool:
        return self.is_wide or self.grid_ns is not None or self.form is Form.CSV


@dataclass
class Exported:
    """What an export came to."""

    samples: int = 0
    rows: int = 0
    replaced: int = 0
    """Samples with the same parameter and time as a later one, which a wide table has instead."""
    damaged: list[JournalDamaged] = field(default_factory=list)
    skipped: Skipped = field(default_factory=Skipped)


class ByTime(Protocol):
    """Writes rows of a wide table."""

    def write(self, cells: Cells) -> None: ...
    def close(self) -> None: ...


def export_samples(source: Source, out: Output, shape: Shape, on_progress: OnProgress) -> Exported:
    """Write all samples of the chosen parameters."""
    exported = Exported(skipped=source.skipped)
    if shape.is_by_time:
        _by_time(source, out, shape, on_progress, exported)
    else:
        _by_arrival(source, out, shape, on_progress, exported)
    return exported


def _by_arrival(
    source: Source, out: Output, shape: Shape, on_progress: OnProgress, exported: Exported
) -> None:
    if shape.form is Form.MCAP:
        form: McapForm | LongParquet = McapForm(out.stream, source.chosen)
    else:
        form = LongParquet(out.stream, source.chosen, source.recording.identity)
    for batch in source.batches(exported.damaged.append):
        form.write(batch.parts)
        exported.samples += sum(map(len, batch.parts))
        on_progress(exported.samples, batch.end - source.recording.start)
    form.close()
    exported.rows = exported.samples


def _by_time(
    source: Source, out: Output, shape: Shape, on_progress: OnProgress, exported: Exported
) -> None:
    start = source.recording.start
    survey = Survey(source.chosen)
    for batch in source.batches(exported.damaged.append):
        survey.add(batch.parts)
        on_progress(survey.samples, batch.end - start)
    survey.finish()
    layout = Layout(source.chosen, survey.not_good)
    form = _wide_form(source, out, shape, layout)
    looked_at = len(source.recording)
    # What is left out was counted; here it is only looked at again.
    again = dataclasses.replace(source, skipped=Skipped())

    def load(stretch: Stretch) -> list[Samples]:
        nonlocal looked_at
        batches = again.batches(lambda _damage: None, stretch.start, stretch.end)
        parts = [part for batch in batches for part in batch.parts]
        looked_at += stretch.end - stretch.start
        on_progress(exported.samples, looked_at)
        return parts

    exported.samples = survey.samples
    for cells in _rows(Sweep(survey.stretches, load), layout, survey, shape, exported):
        form.write(cells)
        exported.rows += len(cells.times)
    form.close()


def _wide_form(source: Source, out: Output, shape: Shape, layout: Layout) -> ByTime:
    rows = ArrowCells(layout, shape.time_name)
    if shape.form is Form.CSV:
        return CsvForm(out.stream, rows, source.chosen, has_units=shape.has_units)
    return WideParquet(out, rows, layout, source.recording.identity)


def _rows(
    sweep: Sweep, layout: Layout, survey: Survey, shape: Shape, exported: Exported
) -> Iterator[Cells]:
    blocks = (cells for parts in sweep for cells in layout.blocks(parts))
    if shape.grid_ns is None:
        left = survey.samples
        for cells in blocks:
            left -= cells.filled
            yield cells
        exported.replaced = left
        return
    _check_grid(survey, shape.grid_ns)
    grid = Grid(layout, shape.grid_ns)
    for cells in blocks:
        yield from grid.add(cells)
    yield from grid.finish()


def _check_grid(survey: Survey, grid_ns: int) -> None:
    if not survey.stretches:
        return
    first_ns, last_ns = survey.first_ns, survey.last_ns
    rows = (last_ns - first_ns) // grid_ns
    if rows > GRID_ROWS_MAX:
        raise RecordingError(
            f"the samples are from {format_time(first_ns)} to {format_time(last_ns)}: the grid "
            f"would have {rows:,} rows, more than {GRID_ROWS_MAX:,}; take a longer step, or a part "
            "of the recording with --from and --to"
        )
