"""Rows of a range of offsets, by what is asked for. Knows no Spark."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from slipring.journal.columns import read_batches
from slipring.journal.frame_rows import read_frames
from slipring.journal.location import Journal
from slipring.journal.rollup import read_rollup
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.native import match_topics
from slipring.spark.options import RANGES_SCHEMA, SourceOptions

# A Spark task costs more than reading this much.
PARTITION_BYTES_MIN = 512 << 10


def read_rows(
    options: SourceOptions, journal: Journal, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """The rows of the offsets [start, end) that the options ask for."""
    if options.deliver == "ranges":
        row = [pa.array([start]), pa.array([end])]
        return iter([pa.record_batch(row, schema=RANGES_SCHEMA)])
    if options.deliver in ("messages", "frames"):
        return _by_topic(options, journal, start, end)
    request = SampleRequest(options.columns, options.filters, options.source_ns)
    if options.deliver == "rollup":
        return read_rollup(
            journal, start, end, options.window_ns, request=request, names=options.columns
        )
    return JournalSamples(journal, request).batches(start, end)


def _by_topic(
    options: SourceOptions, journal: Journal, start: int, end: int
) -> Iterator[pa.RecordBatch]:
    wanted = options.columns
    names = wanted if not options.filters or "topic" in wanted else (*wanted, "topic")
    read = read_batches if options.deliver == "messages" else read_frames
    for batch in read(journal, start, end, names):
        found = _matching(batch, options.filters) if options.filters else batch
        yield found.select(list(wanted)) if names != wanted else found


def _matching(batch: pa.RecordBatch, filters: Sequence[str]) -> pa.RecordBatch:
    """The rows whose topics a filter matches. Each topic is looked at once."""
    topics = batch.column("topic").dictionary_encode()
    chosen = match_topics(filters, topics.dictionary.to_pylist())
    return batch.filter(pc.take(pa.array(chosen, pa.bool_()), topics.indices))
