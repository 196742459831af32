"""Rows that are no message: refused with their line, or skipped and counted."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slipring.errors import RecordingError
from slipring.recording.message_file import open_messages
from tests.recording.messages import exported
from tests.recording.test_round_trip import take_in

GOOD: dict[str, Any] = {"topic": "a", "payload": "1"}


def lines(file: Path, *rows: bytes | dict[str, Any]) -> Path:
    file.write_bytes(
        b"".join(
            row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows
        )
    )
    return file


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (b"nonsense\n", "not JSON"),
        (b"[1]\n", "not a JSON object"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b'{"topic": "\xff", "payload": ""}\n', "not JSON"),
        ({"payload": "1"}, "no topic"),
        ({"topic": 5, "payload": "1"}, "topic is not text"),
        (b'{"topic": "\\ud800", "payload": ""}\n', "topic is not Unicode"),
        (GOOD | {"topic": ""}, "at least one character"),
        (GOOD | {"topic": "a/#"}, "wildcard"),
        (GOOD | {"topic": "a\0"}, "null"),
        (GOOD | {"topic": "a" * 65_536}, "65,535"),
        (GOOD | {"publisher": "p" * 65_536}, "publisher"),
        (GOOD | {"qos": 3}, "qos is 3"),
        (GOOD | {"qos": True}, "qos"),
        (GOOD | {"retain": 1}, "retain"),
        (GOOD | {"receive_ns": 1 << 63}, "receive time"),
        (GOOD | {"receive_ns": 0.5}, "receive_ns"),
        (GOOD | {"receive_time": "noon"}, "receive_time"),
        (GOOD | {"receive_time": "9999-01-01"}, "receive time"),
        ({"topic": "a"}, "payload"),
        (GOOD | {"payload_base64": "AA=="}, "payload"),
        ({"topic": "a", "payload_base64": "A"}, "payload_base64"),
        (GOOD | {"properties_base64": "/w=="}, "properties"),
        (GOOD | {"properties_base64": "IwAB"}, "never stored"),
        (GOOD | {"properties": [["a"]]}, "properties"),
    ],
)
def test_a_bad_line_is_named_and_those_before_it_are_taken(
    tmp_path: Path, row: bytes | dict[str, Any], why: str
) -> None:
    file = lines(tmp_path / "messages.jsonl", GOOD, b"\n", row, GOOD)
    with pytest.raises(RecordingError, match=rf"line 3: .*{why}"):
        take_in(file, tmp_path / "journal")
    assert len(exported(tmp_path / "journal").splitlines()) == 1
    progress = take_in(file, tmp_path / "journal", skip_bad=True)
    assert (progress.messages, progress.bad, progress.next_row) == (2, 1, 4)


def test_a_file_whose_first_line_is_bad_is_refused_with_it(tmp_path: Path) -> None:
    file = lines(tmp_path / "messages.jsonl", b"nonsense\n", GOOD)
    with pytest.raises(RecordingError, match="line 1: not JSON"):
        take_in(file, tmp_path / "journal")
    assert exported(tmp_path / "journal") == b""


def test_a_file_for_plotting_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = lines(tmp_path / "flight.mcap", b"\x89MCAP0\r\n")
    with pytest.raises(RecordingError, match=r"flight.mcap is an MCAP file.*Parquet or CSV"):
        take_in(file, tmp_path / "journal")


def test_the_row_to_go_on_with_counts_bad_ones_too(tmp_path: Path) -> None:
    file = lines(tmp_path / "messages.jsonl", b"x\n", GOOD, b"y\n", GOOD)
    with open_messages(file) as messages:
        (chunk,) = messages.batches(skip=0, skip_bad=True)
    assert (list(chunk.numbers), chunk.end, chunk.bad) == ([1, 3], 4, 2)


def parquet(file: Path, rows: int, group: int, **columns: pa.Array) -> Path:
    """Good messages, but for these columns."""
    good = {"topic": pa.array(["a"] * rows), "payload": pa.array([b"1"] * rows)}
    pq.write_table(pa.table(good | columns), file, row_group_size=group)
    return file


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("topic", ["a", "b", "c", "a/+", "d"], "wildcard"),
        ("topic", ["a", "b", "c", None, "d"], "no topic"),
        ("topic", [b"a", b"b", b"c", b"\xff", b"d"], "not UTF-8"),
        ("payload", [b"", b"", b"", None, b""], "no payload"),
        ("publisher", [b"", b"", b"", b"\xff", b""], "publisher is not UTF-8"),
        ("qos", [0, 1, 2, 3, None], "qos is 3"),
        ("properties", [b"", b"", b"", b"\xff", None], "properties"),
    ],
)
def test_a_bad_row_of_a_parquet_file_is_named_with_its_row_group(
    tmp_path: Path, column: str, values: list[Any], why: str
) -> None:
    file = parquet(tmp_path / "messages.parquet", 5, 2, **{column: pa.array(values)})
    with pytest.raises(RecordingError, match=rf"row 4 \(in row group 2\): .*{why}"):
        take_in(file, tmp_path / "journal")
    assert len(exported(tmp_path / "journal").splitlines()) == 3
    progress = take_in(file, tmp_path / "other", skip_bad=True)
    assert (progress.messages, progress.bad, progress.next_row) == (4, 1, 5)


def test_a_column_of_another_kind_is_named(tmp_path: Path) -> None:
    file = parquet(tmp_path / "messages.parquet", 2, 2, payload=pa.array([1, 2]))
    with pytest.raises(RecordingError, match=r"row group 1.*'payload' is int64"):
        take_in(file, tmp_path / "journal")


def test_a_file_without_topics_says_which_columns_it_has(tmp_path: Path) -> None:
    file = tmp_path / "other.parquet"
    pq.write_table(pa.table({"payload": [b""], "speed": [1]}), file)
    with pytest.raises(RecordingError, match=r"'topic'.*this file has payload, speed"):
        take_in(file, tmp_path / "journal")


def test_a_row_group_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    payloads = [bytes([number % 251]) * 2000 for number in range(300)]
    file = tmp_path / "messages.parquet"
    columns = {"topic": pa.array(["a"] * 300), "payload": pa.array(payloads)}
    pq.write_table(pa.table(columns), file, row_group_size=100, use_dictionary=False)
    start = pq.ParquetFile(file).metadata.row_group(1).column(1).data_page_offset
    content = bytearray(file.read_bytes())
    content[start : start + 200] = bytes(200)
    file.write_bytes(content)
    with pytest.raises(RecordingError, match="row group 2 of 3"):
        take_in(file, tmp_path / "journal")
    assert len(exported(tmp_path / "journal").splitlines()) == 100


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + bytes(100) + b"PAR1"])
def test_a_file_cut_short_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "cut.parquet"
    file.write_bytes(content)
    with pytest.raises(RecordingError, match=r"cut\.parquet"):
        take_in(file, tmp_path / "journal")


def test_an_empty_file_holds_no_messages(tmp_path: Path) -> None:
    assert take_in(lines(tmp_path / "empty.jsonl"), tmp_path / "journal").messages == 0


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"none\.jsonl: No such file"):
        take_in(tmp_path / "none.jsonl", tmp_path / "journal")
