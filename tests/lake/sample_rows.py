"""Samples of made-up parameters, sorted as a table has them."""

import pyarrow as pa

from slipring.lake.files import WrittenFile, constant, write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.lake.table_spec import TableSpec

START_NS = 1_767_348_000 * 10**9
"""2026-01-02T10:00:00Z."""
SECOND_NS = 10**9
HOUR_NS = 3600 * SECOND_NS
APP = "slipring/a-journal"


def samples(
    start: int, end: int, *, parameters: int = 5, start_ns: int = START_NS, step_ns: int = SECOND_NS
) -> pa.RecordBatch:
    """A sample of each parameter for each offset of a range, by parameter and time."""
    places = [(index, offset) for index in range(parameters) for offset in range(start, end)]
    times = [start_ns + offset * step_ns for _, offset in places]
    stamps = pa.array([ns // 1000 for ns in times]).cast(pa.timestamp("us", tz="UTC"))
    return pa.RecordBatch.from_pydict(
        {
            "journal": constant("a-journal", len(places)),
            "parameter": pa.array([f"jet/p{index}" for index, _ in places]).dictionary_encode(),
            "index": pa.array([index for index, _ in places], pa.int32()),
            "source_time": stamps,
            "source_ns": pa.array(times),
            "receive_time": stamps,
            "receive_ns": pa.array(times),
            "value": pa.array([index + offset / 1000 for index, offset in places]),
            "quality": pa.array([0] * len(places), pa.int16()),
            "kind": constant("f64", len(places)),
            "offset": pa.array([offset for _, offset in places]),
        }
    )


def put(
    table: LakeTable, lake: LakeLocation, start: int, end: int, *, start_ns: int = START_NS
) -> list[WrittenFile]:
    """Write and commit a range of offsets."""
    files = write_file(lake, table.spec, [samples(start, end, start_ns=start_ns)])
    table.commit(files, {APP: end}, after={APP: start or None})
    return files


def rows_of(table: LakeTable, columns: tuple[str, ...] = ("index", "offset", "value")) -> pa.Table:
    """All rows of the newest version, in order."""
    table.delta.update_incremental()
    rows = table.delta.to_pyarrow_table()
    order = [(name, "ascending") for name in ("index", "offset")]
    return rows.sort_by(order).select(list(columns))


def opened(lake: LakeLocation, spec: TableSpec = SAMPLES) -> LakeTable:
    return LakeTable.open(lake, spec)
