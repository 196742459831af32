"""Where exports go: one file, or a folder of files if one would be too large."""

import os
import resource
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow.parquet as pq
import pytest

from slipring.errors import RecordingError
from slipring.model import Parameter
from slipring.recording import output
from slipring.recording.file_format import FileFormat
from slipring.recording.history.export import HistoryShape, export_samples
from slipring.recording.history.read.open_history import ReadOptions, is_history, open_history
from slipring.recording.history.read.sample_reader import SampleReader
from slipring.recording.history.write import wide_parquet
from slipring.recording.output import OutputStream, output_file
from slipring.recording.recording import Recording
from tests.recording.history.sample_journals import exported, f64, frame_row, journal
from tests.recording.history.sample_lists import chosen_of

CHOSEN = chosen_of(("p/a", Parameter("f64")), ("p/b", Parameter("f64")))
WIDE = HistoryShape(FileFormat.PARQUET, is_wide=True)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row groups of 40 rows, and four of them in a file."""
    monkeypatch.setattr("slipring.recording.history.shape.wide_rows.ROWS_BYTES_MAX", 200)
    monkeypatch.setattr(wide_parquet, "CHUNKS_MAX", 12)


def flown(folder: Path, rows: int) -> Path:
    """A journal with so many rows of two parameters."""
    times = list(range(rows))
    parts = [f64(index, times, [float(index + time) for time in times]) for index in (0, 1)]
    return journal(folder, [frame_row(5, parts)])


def write(source: Path, out: Path) -> None:
    with output_file(out) as output:
        export_samples(
            SampleReader(Recording(source), CHOSEN), output, WIDE, lambda _one, _two: None
        )


@pytest.mark.usefixtures("narrow")
def test_four_times_as_long_a_wide_export_has_more_files_and_none_is_larger(tmp_path: Path) -> None:
    shapes = []
    for rows in (1_000, 4_000):
        out = tmp_path / f"{rows}.parquet"
        write(flown(tmp_path, rows), out)
        files = [pq.read_metadata(file) for file in sorted(out.iterdir())]
        assert sum(file.num_rows for file in files) == rows
        groups = [file.num_row_groups for file in files]
        rows_max = max(
            file.row_group(one).num_rows for file in files for one in range(file.num_row_groups)
        )
        shapes.append((len(files), max(groups), rows_max))
    (few, groups, group_rows), (many, groups_later, group_rows_later) = shapes
    assert many > 3 * few
    assert groups_later == groups
    assert group_rows_later == group_rows


@pytest.mark.usefixtures("narrow")
def test_a_folder_of_files_is_read_by_its_name(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    out.write_bytes(b"of an earlier export")
    write(flown(tmp_path, 1_000), out)
    assert pq.read_table(out).column("p/b").to_pylist() == [time + 1.0 for time in range(1_000)]
    assert is_history(out)
    file = open_history(out, ReadOptions())
    types = dict.fromkeys(file.columns, Parameter("f64"))
    blocks = list(file.blocks(types, 500))
    assert (blocks[0].first, blocks[-1].end, file.total) == (500, 1_000, 1_000)
    assert sum(patch.values.size for block in blocks for patch in block.samples) == 1_000
    assert file.where(500) == f"{out / 'part-00004.parquet'}, row 21"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.usefixtures("narrow")
def test_what_needs_several_files_does_not_go_to_standard_output(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="name a file instead of -"):
        exported(flown(tmp_path, 1_000), CHOSEN, WIDE)


def test_a_folder_in_the_place_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "out.parquet").mkdir()
    with pytest.raises(RecordingError, match="is a folder"), output_file(tmp_path / "out.parquet"):
        raise AssertionError("nothing is to be written")


def test_what_is_no_file_is_refused_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordingError, match="is not a file"), output_file(tmp_path / "pipe"):
        raise AssertionError("nothing is to be written")
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    with output_file(tmp_path / "link") as output:
        output.stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "file").read_bytes() == b"x"


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    def fill() -> None:
        with output_file(tmp_path / "out") as output:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
            output.stream.write(b"x" * 2_000)

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with pytest.raises(RecordingError, match=r"cannot write .*out: File too large"):
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("narrow")
def test_what_ends_early_leaves_no_file_of_several(tmp_path: Path) -> None:
    def interrupted() -> None:
        with output_file(tmp_path / "out.parquet") as output:
            output.another().write(b"x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_one_stream_stays_one(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as stream, pytest.raises(RecordingError):
        OutputStream(stream).another()


def interrupted_at(step: int, place: Path) -> bool:
    """Write a file, with an interrupt at this line of what makes it; whether it came so far."""
    reached = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal reached
        if frame.f_code.co_filename != output.__file__ or frame.f_code.co_name == "leave":
            return None
        if event == "line":
            reached += 1
            if reached == step:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with output_file(place) as made:
            made.stream.write(b"1")
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_leaves_no_half_file(tmp_path: Path) -> None:
    step, place = 1, tmp_path / "out"
    while interrupted_at(step, place):
        assert {path.name for path in tmp_path.iterdir()} <= {"out"}, f"line {step}"
        step += 1
    assert step > 10
    assert place.read_bytes() == b"1"
