"""What is in memory at once is bounded by its bytes: long texts count for more than numbers.

`make bench ARGS=export` measures the memory itself.
"""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slipring.frames.arrays import DTYPES
from slipring.model import Kind, Parameter
from slipring.recording.form import Form
from slipring.recording.history import parquet_forms, parquet_history
from slipring.recording.history.export import Shape
from slipring.recording.history.open_history import Manner, open_history
from slipring.recording.history.samples import Samples
from slipring.recording.history.survey import Survey
from slipring.recording.history.sweep import Stretch, Sweep
from tests.recording.history.journals import exported, frame_row, journal
from tests.recording.history.naive import chosen_of

CHOSEN = chosen_of(("p/a", Parameter("text")))
LONG_TEXT = "x" * 100_000


def one(offset: int, text: str) -> Samples:
    """A sample of a text, at the time of its offset."""
    values = np.empty(1, DTYPES[Kind.TEXT])
    values[0] = text
    number = np.array([offset], np.int64)
    return Samples(
        Kind.TEXT, np.zeros(1, np.uint32), number, np.zeros(1, np.uint8), values, number, number
    )


@pytest.mark.parametrize(("text", "expected"), [("x", 1), (LONG_TEXT, 10)])
def test_long_texts_are_handed_on_sooner(text: str, expected: int) -> None:
    stretches = [Stretch(at, at, at, at + 1) for at in range(10)]
    parts = Sweep(stretches, lambda stretch: [one(stretch.start, text)], ready=1_000)
    assert len(list(parts)) == expected


def test_long_texts_make_short_stretches() -> None:
    for text, expected in (("x", 1), (LONG_TEXT, 3)):
        survey = Survey(CHOSEN)
        survey.add([one(offset, text) for offset in range(1_000)])
        survey.finish()
        assert len(survey.stretches) == expected


@pytest.mark.parametrize("is_wide", [False, True])
def test_a_row_group_has_no_more_bytes_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_wide: bool
) -> None:
    monkeypatch.setattr(parquet_forms, "ROW_GROUP_BYTES", 250_000)
    monkeypatch.setattr("slipring.recording.journal.PIECE_ROWS_MAX", 1)
    monkeypatch.setattr("slipring.recording.history.cells.CELLS_BYTES_MAX", 10)
    folder = journal(tmp_path, [frame_row(at, [one(at, LONG_TEXT)]) for at in range(9)])
    content, _ = exported(folder, CHOSEN, Shape(Form.PARQUET, is_wide=is_wide))
    file = pq.read_metadata(io.BytesIO(content))
    assert [file.row_group(number).num_rows for number in range(3)] == [3, 3, 3]


@pytest.mark.parametrize("shape", ["wide", "long"])
def test_a_history_is_read_in_parts_of_so_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setattr(parquet_history, "BLOCK_BYTES", 250_000)
    texts = [f"{at:0100000}" for at in range(10)]
    columns = {"a": texts} if shape == "wide" else {"name": ["a"] * 10, "text": texts}
    more = {} if shape == "wide" else {"value": pa.nulls(10, pa.float64())}
    path = tmp_path / "h.parquet"
    pq.write_table(pa.table({"time": list(range(10)), **columns, **more}), path)
    blocks = list(open_history(path, Manner()).blocks({"a": Parameter("text")}, 0))
    assert [block.end - block.first for block in blocks] == [2] * 5
