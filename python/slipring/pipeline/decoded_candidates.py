"""The samples that limits are about, decoded and thinned where the journal is read."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.journal import samples
from slipring.journal.location import Journal
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.pipeline.steps.limit_rows import SAMPLE_COLUMNS, thinned


@dataclass(frozen=True)
class DecodedCandidates:
    """For `mapInArrow` over ranges of offsets: only what may begin or end an event travels."""

    journal: Journal
    names: tuple[str, ...]
    """The parameters that have limits."""
    rules: pa.Table

    def of(self, ranges: DataFrame) -> DataFrame:
        """Takes rows of start and end; returns samples, in their order."""
        schema = pa.schema([samples.SCHEMA.field(name) for name in SAMPLE_COLUMNS])
        return ranges.mapInArrow(self, from_arrow_schema(schema))

    def __call__(self, ranges: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = JournalSamples(self.journal, SampleRequest(SAMPLE_COLUMNS, self.names))
        for batch in ranges:
            for row in batch.to_pylist():
                for found in reader.batches(row["start"], row["end"]):
                    yield from thinned(pa.Table.from_batches([found]), self.rules).to_batches()
