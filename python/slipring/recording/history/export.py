"""Samples of a recording into a file, by arrival or by time. Memory does not grow with either."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from slipring.errors import JournalDamaged, RecordingError
from slipring.recording.file_format import FileFormat
from slipring.recording.history.read.sample_reader import SampleReader, SkippedFrames
from slipring.recording.history.shape.recorded_samples import RecordedSamples
from slipring.recording.history.shape.time_grid import TimeGrid
from slipring.recording.history.shape.time_merge import MessageRange, TimeMerge
from slipring.recording.history.shape.time_survey import TimeSurvey
from slipring.recording.history.shape.wide_rows import WideLayout, WideRows
from slipring.recording.history.write.arrow_rows import ArrowRows
from slipring.recording.history.write.csv_writer import CsvWriter
from slipring.recording.history.write.long_parquet import LongParquetWriter
from slipring.recording.history.write.mcap_writer import McapWriter
from slipring.recording.history.write.wide_parquet import WideParquetWriter
from slipring.recording.moment import format_time
from slipring.recording.output import Output

GRID_ROWS_MAX = 100_000_000

OnProgress = Callable[[int, int], None]
"""Called with the samples that are read, and the offsets: an export by time reads each twice."""


@dataclass(frozen=True)
class HistoryShape:
    """What the file is to look like."""

    file_format: FileFormat
    is_wide: bool = False
    """A row for each time; CSV always is."""
    grid_ns: int | None = None
    """The step of a time grid; the file is wide then."""
    has_units: bool = False
    time_name: str = "time"

    @property
    def is_by_time(self) -> bool:
        return self.is_wide or self.grid_ns is not None or self.file_format is FileFormat.CSV


@dataclass
class ExportedSamples:
    """The result of an export."""

    samples: int = 0
    rows: int = 0
    replaced: int = 0
    """Samples that are not in a wide table: a later one has the same parameter and time."""
    damaged: list[JournalDamaged] = field(default_factory=list)
    skipped: SkippedFrames = field(default_factory=SkippedFrames)
    withheld: int = 0
    """Messages that the broker does not give to this user."""


def export_samples(
    reader: SampleReader, out: Output, shape: HistoryShape, on_progress: OnProgress
) -> ExportedSamples:
    """Write all samples that the reader gives."""
    export = _SampleExport(reader, out, shape, on_progress, ExportedSamples(skipped=reader.skipped))
    if shape.is_by_time:
        export.by_time()
    else:
        export.by_arrival()
    export.exported.withheld = reader.withheld
    return export.exported


@dataclass
class _SampleExport:
    """One export."""

    reader: SampleReader
    out: Output
    shape: HistoryShape
    on_progress: OnProgress
    exported: ExportedSamples

    def by_arrival(self) -> None:
        columns, recording = self.reader.columns, self.reader.recording
        if self.shape.file_format is FileFormat.MCAP:
            writer: McapWriter | LongParquetWriter = McapWriter(self.out.stream, columns)
        else:
            writer = LongParquetWriter(self.out.stream, columns, recording.identity)
        for batch in self.reader.batches(self.exported.damaged.append):
            writer.write(batch.parts)
            self.exported.samples += sum(map(len, batch.parts))
            self.on_progress(self.exported.samples, batch.end - recording.start)
        writer.close()
        self.exported.rows = self.exported.samples

    def by_time(self) -> None:
        survey = self._survey()
        layout = WideLayout(self.reader.columns, survey.not_good)
        writer = self._wide_writer(layout)
        offsets_read = len(self.reader.recording)
        # The survey has counted the skipped frames.
        again = dataclasses.replace(self.reader, skipped=SkippedFrames())

        def load(some: MessageRange) -> list[RecordedSamples]:
            nonlocal offsets_read
            batches = again.batches(lambda _damage: None, some.start, some.end)
            parts = [part for batch in batches for part in batch.parts]
            offsets_read += some.end - some.start
            self.on_progress(self.exported.samples, offsets_read)
            return parts

        self.exported.samples = survey.samples
        for rows in self._rows(TimeMerge(survey.ranges, load), layout, survey):
            writer.write(rows)
            self.exported.rows += len(rows.times)
        writer.close()

    def _survey(self) -> TimeSurvey:
        survey = TimeSurvey(self.reader.columns)
        for batch in self.reader.batches(self.exported.damaged.append):
            survey.add(batch.parts)
            self.on_progress(survey.samples, batch.end - self.reader.recording.start)
        survey.finish()
        return survey

    def _wide_writer(self, layout: WideLayout) -> CsvWriter | WideParquetWriter:
        rows, columns = ArrowRows(layout, self.shape.time_name), self.reader.columns
        if self.shape.file_format is FileFormat.CSV:
            return CsvWriter(self.out.stream, rows, columns, has_units=self.shape.has_units)
        return WideParquetWriter(self.out, rows, layout, self.reader.recording.identity)

    def _rows(self, merge: TimeMerge, layout: WideLayout, survey: TimeSurvey) -> Iterator[WideRows]:
        by_sample_time = (rows for parts in merge for rows in layout.rows(parts))
        if self.shape.grid_ns is None:
            left = survey.samples
            for rows in by_sample_time:
                left -= rows.filled
                yield rows
            self.exported.replaced = left
            return
        _check_grid(survey, self.shape.grid_ns)
        grid = TimeGrid(layout, self.shape.grid_ns)
        for rows in by_sample_time:
            yield from grid.add(rows)
        yield from grid.finish()


def _check_grid(survey: TimeSurvey, grid_ns: int) -> None:
    if not survey.ranges:
        return
    first_ns, last_ns = survey.first_ns, survey.last_ns
    rows = (last_ns - first_ns) // grid_ns
    if rows > GRID_ROWS_MAX:
        raise RecordingError(
            f"the samples are from {format_time(first_ns)} to {format_time(last_ns)}: the grid "
            f"would have {rows:,} rows, more than {GRID_ROWS_MAX:,}; take a longer step, or a part "
            "of the recording with --from and --to"
        )
