"""The inputs of derived parameters, decoded and thinned where the journal is read.

Only what may count travels through Spark: its rows cost more than decoding does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from slipring.journal.location import Journal
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.pipeline.steps.derive_rows import WORK_SCHEMA, Thinning

COLUMNS = ("parameter", "source_ns", "value", "quality", "offset", "receive_ns")


@dataclass(frozen=True)
class DecodedInputs:
    """For `mapInArrow` over ranges of offsets."""

    journal: Journal
    names: tuple[str, ...]
    thinning: Thinning

    def of(self, ranges: DataFrame) -> DataFrame:
        """Takes rows of start and end; returns the samples that may count."""
        return ranges.mapInArrow(self, from_arrow_schema(WORK_SCHEMA))

    def __call__(self, ranges: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = JournalSamples(self.journal, SampleRequest(COLUMNS, self.names))
        for batch in ranges:
            for row in batch.to_pylist():
                yield from self.thinning(reader.batches(row["start"], row["end"], as_text=False))
