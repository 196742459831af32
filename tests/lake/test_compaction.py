"""Compaction: the same rows in few sorted files, beside a writer that goes on (D1)."""

import os
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slipring.errors import LakeConflict
from slipring.lake import compaction, merge
from slipring.lake.compaction import Chain, PlannedMerge, Stopped, compact, plan
from slipring.lake.files import WrittenFile, write_file
from slipring.lake.specs import MESSAGES, ROLLUPS, SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from tests.lake.sample_rows import APP, HOUR_NS, START_NS, opened, put, rows_of, samples

GO_ON = threading.Event()
START = datetime.fromtimestamp(START_NS / 10**9, UTC)
LONG_AFTER = START + timedelta(days=400)


def all_chains(table: LakeTable, *, is_last: bool = True) -> PlannedMerge:
    return PlannedMerge(tuple(Chain(0, (file,)) for file in table.files()), is_last)


def filled(lake: LakeLocation, batches: int = 8, size: int = 10) -> LakeTable:
    table = opened(lake)
    for start in range(0, batches * size, size):
        put(table, lake, start, start + size)
    return table


def assert_sorted(table: LakeTable, written: WrittenFile) -> None:
    with table.location.filesystem().open_input_file(written.path) as file:
        rows = pq.read_table(file).select(SAMPLES.sort_by)
    assert rows.equals(rows.sort_by([(name, "ascending") for name in SAMPLES.sort_by]))


def test_compacted_rows_are_equal_row_by_row(lake: LakeLocation) -> None:
    table = filled(lake)
    names = tuple(SAMPLES.schema.names)
    before, versions = rows_of(table, names), table.committed(APP)
    (written,) = compact(table, all_chains(table), GO_ON)
    assert rows_of(table, names).equals(before)
    assert (len(table.files()), table.committed(APP)) == (1, versions)
    assert_sorted(table, written)
    history = table.delta.history(1)[0]
    assert history["operation"] == "WRITE"


def test_compaction_is_no_change_of_data_in_the_log(tmp_path: Path) -> None:
    table = filled(LakeLocation.of(tmp_path))
    compact(table, all_chains(table), GO_ON)
    newest = max((tmp_path / "samples" / "_delta_log").glob("*.json")).read_text()
    assert '"dataChange":false' in newest
    assert '"dataChange":true' not in newest


@pytest.mark.parametrize(("rows", "group"), [(1, 64), (7, 3), (100, 11)])
def test_rows_are_merged_in_any_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, group: int
) -> None:
    monkeypatch.setattr(merge, "BATCH_ROWS_MAX", rows)
    monkeypatch.setattr(merge, "BATCH_ROWS_MIN", 1)
    monkeypatch.setattr(compaction, "FILE_BYTES", 6_000)
    lake, spec = LakeLocation.of(tmp_path), replace(SAMPLES, group_rows=group)
    table = opened(lake, spec)
    for number, (start, end) in enumerate([(0, 5), (5, 40), (40, 41), (41, 60)]):
        # Times of the third are before those of the others: batches may overlap.
        late_ns = -30 * 10**9 if number == 2 else 0
        put(table, lake, start, end, start_ns=START_NS + late_ns)
    before = rows_of(table)
    files = compact(table, all_chains(table), GO_ON)
    assert rows_of(table).equals(before)
    assert len(files) > 1
    for file in files:
        assert_sorted(table, file)
    held = [*range(5)]
    for one in sorted(table.files(), key=lambda one: str(one.least["index"])):
        assert one.least["index"] == held[0]
        held = [index for index in held if index > int(str(one.most["index"]))]


def test_a_file_that_is_not_sorted_is_sorted_first(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = filled(lake, 2)
    rows = samples(20, 30)
    backwards = rows.take(pa.array(range(rows.num_rows - 1, -1, -1)))
    table.commit(write_file(lake, SAMPLES, [backwards]), {APP: 30})
    before = rows_of(table)
    compact(table, all_chains(table), GO_ON)
    assert rows_of(table).equals(before)
    assert len(list((tmp_path / "samples").rglob("*.parquet"))) == 4


def test_one_parameter_is_read_from_few_row_groups(tmp_path: Path) -> None:
    lake, spec = LakeLocation.of(tmp_path), replace(SAMPLES, group_rows=50)
    table = opened(lake, spec)
    for start in range(0, 100, 10):
        rows = samples(start, start + 10, parameters=40)
        table.commit(write_file(lake, spec, [rows]), {APP: start + 10})
    (file,) = compact(table, all_chains(table), GO_ON)
    footer = pq.read_metadata(tmp_path / "samples" / file.path)
    place = SAMPLES.file_schema.names.index("index")
    bounds = [
        footer.row_group(group).column(place).statistics for group in range(footer.num_row_groups)
    ]
    assert len(bounds) == 80
    assert sum(one.min <= 7 <= one.max for one in bounds) <= 3


@pytest.mark.timeout(60)
def test_times_that_are_further_apart_than_an_int64_are_merged_in_order(tmp_path: Path) -> None:
    """A clock that was never set: its time is 285 years before 1970."""
    lake, table = LakeLocation.of(tmp_path), opened(LakeLocation.of(tmp_path))
    order = [(name, "ascending") for name in SAMPLES.sort_by]
    rows = [samples(0, 2, start_ns=start_ns) for start_ns in (START_NS, -9 * 10**18)]
    one_file = pa.Table.from_batches(rows).sort_by(order).combine_chunks().to_batches()
    for batches in (one_file, rows[:1]):
        files = write_file(lake, SAMPLES, batches, {"receive_date": "2026-01-02"})
        table.commit(files, {})
    (written,) = compact(table, all_chains(table), GO_ON)
    assert_sorted(table, written)
    assert written.rows == 30


def test_an_old_form_and_a_grown_one_are_merged(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    put(opened(lake), lake, 0, 10)
    grown = replace(SAMPLES, schema=SAMPLES.schema.append(pa.field("flag", pa.string())))
    table = opened(lake, grown)
    rows = samples(10, 20)
    flags = pa.array(["new"] * rows.num_rows)
    rows = pa.RecordBatch.from_arrays([*rows.columns, flags], [*rows.schema.names, "flag"])
    table.commit(write_file(lake, grown, [rows]), {APP: 20})
    before = rows_of(table, ("index", "offset", "flag"))
    compact(table, all_chains(table), GO_ON)
    assert rows_of(table, ("index", "offset", "flag")).equals(before)


def test_a_writer_goes_on_while_files_are_compacted(lake: LakeLocation) -> None:
    """Neither may lose or double a row, and neither makes the other fail."""
    filled(lake, 4)
    ready, done = threading.Barrier(2), threading.Event()
    failures: list[Exception] = []

    def append() -> None:
        try:
            table = opened(lake)
            ready.wait(60)
            for start in range(40, 140, 10):
                table.committed(APP)
                put(table, lake, start, start + 10)
        except Exception as error:  # noqa: BLE001
            failures.append(error)
        finally:
            done.set()

    writer = threading.Thread(target=append)
    writer.start()
    table, rounds = opened(lake), 0
    ready.wait(60)
    while not done.is_set() or rounds == 0:
        table.delta.update_incremental()
        compact(table, all_chains(table), GO_ON)
        rounds += 1
    writer.join(60)
    assert not failures
    assert table.committed(APP) == 140
    assert rows_of(table).select(["index", "offset"]).to_pylist() == [
        {"index": index, "offset": offset} for index in range(5) for offset in range(140)
    ]


def test_of_two_compactions_of_the_same_files_one_is_refused(lake: LakeLocation) -> None:
    table = filled(lake)
    other = opened(lake)
    chains = all_chains(other)
    compact(table, all_chains(table), GO_ON)
    before = rows_of(table)
    with pytest.raises(LakeConflict):
        compact(other, chains, GO_ON)
    assert rows_of(table).equals(before)


def test_a_compaction_that_is_stopped_leaves_nothing_behind(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = filled(lake)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        compact(table, all_chains(table), stop)
    assert len(list((tmp_path / "samples").rglob("*.parquet"))) == len(table.files()) == 8


def test_a_slice_of_time_becomes_one_chain_when_it_is_over(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = filled(lake, 3)
    put(table, lake, 30, 40, start_ns=START_NS + HOUR_NS)
    ended = START + timedelta(minutes=SAMPLES.slice_minutes)
    assert plan(table.files(), SAMPLES, ended) == []
    (planned,) = plan(table.files(), SAMPLES, LONG_AFTER)
    assert (len(planned.chains), planned.is_last) == (3, True)
    compact(table, planned, GO_ON)
    assert plan(table.files(), SAMPLES, LONG_AFTER) == []
    assert len(table.files()) == 2


def test_small_chains_of_an_open_slice_are_merged_as_they_gather(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "GATHERED_CHAINS", 4)
    monkeypatch.setattr(compaction, "FAN_IN", 4)
    table = filled(LakeLocation.of(tmp_path), 32)
    before, turns = rows_of(table), 0
    while due := plan(table.files(), SAMPLES, START):
        compact(table, due[0], GO_ON)
        turns += 1
    # 32 files make 8 chains, these make 2.
    assert (turns, len(table.files())) == (10, 2)
    assert rows_of(table).equals(before)


def test_a_large_chain_is_not_written_again_for_a_few_late_rows(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = filled(lake, 2, size=2000)
    compact(table, all_chains(table), GO_ON)
    put(table, lake, 4000, 4001)
    assert plan(table.files(), SAMPLES, LONG_AFTER) == []
    put(table, lake, 4001, 4002)
    (planned,) = plan(table.files(), SAMPLES, LONG_AFTER)
    assert [len(chain.files) for chain in planned.chains] == [1, 1]


def test_tables_that_are_corrected_wait_for_the_end_of_their_slice(tmp_path: Path) -> None:
    files = filled(LakeLocation.of(tmp_path), compaction.GATHERED_CHAINS, size=1).files()
    spec = replace(SAMPLES, is_corrected=True)
    assert ROLLUPS["1s"].is_corrected
    assert len(plan(files, SAMPLES, START)) == 1
    assert plan(files, spec, START) == []
    assert len(plan(files, spec, LONG_AFTER)) == 1


def test_large_payloads_are_merged_a_few_at_a_time(tmp_path: Path) -> None:
    lake = LakeLocation.of(tmp_path)
    table = LakeTable.open(lake, MESSAGES)
    for start in range(0, 60, 20):
        table.commit(write_file(lake, MESSAGES, [_messages(start, start + 20)]), {APP: start})
    before = table.delta.to_pyarrow_table().sort_by("offset")
    compact(table, all_chains(table), GO_ON)
    assert table.delta.to_pyarrow_table().sort_by("offset").equals(before)


def _messages(start: int, end: int) -> pa.RecordBatch:
    count = end - start
    columns = {
        "journal": ["a-journal"] * count,
        "offset": range(start, end),
        "receive_time": [START] * count,
        "receive_ns": [START_NS] * count,
        "publisher": ["jet"] * count,
        "topic": [f"jet/{offset % 3}" for offset in range(start, end)],
        "payload": [os.urandom(100_000) for _ in range(count)],
        "qos": [0] * count,
        "retain": [False] * count,
        "properties": [b""] * count,
    }
    schema = MESSAGES.file_schema
    return pa.record_batch([pa.array(columns[one.name], one.type) for one in schema], schema=schema)
