"""What is written to files, and that their statistics never hide a row."""

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import QueryBuilder

from slipring.errors import PipelineError
from slipring.lake.files import FILE_SCHEMA, WrittenFile, file_batch, write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from tests.lake.sample_rows import APP, START_NS, opened, samples

DAY_NS = 86_400 * 10**9
VALUES: list[dict[str, Any]] = [
    {"value": 1.5},
    {"value": -math.inf},
    {"value": math.inf},
    {"value": math.nan},
    {"value": 5.0, "integer": Decimal(2**64 - 1)},
    {"value": -5.0, "integer": Decimal(-(2**63))},
    {"text": "left", "unit": "K"},
    {"bytes": b"\x00\xff"},
]


def with_values(rows: pa.RecordBatch, values: list[dict[str, Any]]) -> pa.RecordBatch:
    """One row for each, with these values and no others."""
    kept = rows.slice(0, len(values))
    names = ("value", "integer", "text", "bytes", "unit")
    found = {name: kept.column(name) for name in kept.schema.names if name not in names}
    for name in names:
        found[name] = pa.array([one.get(name) for one in values], SAMPLES.schema.field(name).type)
    return pa.RecordBatch.from_pydict(found)


@pytest.fixture
def table(tmp_path: Path) -> LakeTable:
    """A file for each of VALUES, so that a query may skip all others, and one with them all."""
    lake = LakeLocation.of(tmp_path)
    table = opened(lake)
    groups = [VALUES, *([one] for one in VALUES)]
    batches = [with_values(samples(0, 20), values) for values in groups]
    files = [file for batch in batches for file in write_file(lake, SAMPLES, [batch])]
    table.commit(files, {APP: 1})
    return table


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("value > 1 and not isnan(value)", 6),
        ("value < 0", 4),
        ("value = 1.5", 2),
        ("value is null", 4),
        ("isnan(value)", 2),
        ("integer = 18446744073709551615", 2),
        ("integer < 0", 2),
        ("text = 'left'", 2),
        ("text = 'right'", 0),
        ("unit = 'K'", 2),
        ("unit is null", 14),
        ("bytes is not null", 2),
        ("kind = 'f64'", 16),
        ("journal = 'another'", 0),
        ("quality = 0", 16),
    ],
)
def test_a_query_finds_all_rows(table: LakeTable, where: str, rows: int) -> None:
    found = QueryBuilder().register("samples", table.delta)
    reader = found.execute(f"select count(*) as n from samples where {where}")
    assert pa.table(reader.read_all()).column("n").to_pylist() == [rows]


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        (pc.field("value") > 1, 6),
        (pc.field("value") < 0, 4),
        (pc.field("value") == math.inf, 2),
        (pc.field("value").is_null(), 4),
        (pc.field("value").is_nan(), 2),
        (pc.field("value") != 1.5, 10),
        (pc.field("text") == "left", 2),
        (pc.field("unit").is_null(), 14),
        (pc.field("integer") == Decimal(2**64 - 1), 2),
        (pc.field("parameter") == "jet/p0", 16),
    ],
)
def test_arrow_finds_all_rows(table: LakeTable, where: pc.Expression, rows: int) -> None:
    assert table.delta.to_pyarrow_dataset().to_table(filter=where).num_rows == rows


def test_rows_are_split_by_day(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    rows = samples(0, 3, start_ns=START_NS, step_ns=DAY_NS)
    files = write_file(lake, SAMPLES, [rows, rows])
    assert [(file.partition["receive_date"], file.rows) for file in files] == [
        ("2026-01-02", 10),
        ("2026-01-03", 10),
        ("2026-01-04", 10),
    ]
    assert all(file.path.startswith(f"receive_date={day}/") for file in files
               for day in file.partition.values())  # fmt: skip


def test_no_rows_make_no_file(tmp_path: Path) -> None:
    assert write_file(LakeLocation.of(tmp_path), SAMPLES, [samples(0, 0)]) == []
    assert write_file(LakeLocation.of(tmp_path), SAMPLES, []) == []


def test_small_batches_share_row_groups_and_dictionaries_hold_what_is_used(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    batches = [samples(start, start + 10, parameters=3) for start in range(0, 100, 10)]
    (file,) = write_file(lake, SAMPLES, batches)
    footer = pq.read_metadata(tmp_path / "samples" / file.path)
    assert (footer.num_row_groups, footer.num_rows) == (1, 300)
    parameter = footer.row_group(0).column(SAMPLES.file_schema.names.index("parameter"))
    assert "RLE_DICTIONARY" in parameter.encodings
    assert (parameter.statistics.min, parameter.statistics.max) == ("jet/p0", "jet/p2")


def test_texts_may_be_plain_in_one_batch_and_a_dictionary_in_another(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    rows = samples(0, 10)
    place = rows.schema.get_field_index("parameter")
    plain = rows.set_column(place, "parameter", rows.column("parameter").cast(pa.string()))
    for batches in ([rows, plain], [plain, rows]):
        (file,) = write_file(lake, SAMPLES, batches)
        names = pq.read_table(tmp_path / "samples" / file.path).column("parameter")
        assert names.to_pylist() == 2 * rows.column("parameter").to_pylist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows.drop_columns(["offset"]), "lack the column offset"),
        (lambda rows: rows.rename_columns([*rows.schema.names[:-1], "of"]), "has no column of"),
        (
            lambda rows: rows.set_column(2, "index", pa.nulls(rows.num_rows, pa.int32())),
            "the column index has 50 nulls",
        ),
    ],
)
def test_rows_that_do_not_fit_are_told(tmp_path: Path, change: Any, words: str) -> None:
    with pytest.raises(PipelineError, match=words):
        write_file(LakeLocation.of(tmp_path), SAMPLES, [change(samples(0, 10))])


def test_files_travel_as_rows(tmp_path: Path) -> None:
    files = write_file(LakeLocation.of(tmp_path), SAMPLES, [samples(0, 10)])
    batch = file_batch(files)
    assert batch.schema == FILE_SCHEMA
    rows = [{**row, "partition": dict(row["partition"])} for row in batch.to_pylist()]
    assert [WrittenFile(**row) for row in rows] == files
