"""Wrong rows of a history: the error names the line, and the rows before it are imported."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slipring.errors import RecordingError
from slipring.model import Parameter
from slipring.recording.history.read.history_file import RowBlock
from slipring.recording.history.read.open_history import ReadOptions, open_history

TYPES = {"a": Parameter("f64"), "b": Parameter("u8")}
LONG: dict[str, list[Any]] = {"name": ["a", "a", "b"], "time": [1, 2, 3], "value": [1.0, 2.0, 3.0]}


def given(path: Path, types: dict[str, Parameter] = TYPES) -> tuple[list[RowBlock], str]:
    """What is given before the error, and the error."""
    blocks: list[RowBlock] = []
    with pytest.raises(RecordingError) as refused:
        blocks.extend(open_history(path, ReadOptions()).blocks(types, 0))
    return blocks, str(refused.value)


def write(path: Path, columns: dict[str, Any], metadata: dict[str, str] | None = None) -> Path:
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
    return path


def test_of_csv_the_rows_before_the_first_wrong_one_are_given(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("time,a,b\n1,1,1\n2,2,2\n3,3,x\n4,x,4\n")
    blocks, error = given(path)
    assert "line 4: column 'b': 'x' is not a valid u8" in error
    assert [(block.first, block.end) for block in blocks] == [(0, 2)]
    assert sum(patch.values.size for patch in blocks[0].samples) == 4


def test_rows_before_a_wrong_time_are_given(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("time,a,b\n1,1,1\nsoon,2,2\n")
    blocks, error = given(path)
    assert "line 3: 'soon' is not a time" in error
    assert [block.end for block in blocks] == [1]


def test_of_wide_parquet_the_rows_before_are_given(tmp_path: Path) -> None:
    path = write(tmp_path / "h.parquet", {"time": [1, 2, 3], "a": [1, 2, 3], "b": [1, 2, 300]})
    blocks, error = given(path)
    assert "row 3: column 'b': 300 is not a valid u8" in error
    assert [block.end for block in blocks] == [2]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"quality": ["good", "bad", "odd"]},
            "row 3: column 'quality': 'odd' is not a valid quality",
        ),
        ({"reason": [0, 1, 300]}, "row 3: column 'reason': 300 is not a valid reason"),
        ({"name": ["a", "b", None]}, "row 3: column 'name': there is no name"),
        ({"value": [1.0, 2.0, 3.5]}, "row 3: column 'value': 3.5 is not a valid u8"),
    ],
)
def test_of_long_parquet_the_rows_before_are_given(
    tmp_path: Path, more: dict[str, list[Any]], expected: str
) -> None:
    blocks, error = given(write(tmp_path / "h.parquet", LONG | more))
    assert error == f"{tmp_path / 'h.parquet'}, {expected}"
    assert [block.end for block in blocks] == [2]


def test_a_row_of_a_parameter_that_the_file_does_not_define_is_not_lost(tmp_path: Path) -> None:
    defined = {"slipring.parameters": '{"a": {"type": "f64"}}'}
    path = write(tmp_path / "h.parquet", LONG, defined)
    blocks, error = given(path, {"a": Parameter("f64")})
    assert "row 3: column 'name': the file has no definition of 'b'" in error
    assert [block.end for block in blocks] == [2]


def test_a_u64_needs_no_column_of_texts(tmp_path: Path) -> None:
    columns = LONG | {"name": ["a"] * 3, "integer": [1, None, 3]}
    file = open_history(write(tmp_path / "h.parquet", columns), ReadOptions())
    (block,) = file.blocks({"a": Parameter("u64")}, 0)
    assert [patch.values.ravel().tolist() for patch in block.samples] == [[1, 3]]
