"""Histories from files: an export is read back unchanged, and an error names its line."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from slipring.errors import RecordingError
from slipring.frames.decoding import decode
from slipring.frames.header import FrameArrival
from slipring.model import Parameter
from slipring.recording.file_format import FileFormat, TimeFormat
from slipring.recording.history.export import HistoryShape
from slipring.recording.history.read.history_file import HistoryFile, RowBlock
from slipring.recording.history.read.import_columns import GivenDefinitions, ImportColumns
from slipring.recording.history.read.open_history import ReadOptions, is_history, open_history
from slipring.recording.history.write.frame_encoder import FrameEncoder
from tests.frames.naive import TABLE
from tests.recording.history.sample_journals import exported, frame_row, journal
from tests.recording.history.sample_lists import CHOSEN, History, Recorded, histories

with_files = settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SECOND = 1_767_323_045_000_000_000
"""2026-01-02T03:04:05Z"""
WIDE = HistoryShape(FileFormat.PARQUET, is_wide=True)

Triple = tuple[int, int, Any]
"""Time, quality, value."""


def samples_of(blocks: list[RowBlock], types: Mapping[str, Parameter]) -> dict[str, list[Triple]]:
    """What frames made of the blocks hold, by name in the order of the frames."""
    names = list(types)
    indices = np.array([TABLE.index(name) for name in names], np.uint32)
    encoder = FrameEncoder(TABLE.identity)
    found: dict[str, list[Triple]] = defaultdict(list)
    for block in blocks:
        for payload in encoder.frames(block.samples, indices, 0):
            for run in decode(payload, TABLE, FrameArrival(0, 0)).runs:
                rows = zip(
                    TABLE.names(run.sample_indices()),
                    run.sample_times().tolist(),
                    run.sample_qualities().tolist(),
                    run.values.tolist(),
                    strict=True,
                )
                for name, time, quality, value in rows:
                    found[name].append((time, quality, value))
    return found


def read_back(path: Path, content: bytes, said: GivenDefinitions) -> dict[str, list[Triple]]:
    path.write_bytes(content)
    file = open_history(path, ReadOptions())
    try:
        settled = ImportColumns(file, "", said)
    except RecordingError as error:
        assert "no sample" in str(error)  # noqa: PT017 (an empty history is one too)
        return {}
    return samples_of(list(file.blocks(settled.types, 0)), settled.types)


def last_of_each_time(samples: list[Recorded]) -> dict[str, list[Triple]]:
    found: dict[str, dict[int, Triple]] = defaultdict(dict)
    for one in samples:
        found[one.name][one.time] = (one.time, one.quality, one.value)
    return {name: [cells[time] for time in sorted(cells)] for name, cells in found.items()}


def all_of(samples: list[Recorded]) -> dict[str, list[Triple]]:
    found: dict[str, list[Triple]] = defaultdict(list)
    for one in samples:
        found[one.name].append((one.time, one.quality, one.value))
    return found


def content_of(folder: Path, history: History, shape: HistoryShape | FileFormat) -> bytes:
    rows = [frame_row(int(one[0].receive_ns[0]), one) for one in history.messages]
    return exported(journal(folder, rows), CHOSEN, shape)[0]


@with_files
@given(histories())
def test_a_wide_parquet_file_comes_back_with_its_types(tmp_path: Path, history: History) -> None:
    content = content_of(tmp_path, history, WIDE)
    found = read_back(tmp_path / "h.parquet", content, GivenDefinitions())
    assert found == last_of_each_time(history.samples)


@with_files
@given(histories())
def test_a_long_parquet_file_comes_back_whole(tmp_path: Path, history: History) -> None:
    content = content_of(tmp_path, history, FileFormat.PARQUET)
    assert read_back(tmp_path / "h.parquet", content, GivenDefinitions()) == all_of(history.samples)


@with_files
@given(histories())
def test_csv_comes_back_with_the_types_of_the_table(tmp_path: Path, history: History) -> None:
    content = content_of(tmp_path, history, FileFormat.CSV)
    found = read_back(tmp_path / "h.csv", content, GivenDefinitions(table=TABLE))
    assert found == last_of_each_time(history.samples)


def write(folder: Path, text: str, name: str = "h.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode(errors="surrogateescape"))
    return path


def cells(file: HistoryFile, types: Mapping[str, Parameter]) -> list[tuple[int, str, Any]]:
    """Time, column and value of every sample."""
    names, found = list(types), []
    for block in file.blocks(types, 0):
        for patch in block.samples:
            for row, time in enumerate(patch.times.tolist()):
                for column, place in enumerate(patch.columns.tolist()):
                    found.append((time, names[place], patch.values[row, column]))
    return sorted(found)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2026-01-02T03:04:05.678901234Z"], [1_767_323_045_678_901_234]),
        (["2026-01-02 03:04:05", "2026-01-02 03:04:06.5"], [SECOND, SECOND + 1_500_000_000]),
        (["2026-01-02T05:04:05+02:00"], [SECOND]),
        (["2026-01-02T03:04:05Z", "2026-01-02T03:04:06"], [SECOND, SECOND + 1_000_000_000]),
        (["20260102T030405.5Z"], [SECOND + 500_000_000]),
        (["1767323045.678901234"], [1_767_323_045_678_901_234]),
        (["1767323045678.901"], [1_767_323_045_678_901_000]),
        (["1767323045678901"], [1_767_323_045_678_901_000]),
        (["1767323045678901234"], [1_767_323_045_678_901_234]),
        (["-1.5"], [-1_500_000_000]),
    ],
)
def test_times_are_read_as_people_write_them(
    tmp_path: Path, texts: list[str], expected: list[int]
) -> None:
    path = write(tmp_path, "time,a\n" + "".join(f"{text},1\n" for text in texts))
    found = cells(open_history(path, ReadOptions()), {"a": Parameter("f64")})
    assert [time for time, _, _ in found] == expected


def test_a_column_of_numbers_with_a_text_is_doubted_and_says_how_to_go_on(tmp_path: Path) -> None:
    values = [str(number / 2) for number in range(50_000)]
    values[40_000], values[40_001] = "", "1O.5"
    rows = "".join(f"{row},{value}\n" for row, value in enumerate(values))
    path = write(tmp_path, f"time,rpm\n{rows}")
    words = "line 40,003: column 'rpm': '1O.5' is not a number, and 49,998 of its 49,999 values are"
    with pytest.raises(RecordingError, match=f"{words}.*--type rpm=text"):
        ImportColumns(open_history(path, ReadOptions()), "", GivenDefinitions())
    settled = ImportColumns(
        open_history(path, ReadOptions()), "", GivenDefinitions(types={"rpm": "text"})
    )
    assert settled.types["rpm"].type == "text"


def test_a_format_that_is_given_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "when,a\n5,1\n")
    manner = ReadOptions("when", TimeFormat.MILLISECONDS)
    assert cells(open_history(path, manner), {"a": Parameter("f64")}) == [(5_000_000, "a", 1.0)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "", "2"], "i64"),
        (["1", "2.5"], "f64"),
        (["true", "False"], "bool"),
        (["1", "1e3", "nan", "-inf"], "f64"),
        (["1", "x"], "text"),
        (["true", "1"], "text"),
        (["99999999999999999999"], "f64"),
        (['"a,b"', '"c\nd"'], "text"),
    ],
)
def test_the_narrowest_type_that_fits_all_values_is_taken(
    tmp_path: Path, values: list[str], expected: str
) -> None:
    lines = "".join(f"{number},{value}\n" for number, value in enumerate(values))
    file = open_history(write(tmp_path, f"time,a\n{lines}"), ReadOptions())
    assert ImportColumns(file, "p", GivenDefinitions()).types["a"].type == expected


def test_what_is_said_first_counts(tmp_path: Path) -> None:
    file = open_history(write(tmp_path, "time,a,b,c,d\n0,1,1,1,1\n"), ReadOptions())
    said = GivenDefinitions(
        {"a": "u8"}, {"a": Parameter("f64"), "p/b": Parameter("f32"), "c": Parameter("i16")}
    )
    settled = ImportColumns(file, "p", said)
    assert [one.type for one in settled.types.values()] == ["u8", "f32", "i16", "i64"]
    assert settled.topics == ["p/a", "p/b", "p/c", "p/d"]


def test_names_that_begin_with_the_prefix_keep_it_once(tmp_path: Path) -> None:
    file = open_history(write(tmp_path, "time,x/y/a,b\n0,1,1\n"), ReadOptions())
    settled = ImportColumns(file, "x/y", GivenDefinitions())
    assert settled.topics == ["x/y/a", "x/y/b"]
    assert settled.root == "x/y"


def test_units_are_taken_from_the_second_line(tmp_path: Path) -> None:
    path = write(tmp_path, "time;a;b\n;1/min;\n0;1,5;2\n")
    settled = ImportColumns(
        open_history(path, ReadOptions(has_units=True)), "p", GivenDefinitions()
    )
    assert settled.types["a"].unit == "1/min"
    assert settled.types["b"] == Parameter("i64")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time,a\n0,1\n1,x\n", "line 3: column 'a': 'x' is not a valid f64"),
        ('time,a,b\n0,1,"p\nq"\n\n1,x,y\n', "line 5: column 'a': 'x' is not a valid f64"),
        ("time,a\n0,1\nsoon,2\n", "line 3: 'soon' is not a time"),
        ("time,a\n0,1\n,2\n", "line 3: '' is not a time"),
        ("time,a\n0,1\n1,2,3\n", "line 3: the line has 3 cells, the header has 2"),
        ("time,a\n0,1\n1,1e999\n", "line 3: column 'a': '1e999' is not a valid f64"),
        (
            "time,a,a#quality\n0,1,fine\n",
            "line 2: column 'a#quality': 'fine' is not a valid quality",
        ),
        ("when,a\n0,1\n", "has no column 'time' for the times: its columns are 'when', 'a'"),
        ("time,a,a\n0,1,1\n", "2 columns are called 'a'"),
        ("time,,a\n0,1,1\n", "a column has no name"),
        ("time,b#quality\n0,good\n", "'b#quality' has qualities of a column that is not there"),
        ("time\n0\n", "has no column beside the time"),
        ("", "has no column 'time'"),
        ("time,a+b\n0,1\n", "column 'a+b'"),
        ("time,a\n0,1\n1,\udcfc\n", "line 3: this is not UTF-8; save the file as UTF-8"),
        ("time,\udcfc\n0,1\n", "line 1: this is not UTF-8; save the file as UTF-8"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(RecordingError) as refused:
        read_all(path)
    assert str(path) in str(refused.value)
    assert expected in str(refused.value)


def read_all(path: Path) -> None:
    file = open_history(path, ReadOptions())
    settled = ImportColumns(file, "p", GivenDefinitions({}, {"a": Parameter("f64")}))
    list(file.blocks(settled.types, 0))


def test_rows_before_a_wrong_one_are_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slipring.recording.history.read.csv_history.BLOCK_BYTES", 1000)
    lines = "".join(f"{number},{number}\n" for number in range(1000))
    path = write(tmp_path, f"time,a\n{lines}500000,x\n")
    blocks = open_history(path, ReadOptions()).blocks({"a": Parameter("u32")}, 7)
    before = [next(blocks), next(blocks)]
    assert [before[0].first, before[0].end] == [7, before[1].first]
    with pytest.raises(RecordingError, match="line 1,002"):
        list(blocks)


def test_truth_values_are_the_same_beside_an_infinite_number(tmp_path: Path) -> None:
    path = write(tmp_path, "time,a,b\n0,TRUE,1\n1,FALSE,inf\n")
    types = {"a": Parameter("bool"), "b": Parameter("f64")}
    found = cells(open_history(path, ReadOptions()), types)
    assert [value for _, name, value in found if name == "a"] == [True, False]


def test_a_frame_has_no_time_that_goes_back(tmp_path: Path) -> None:
    path = write(tmp_path, "time,plane/0\n3,1\n5,0\n4,1\n9,0\n")
    file = open_history(path, ReadOptions())
    types = {"plane/0": Parameter("bool")}
    found = samples_of(list(file.blocks(types, 0)), types)
    assert [time // 10**9 for time, _, _ in found["plane/0"]] == [3, 5, 4, 9]


def test_parquet_files_of_others_are_histories_by_their_types(tmp_path: Path) -> None:
    path = tmp_path / "h.parquet"
    table = pa.table(
        {
            "Timestamp": pa.array([1, 2], pa.timestamp("ms", "UTC")),
            "a": pa.array([1.5, None], pa.float32()),
            "b": pa.array(["x", "y"]).dictionary_encode(),
            "c": pa.array([True, False]),
        }
    )
    pq.write_table(table, path)
    assert is_history(path)
    file = open_history(path, ReadOptions())
    settled = ImportColumns(file, "p", GivenDefinitions())
    assert [one.type for one in settled.types.values()] == ["f32", "text", "bool"]
    assert cells(file, settled.types) == [
        (1_000_000, "a", 1.5),
        (1_000_000, "b", "x"),
        (1_000_000, "c", True),
        (2_000_000, "b", "y"),
        (2_000_000, "c", False),
    ]


def test_a_type_that_cannot_hold_a_value_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "h.parquet"
    pq.write_table(pa.table({"time": [1, 2], "a": [1, 300]}), path)
    file = open_history(path, ReadOptions())
    with pytest.raises(RecordingError, match="row 2: column 'a': 300 is not a valid u8"):
        list(file.blocks({"a": Parameter("u8")}, 0))
