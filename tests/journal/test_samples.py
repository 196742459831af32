"""The samples of a journal as rows: every one, unchanged, for Spark and in the lake (D1)."""

import io
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from slipring.journal.frame_rows import read_frames
from slipring.journal.known_parameters import KnownParameters
from slipring.journal.location import Journal, JournalFolder
from slipring.journal.rollup import read_rollup
from slipring.journal.samples import JournalSamples, SampleRequest
from slipring.lake.status import open_table
from slipring.model import Entry
from slipring.pipeline.catch_up import catch_up
from slipring.pipeline.destination import Destination
from slipring.recording.file_format import FileFormat
from tests.recording.history.sample_journals import exported, f64, frame_row, journal, plain_row
from tests.recording.history.sample_lists import (
    CHOSEN,
    DEFINITIONS,
    History,
    Recorded,
    histories,
    parameter_of,
)

MICROSECONDS = pa.timestamp("us", tz="UTC")

with_journal = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def known(table: int, entries: Iterable[Entry]) -> KnownParameters:
    rows = [{"index": one.index, "name": one.name, **one.parameter.as_json()} for one in entries]
    listed = {"table": table, "revision": 0, "epoch": 0, "versions": rows}
    return KnownParameters.of_json(json.dumps(listed))


def located(folder: Path) -> Journal:
    location = JournalFolder(str(folder))
    return Journal(location, location.open().identity)


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals of these tests are written without a broker that declares parameters."""
    known_here = known(7, DEFINITIONS.entries)
    monkeypatch.setattr(KnownParameters, "of", lambda _: known_here)


def write(folder: Path, history: History) -> Journal:
    messages = history.messages
    return located(journal(folder, [frame_row(int(one[0].receive_ns[0]), one) for one in messages]))


def end_of(found: Journal) -> int:
    return found.open().end_offset()


def of_row(row: dict[str, Any]) -> Recorded:
    """A row of samples as the list has it."""
    parameter = parameter_of(row["parameter"])
    assert row["kind"] == parameter.type
    assert row["unit"] == parameter.unit
    value = row["value"]
    if parameter.type in ("text", "bytes"):
        assert value is None
        value = row[parameter.type]
    elif parameter.type in ("u64", "i64"):
        assert value == float(row["integer"])
        value = int(row["integer"])
    elif parameter.type == "enum":
        assert row["text"] == (parameter.labels or {}).get(int(value))
        value = int(value)
    elif parameter.type == "bool":
        value = bool(value)
    elif parameter.type not in ("f32", "f64"):
        value = int(value)
    times = row["source_ns"], row["quality"]
    return Recorded(row["parameter"], *times, value, row["offset"], row["receive_ns"])


def same(one: Recorded) -> tuple[Any, ...]:
    """Comparable: not a number equals itself."""
    return (*one[:3], repr(one.value), *one[4:])


def arrived(samples: Iterable[Recorded]) -> list[Any]:
    """Message after message; a frame may put its parameters in another order, not their samples."""
    return [same(one) for one in sorted(samples, key=lambda one: (one.offset, one.name))]


@with_journal
@given(histories())
def test_every_sample_is_a_row_in_the_order_of_arrival(tmp_path: Path, history: History) -> None:
    found = write(tmp_path, history)
    reader = JournalSamples(found, rows_max=7)
    rows = [row for batch in reader.batches(0, end_of(found)) for row in batch.to_pylist()]
    offsets = [row["offset"] for row in rows]
    assert offsets == sorted(offsets)
    assert arrived(of_row(row) for row in rows) == arrived(history.samples)
    times = [*zip(*((row["source_time"], row["source_ns"]) for row in rows), strict=True)]
    if times:
        assert pa.array(times[0], MICROSECONDS).cast(pa.int64()).to_pylist() == [
            time_ns // 1_000 for time_ns in times[1]
        ]
    assert reader.set_aside == []


@with_journal
@given(histories())
def test_the_lake_and_an_export_have_the_same_samples(tmp_path: Path, history: History) -> None:
    found = write(tmp_path, history)
    folder = Path(found.location.options()["path"])
    lake = folder.with_name(f"lake-{found.identity}")
    _carry(found, lake)
    content, done = exported(folder, CHOSEN, FileFormat.PARQUET)
    long = pq.read_table(io.BytesIO(content)).to_pylist()
    assert done.samples == len(history.samples)
    expected = sorted((row["name"], row["time"].value, row["offset"]) for row in long)
    rows = open_table(lake, "samples").to_pyarrow_table().to_pylist()
    assert sorted((row["parameter"], row["source_ns"], row["offset"]) for row in rows) == expected
    truth = sorted(same(one) for one in history.samples)
    assert sorted(same(of_row(row)) for row in rows) == truth


def _carry(found: Journal, lake: Path) -> None:
    destination = Destination(found.location, lake)
    catch_up(destination, end_of(found), batch_messages_max=2, stop=threading.Event())


@with_journal
@given(histories())
def test_sorted_samples_ascend_by_parameter_and_time(tmp_path: Path, history: History) -> None:
    found = write(tmp_path, history)
    for batch in JournalSamples(found).sorted_batches(0, end_of(found)):
        keys = [
            *zip(*(batch.column(name).to_pylist() for name in ("index", "source_ns")), strict=True)
        ]
        assert keys == sorted(keys)
        assert pa.types.is_dictionary(batch.schema.field("parameter").type)


def test_only_the_chosen_parameters_columns_and_times_are_read(tmp_path: Path) -> None:
    name = next(one.name for one in DEFINITIONS.entries if one.parameter.type == "f64")
    index = next(one.index for one in DEFINITIONS.entries if one.name == name)
    found = located(journal(tmp_path, [frame_row(1, [f64(index, [1, 5, 9], [1.0, 5.0, 9.0])])]))
    request = SampleRequest(("value", "parameter"), (name,), (5, 9))
    (batch,) = JournalSamples(found, request).batches(0, 1)
    assert batch.to_pydict() == {"value": [5.0], "parameter": [name]}
    assert [*JournalSamples(found, SampleRequest(filters=("no/such",))).batches(0, 1)] == []


def test_what_cannot_be_decoded_is_set_aside_and_is_in_the_lake_once(tmp_path: Path) -> None:
    name, index = next(
        (one.name, one.index) for one in DEFINITIONS.entries if one.parameter.type == "f64"
    )
    broken = (2, "plane", "plane", 1, frame_row(2, [])[4], b"not a frame")
    rows = [
        frame_row(1, [f64(index, [1], [1.0])]),
        broken,
        frame_row(3, [f64(9_999, [1], [1.0])]),
        frame_row(4, [f64(index, [1], [1.0])], table=8),
        plain_row(5, name, b"6.5"),
        frame_row(6, [f64(index, [2], [2.0])]),
    ]
    found = located(journal(tmp_path, rows))
    for _ in range(2):
        _carry(found, tmp_path / "lake")
    values = open_table(tmp_path / "lake", "samples").to_pyarrow_table().column("value")
    assert sorted(values.to_pylist()) == [1.0, 2.0]
    aside = open_table(tmp_path / "lake", "set_aside").to_pyarrow_table().sort_by("offset")
    assert aside.column("offset").to_pylist() == [1, 2, 3]
    assert aside.column("bytes").to_pylist()[0] == b"not a frame"
    assert aside.column("reason").to_pylist()[1:] == [
        "there is no parameter with the index 9999",
        "the frame is of table 8, not of 7",
    ]


def test_a_damaged_part_is_set_aside_and_the_samples_around_it_are_read(tmp_path: Path) -> None:
    index = next(one.index for one in DEFINITIONS.entries if one.parameter.type == "f64")
    rows = [frame_row(number, [f64(index, [number], [float(number)])]) for number in range(9)]
    folder = journal(tmp_path, rows)
    found = located(folder)
    segment = min(folder.glob("*.seg"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 2] ^= 1
    segment.write_bytes(content)
    reader = JournalSamples(found)
    values = [
        value for batch in reader.batches(0, 9) for value in batch.column("value").to_pylist()
    ]
    lost = {float(number) for number in range(9)} - set(values)
    assert lost
    assert values == sorted(values)
    assert len(reader.set_aside) == 1
    assert float(reader.set_aside[0].offset) == min(lost)
    _carry(found, tmp_path / "lake")
    for name in ("samples", "frames", "messages"):
        rows = open_table(tmp_path / "lake", name).to_pyarrow_table()
        assert sorted(map(float, rows.column("offset").to_pylist())) == values
    assert open_table(tmp_path / "lake", "set_aside").to_pyarrow_table().num_rows >= 1


def test_frames_are_rows_with_their_sender_and_size(tmp_path: Path) -> None:
    index = next(one.index for one in DEFINITIONS.entries if one.parameter.type == "f64")
    frame = frame_row(5, [f64(index, [1, 2], [1.0, 2.0])])
    found = located(journal(tmp_path, [plain_row(4, "other", b"1"), frame]))
    (batch,) = read_frames(found, 0, 2)
    (row,) = batch.to_pylist()
    assert (row["offset"], row["receive_ns"], row["publisher"]) == (1, 5, "plane")
    assert (row["table"], row["sequence"], row["published_ns"]) == (7, 1, None)
    assert (row["runs"], row["samples"], row["parameters"]) == (1, 2, 1)
    assert (row["bytes"], row["raw_bytes"]) == (len(frame[5]), len(frame[5]) - 24)


@pytest.mark.parametrize("window_ns", [10, 1_000])
def test_a_rollup_has_a_row_for_each_parameter_and_window(tmp_path: Path, window_ns: int) -> None:
    index = next(one.index for one in DEFINITIONS.entries if one.parameter.type == "f64")
    times, values = [3, 7, 12, 19], [1.0, 3.0, 5.0, 7.0]
    found = located(journal(tmp_path, [frame_row(50, [f64(index, times, values)])]))
    rows = [row for batch in read_rollup(found, 0, 1, window_ns) for row in batch.to_pylist()]
    expected = [(0, 2, 4.0, 4.0), (10, 2, 12.0, 35.0)] if window_ns == 10 else [(0, 4, 16.0, 54.0)]
    told = [(row["window_ns"], row["count"], row["sum"], row["weighted"]) for row in rows]
    assert told == expected
    assert rows[-1]["last_ns"] == 19
    assert rows[-1]["receive_ns"] == 50
