"""What is exported, imported and exported again is the same, in every format."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from slipring.recording.file_format import FileFormat
from slipring.recording.importing import (
    MessageProgress,
    appended_to,
    import_to_journal,
    open_journal,
)
from slipring.recording.message_file import open_messages
from tests.recording.messages import ROWS, Row, exported, record


def take_in(file: Path, folder: Path, *, skip: int = 0, skip_bad: bool = False) -> MessageProgress:
    """Import a file into a journal."""
    writer = open_journal(folder)
    progress = appended_to(writer, skip)
    try:
        with open_messages(file) as messages:
            chunks = messages.batches(skip=skip, skip_bad=skip_bad)
            import_to_journal(chunks, writer, progress, lambda *_: None)
    finally:
        writer.close()
    return progress


@pytest.mark.parametrize("form", list(FileFormat))
@settings(max_examples=40)
@given(rows=ROWS)
def test_export_import_export_is_equal(form: FileFormat, rows: list[Row]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        record(folder / "first", rows)
        file = folder / "messages"
        file.write_bytes(exported(folder / "first", form))
        progress = take_in(file, folder / "second")
        assert (progress.messages, progress.next_row, progress.bad) == (len(rows), len(rows), 0)
        assert exported(folder / "second") == exported(folder / "first")


@settings(max_examples=20)
@given(rows=ROWS)
def test_both_forms_hold_the_same_messages(rows: list[Row]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        record(folder / "journal", rows)
        lines = [json.loads(line) for line in exported(folder / "journal").splitlines()]
        table = pq.read_table(pa.BufferReader(exported(folder / "journal", FileFormat.PARQUET)))
        assert table.num_rows == len(lines) == len(rows)
        for key in ("offset", "receive_ns", "publisher", "topic", "qos", "retain"):
            assert table.column(key).to_pylist() == [line[key] for line in lines]
        assert table.column("payload").to_pylist() == [row[5] for row in rows]
        assert table.column("properties").to_pylist() == [row[4] for row in rows]


def test_a_row_says_everything_of_a_message(tmp_path: Path) -> None:
    record(tmp_path, [(1_767_323_045_678_901_234, "probe", "a/b", 6, b"\x03\x00\x01x", b"\xff")])
    assert json.loads(exported(tmp_path)) == {
        "offset": 0,
        "receive_ns": 1_767_323_045_678_901_234,
        "receive_time": "2026-01-02T03:04:05.678901234Z",
        "publisher": "probe",
        "topic": "a/b",
        "qos": 2,
        "retain": True,
        "content_type": "x",
        "payload_base64": "/w==",
    }


def test_filters_choose_topics(tmp_path: Path) -> None:
    topics = ("a/1", "a/2", "b/1", "$own", "a")
    record(tmp_path, [(0, "", topic, 0, b"", b"") for topic in topics])

    def chosen(*filters: str) -> list[str]:
        return [
            json.loads(line)["topic"] for line in exported(tmp_path, filters=filters).splitlines()
        ]

    assert chosen() == list(topics)
    assert chosen("a/#") == ["a/1", "a/2", "a"]
    assert chosen("+/1", "a") == ["a/1", "b/1", "a"]
    assert chosen("#") == ["a/1", "a/2", "b/1", "a"]
    assert chosen("none") == []


def test_lines_of_a_subscription_can_be_imported(tmp_path: Path) -> None:
    line = {"topic": "a", "payload": "1", "retain": False, "properties": [["quality", "good"]]}
    file = tmp_path / "sub.jsonl"
    file.write_text(json.dumps(line))
    assert take_in(file, tmp_path / "journal").messages == 1
    found = json.loads(exported(tmp_path / "journal"))
    assert {key: found[key] for key in line} == line


def test_columns_of_another_program_are_taken_for_what_they_are(tmp_path: Path) -> None:
    file = tmp_path / "history.parquet"
    table = pa.table(
        {
            "topic": pa.array(["a", "b"]).dictionary_encode(),
            "payload": pa.array(["1", "2"], pa.large_string()),
            "receive_time": pa.array([1_500, None], pa.timestamp("ms", tz="Europe/Stockholm")),
            "qos": pa.array([2, None], pa.uint32()),
            "unit": ["m", "s"],
        }
    )
    pq.write_table(table, file)
    take_in(file, tmp_path / "journal")
    first, second = map(json.loads, exported(tmp_path / "journal").splitlines())
    assert (first["topic"], first["payload"], first["qos"]) == ("a", "1", 2)
    assert first["receive_ns"] == 1_500_000_000
    assert (second["qos"], second["retain"], second["publisher"]) == (0, False, "import")
    assert second["receive_ns"] > first["receive_ns"]


@pytest.mark.parametrize("form", list(FileFormat))
def test_an_import_goes_on_where_another_stopped(tmp_path: Path, form: FileFormat) -> None:
    rows: list[Row] = [(number, "", "a", 0, b"", b"%d" % number) for number in range(100)]
    record(tmp_path / "first", rows)
    file = tmp_path / "messages"
    file.write_bytes(exported(tmp_path / "first", form))
    assert take_in(file, tmp_path / "second", skip=97).messages == 3
    found = [json.loads(line) for line in exported(tmp_path / "second").splitlines()]
    assert [row["payload"] for row in found] == ["97", "98", "99"]
