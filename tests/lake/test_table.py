"""Commits to a table of the lake, in a folder and on a real S3 server (D1)."""

import pickle
from dataclasses import replace

import pyarrow as pa
import pytest

from slipring.errors import LakeConflict, PipelineError
from slipring.lake.files import write_file
from slipring.lake.specs import SAMPLES, TABLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from tests.lake.sample_rows import APP, START_NS, opened, put, rows_of, samples

GROWN = replace(SAMPLES, schema=SAMPLES.schema.append(pa.field("flag", pa.string())))


def test_rows_are_visible_when_they_are_committed_and_not_before(lake: LakeLocation) -> None:
    table = opened(lake)
    files = write_file(lake, SAMPLES, [samples(0, 10)])
    assert rows_of(table).num_rows == 0
    table.commit(files, {APP: 10, f"{APP}/epoch": 7})
    assert rows_of(table).num_rows == sum(file.rows for file in files) == 50
    again = opened(lake)
    assert (again.committed(APP), again.committed(f"{APP}/epoch")) == (10, 7)
    assert again.committed("another") is None


def test_workers_get_a_copy_of_the_location_and_write_there(lake: LakeLocation) -> None:
    table = opened(lake)
    copy: LakeLocation = pickle.loads(pickle.dumps(lake))
    table.commit(write_file(copy, SAMPLES, [samples(0, 3)]), {APP: 3})
    assert rows_of(table).num_rows == 15


def test_the_same_batch_twice_is_refused_and_changes_nothing(lake: LakeLocation) -> None:
    table = opened(lake)
    put(table, lake, 0, 10)
    files = write_file(lake, SAMPLES, [samples(0, 10)])
    with pytest.raises(LakeConflict, match="it was at None and is at 10"):
        table.commit(files, {APP: 10}, after={APP: None})
    assert rows_of(table).num_rows == 50


def test_of_two_writers_that_saw_the_same_state_one_is_refused(lake: LakeLocation) -> None:
    first, second = opened(lake), opened(lake)
    put(first, lake, 0, 10)
    with pytest.raises(LakeConflict):
        put(second, lake, 0, 10)
    assert rows_of(second).num_rows == 50
    put(second, lake, 10, 20)
    assert rows_of(second).num_rows == 100


def test_writers_of_different_applications_do_not_disturb_each_other(lake: LakeLocation) -> None:
    first, second = opened(lake), opened(lake)
    put(first, lake, 0, 10)
    second.commit(write_file(lake, SAMPLES, [samples(50, 60)]), {"slipring/other": 60})
    assert (second.committed(APP), first.committed("slipring/other")) == (10, 60)
    assert rows_of(first).num_rows == 100


def test_files_are_replaced_in_one_transaction(lake: LakeLocation) -> None:
    table = opened(lake)
    old = put(table, lake, 0, 10)
    new = write_file(lake, SAMPLES, [samples(0, 7)])
    table.commit(new, {APP: 11}, remove=[file.path for file in old])
    assert rows_of(table).num_rows == 35
    assert table.committed(APP) == 11


@pytest.mark.parametrize("rearranged_ms", [None, 1])
def test_of_two_writers_that_replace_one_file_one_is_refused(
    lake: LakeLocation, rearranged_ms: int | None
) -> None:
    first, second = opened(lake), opened(lake)
    old = [file.path for file in put(first, lake, 0, 10)]
    second.committed(APP)
    new = [write_file(lake, SAMPLES, [samples(0, 10)]) for _ in range(2)]
    first.commit(new[0], {}, remove=old, rearranged_ms=rearranged_ms)
    with pytest.raises(LakeConflict, match="another writer has removed"):
        second.commit(new[1], {}, remove=old, rearranged_ms=rearranged_ms)
    assert rows_of(first).num_rows == 50


def test_writers_that_replace_different_files_both_succeed(lake: LakeLocation) -> None:
    first, second = opened(lake), opened(lake)
    one, two = put(first, lake, 0, 10), put(first, lake, 10, 20)
    second.committed(APP)
    first.commit([], {}, remove=[file.path for file in one])
    second.commit([], {}, remove=[file.path for file in two])
    assert rows_of(first).num_rows == 0


def test_a_table_grows_by_columns_and_old_rows_are_null_there(lake: LakeLocation) -> None:
    old = opened(lake)
    put(old, lake, 0, 10)
    grown = opened(lake, GROWN)
    rows = samples(10, 20)
    flags = pa.array(["new"] * rows.num_rows)
    rows = pa.RecordBatch.from_arrays([*rows.columns, flags], [*rows.schema.names, "flag"])
    grown.commit(write_file(lake, GROWN, [rows]), {APP: 20})
    assert rows_of(grown, ("flag",)).column(0).to_pylist().count("new") == 50
    assert rows_of(grown, ("flag",)).num_rows == 100


def test_a_writer_of_the_older_form_goes_on_while_the_table_grows(lake: LakeLocation) -> None:
    old = opened(lake)
    put(old, lake, 0, 10)
    opened(lake, GROWN)
    put(old, lake, 10, 20)
    grown = opened(lake, GROWN)
    assert rows_of(grown, ("flag", "offset")).num_rows == 100


def test_what_cannot_grow_is_told(lake: LakeLocation) -> None:
    opened(lake)
    needed = pa.field("flag", pa.string(), nullable=False)
    with pytest.raises(PipelineError, match="flag, which may not be null"):
        opened(lake, replace(SAMPLES, schema=SAMPLES.schema.append(needed)))
    place = SAMPLES.schema.get_field_index("quality")
    other = SAMPLES.schema.set(place, pa.field("quality", pa.string(), nullable=False))
    with pytest.raises(PipelineError, match=r"quality is .*short.*, not .*string"):
        opened(lake, replace(SAMPLES, schema=other))


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_made_written_and_read(lake: LakeLocation, name: str) -> None:
    spec = TABLES[name]
    table = LakeTable.open(lake, spec)
    row = {one.name: _value(one.type) for one in spec.file_schema if not one.nullable}
    schema = pa.schema([one for one in spec.file_schema if not one.nullable])
    files = write_file(lake, spec, [pa.RecordBatch.from_pylist([row], schema=schema)])
    table.commit(files, {APP: 1})
    assert table.delta.to_pyarrow_table().select(schema.names).to_pylist() == [row]
    assert set(spec.sort_by) <= {one.name for one in schema if pa.types.is_integer(one.type)}


def _value(kind: pa.DataType) -> object:
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return "x" if pa.types.is_string(kind) else b"x"
    if pa.types.is_timestamp(kind):
        return pa.scalar(START_NS // 1000, kind).as_py()
    return True if pa.types.is_boolean(kind) else 1
