"""The newest sample of each parameter at or before a time: looked for backwards, within bounds."""
# ruff: noqa: S608 (values are quoted, and a query cannot write)

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from slipring.errors import JournalError
from slipring.history.budget import ReadBudget
from slipring.history.journal_part import CHEAP_BYTES, CHUNK_BYTES, JournalHistory, newest_first
from slipring.history.question import KnownParameter
from slipring.history.steps import DAY_NS, MINUTE_NS, SECOND_NS
from slipring.journal.samples import JournalSamples, SampleRequest

COLUMNS = ("value", "integer", "text", "bytes", "quality")
LATE_NS = 2 * SECOND_NS
"""A sample that was received later than this after the time is not looked for."""
BYTES_MAX = 64 << 20
SECONDS_MAX = 1.5
"""What looking back may read of the journal, and how long it may take."""
LOOK_BACK_NS = (10 * SECOND_NS, 10 * MINUTE_NS, DAY_NS)
"""How far it looks back in the lake, one after the other."""
STATUSES = ("good", "uncertain", "bad", "stale")


@dataclass(frozen=True)
class ValueAt:
    """A sample as people read it: an enumeration has its label, bytes are bytes."""

    value: Any
    time_ns: int
    quality: str


Found = dict[str, ValueAt]


def values_budget() -> ReadBudget:
    """What one question for values may cost."""
    return ReadBudget(BYTES_MAX, SECONDS_MAX)


def journal_values(
    journal: JournalHistory,
    names: Sequence[str],
    at_ns: int,
    known: Mapping[str, KnownParameter],
    budget: ReadBudget,
) -> Found:
    """Look back in the journal until all are found, or the budget is spent."""
    found: Found = {}
    extent = journal.extent()
    end = min(extent.end, journal.reader.offset_at(at_ns + LATE_NS))
    if extent.bytes_between(end, extent.end) <= CHEAP_BYTES:
        end = extent.end
    request = SampleRequest(("parameter", "source_ns", *COLUMNS), tuple(names), (0, at_ns + 1))
    samples = JournalSamples(journal.journal, request)
    for begin, stop in newest_first(journal.reader.first_offset, end, extent, CHUNK_BYTES):
        if budget.is_spent or len(found) == len(names):
            break
        budget.spend(extent.bytes_between(begin, stop))
        try:
            rows = [_newest_rows(one) for one in samples.batches(begin, stop)]
        except JournalError:
            break
        samples.set_aside.clear()
        newest: Found = {}
        for one in rows:
            newest |= values_of_rows(one.to_pylist(), known, newest)
        found = newest | found
    return found


def lake_sql(where: str) -> str:
    """The newest row of each parameter."""
    columns = ", ".join(
        f'last_value({one} ORDER BY source_ns, "offset") AS {one}' for one in COLUMNS
    )
    return (
        f"SELECT parameter, max(source_ns) AS source_ns, {columns} FROM samples WHERE {where} "
        "GROUP BY parameter"
    )


def values_of_rows(
    rows: Iterable[Mapping[str, Any]], known: Mapping[str, KnownParameter], before: Found
) -> Found:
    """Rows of samples as values, where they are newer than those that were found before."""
    found: Found = {}
    for row in rows:
        name = row["parameter"]
        earlier = before.get(name)
        if earlier is None or row["source_ns"] >= earlier.time_ns:
            quality = STATUSES[row["quality"] >> 6 & 3]
            found[name] = ValueAt(_value(row, known[name]), row["source_ns"], quality)
    return found


def _newest_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The newest row of each parameter; of several at one time, the last."""
    codes = np.asarray(batch.column("parameter").dictionary_encode().indices)
    times = np.asarray(batch.column("source_ns").to_numpy(zero_copy_only=False))
    order = np.lexsort((times, codes))
    is_last = np.append(np.diff(codes[order]) != 0, [True]) if len(order) else np.empty(0, bool)
    return batch.take(pa.array(order[is_last]))


def _value(row: Mapping[str, Any], known: KnownParameter) -> Any:
    if known.is_text:
        return row["text"] if row["text"] is not None else row["bytes"]
    if known.labels is not None and row["value"] is not None:
        return known.labels.get(int(row["value"]), int(row["value"]))
    if known.type == "bool" and row["value"] is not None:
        return bool(row["value"])
    if row["integer"] is not None:
        return int(row["integer"])
    is_whole = known.type[:1] in "ui" and row["value"] is not None
    return int(row["value"]) if is_whole else row["value"]
