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
from slipring.recording.file_format import FileFormat
from slipring.recording.history.export import HistoryShape
from slipring.recording.history.read import parquet_rows
from slipring.recording.history.read.open_history import ReadOptions, open_history
from slipring.recording.history.shape.recorded_samples import RecordedSamples
from slipring.recording.history.shape.time_merge import MessageRange, TimeMerge
from slipring.recording.history.shape.time_survey import TimeSurvey
from slipring.recording.history.write import long_parquet, wide_parquet
from tests.recording.history.sample_journals import exported, frame_row, journal
from tests.recording.history.sample_lists import chosen_of

CHOSEN = chosen_of(("p/a", Parameter("text")))
LONG_TEXT = "x" * 100_000


def one(offset: int, text: str) -> RecordedSamples:
    """A sample of a text, at the time of its offset."""
    values = np.empty(1, DTYPES[Kind.TEXT])
    values[0] = text
    number = np.array([offset], np.int64)
    return RecordedSamples(
        Kind.TEXT, np.zeros(1, np.uint32), number, np.zeros(1, np.uint8), values, number, number
    )


@pytest.mark.parametrize(("text", "expected"), [("x", 1), (LONG_TEXT, 10)])
def test_long_texts_are_handed_on_sooner(text: str, expected: int) -> None:
    ranges = [MessageRange(at, at, at, at + 1) for at in range(10)]
    parts = TimeMerge(ranges, lambda message_range: [one(message_range.start, text)], ready=1_000)
    assert len(list(parts)) == expected


def test_long_texts_make_short_stretches() -> None:
    for text, expected in (("x", 1), (LONG_TEXT, 3)):
        survey = TimeSurvey(CHOSEN)
        survey.add([one(offset, text) for offset in range(1_000)])
        survey.finish()
        assert len(survey.ranges) == expected


@pytest.mark.parametrize("is_wide", [False, True])
def test_a_row_group_has_no_more_bytes_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_wide: bool
) -> None:
    module = wide_parquet if is_wide else long_parquet
    monkeypatch.setattr(module, "ROW_GROUP_BYTES", 250_000)
    monkeypatch.setattr("slipring.recording.recording.PIECE_ROWS_MAX", 1)
    monkeypatch.setattr("slipring.recording.history.shape.wide_rows.ROWS_BYTES_MAX", 10)
    folder = journal(tmp_path, [frame_row(at, [one(at, LONG_TEXT)]) for at in range(9)])
    content, _ = exported(folder, CHOSEN, HistoryShape(FileFormat.PARQUET, is_wide=is_wide))
    file = pq.read_metadata(io.BytesIO(content))
    assert [file.row_group(number).num_rows for number in range(3)] == [3, 3, 3]


@pytest.mark.parametrize("shape", ["wide", "long"])
def test_a_history_is_read_in_parts_of_so_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setattr(parquet_rows, "BLOCK_BYTES", 250_000)
    texts = [f"{at:0100000}" for at in range(10)]
    columns = {"a": texts} if shape == "wide" else {"name": ["a"] * 10, "text": texts}
    more = {} if shape == "wide" else {"value": pa.nulls(10, pa.float64())}
    path = tmp_path / "h.parquet"
    pq.write_table(pa.table({"time": list(range(10)), **columns, **more}), path)
    blocks = list(open_history(path, ReadOptions()).blocks({"a": Parameter("text")}, 0))
    assert [block.end - block.first for block in blocks] == [2] * 5
