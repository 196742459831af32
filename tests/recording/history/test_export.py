"""Exported files have every sample of the journal, unchanged."""

import base64
import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from mcap.reader import make_reader

from slipring.model import Entry, Parameter
from slipring.recording.file_format import FileFormat
from slipring.recording.history.export import HistoryShape
from slipring.recording.history.read.definitions import Definitions
from slipring.recording.history.read.sample_reader import SkippedFrames
from slipring.recording.history.shape.export_columns import ExportColumns
from slipring.recording.moment import parse_time
from tests.recording.history.sample_journals import (
    FRAME_PROPERTIES,
    exported,
    f64,
    frame_row,
    journal,
    plain_row,
)
from tests.recording.history.sample_lists import (
    CHOSEN,
    History,
    Recorded,
    chosen_of,
    histories,
    parameter_of,
    told,
    words,
)

with_journal = settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def write(folder: Path, history: History) -> Path:
    messages = history.messages
    return journal(folder, [frame_row(int(one[0].receive_ns[0]), one) for one in messages])


@with_journal
@given(histories())
def test_a_long_file_has_every_sample_of_a_parameter_in_its_order(
    tmp_path: Path, history: History
) -> None:
    content, done = exported(write(tmp_path, history), CHOSEN, FileFormat.PARQUET)
    assert done.samples == len(history.samples)
    found = pq.read_table(io.BytesIO(content)).to_pylist()
    for name in CHOSEN.names:
        mine = [row for row in found if row["name"] == name]
        assert [of_row(row) for row in mine] == [one for one in history.samples if one.name == name]
    assert [row["offset"] for row in found] == sorted(row["offset"] for row in found)


def of_row(row: dict[str, Any]) -> Recorded:
    status = ("good", "uncertain", "bad", "stale").index(row["quality"])
    return Recorded(
        row["name"],
        row["time"].value,
        status << 6 | row["reason"],
        of_long(row),
        row["offset"],
        row["receive_time"].value,
    )


def of_long(row: dict[str, Any]) -> Any:
    match parameter_of(row["name"]).type:
        case "bool":
            return bool(row["integer"])
        case "f32" | "f64":
            return row["value"]
        case "text" | "bytes" as word:
            return row[word]
        case _:
            return row["integer"] if row["integer"] is not None else int(row["text"])


@with_journal
@given(histories())
def test_a_wide_file_and_a_long_one_agree(tmp_path: Path, history: History) -> None:
    folder = write(tmp_path, history)
    content, done = exported(folder, CHOSEN, HistoryShape(FileFormat.PARQUET, is_wide=True))
    found = pq.read_table(io.BytesIO(content)).to_pylist()
    cells = history.cells()
    assert [row["time"].value for row in found] == list(cells)
    for row, samples in zip(found, cells.values(), strict=True):
        assert wide_cells(row) == expected_cells(samples)
    assert done.rows == len(cells)
    assert done.replaced == len(history.samples) - sum(map(len, cells.values()))


def wide_cells(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: (row[name], row.get(f"{name}#quality", "good"))
        for name in CHOSEN.names
        if row[name] is not None
    }


def expected_cells(samples: dict[str, Recorded]) -> dict[str, Any]:
    return {name: (told(sample), words(sample.quality)) for name, sample in samples.items()}


@with_journal
@given(histories())
def test_csv_has_the_same_cells_as_text(tmp_path: Path, history: History) -> None:
    content, _ = exported(write(tmp_path, history), CHOSEN, FileFormat.CSV)
    head, *found = list(csv.reader(io.StringIO(content.decode(), newline="")))
    cells = history.cells()
    assert [parse_time(row[0]) for row in found] == list(cells)
    for row, samples in zip(found, cells.values(), strict=True):
        named = dict(zip(head, row, strict=True))
        for name in CHOSEN.names:
            if name in samples:
                assert of_text(name, named[name]) == told(samples[name])
            else:
                assert named[name] == ""


def of_text(name: str, text: str) -> Any:
    match parameter_of(name).type:
        case "bool":
            return {"true": True, "false": False}[text]
        case "f32":
            return float(np.float32(text))
        case "f64":
            return float(text)
        case "bytes":
            return base64.b64decode(text)
        case "text" | "enum":
            return text
        case _:
            return int(text)


@with_journal
@given(histories())
def test_mcap_has_every_sample_with_both_times(tmp_path: Path, history: History) -> None:
    content, _ = exported(write(tmp_path, history), CHOSEN, FileFormat.MCAP)
    found: dict[str, list[Any]] = {name: [] for name in CHOSEN.names}
    for schema, channel, message in make_reader(io.BytesIO(content)).iter_messages():
        assert schema is not None
        assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
        said = json.loads(message.data)
        flaws = said.pop("#quality", {})
        for key, value in said.items():
            quality = flaws.get(key, "good")
            times = message.publish_time, message.log_time
            found[f"{channel.topic}/{key}"].append((value, *times, quality))
    for name in CHOSEN.names:
        assert by_time(found[name]) == by_time(
            [
                (json_value(one), max(0, one.time), one.receive, words(one.quality))
                for one in history.samples
                if one.name == name
            ]
        )


def by_time(rows: list[Any]) -> list[Any]:
    """Messages of one receive time may stand in any order; -0.0 is 0 in JSON."""
    return sorted(rows, key=lambda row: (row[2], row[1], _order(row[0]), row[3]))


def _order(value: Any) -> tuple[str, str]:
    return str(value + 0.0) if isinstance(value, int | float) else "", str(value)


def json_value(sample: Recorded) -> Any:
    value = sample.value
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and value in {float("inf"), float("-inf")}:
        return None
    if parameter_of(sample.name).type == "f32":
        return float(str(np.float32(value)))
    return value


def test_plain_messages_are_samples_too(tmp_path: Path) -> None:
    chosen = chosen_of(("a/x", Parameter("f64")), ("a/on", Parameter("enum", labels={1: "on"})))
    folder = journal(
        tmp_path,
        [
            plain_row(100, "a/x", b"1.5"),
            frame_row(110, [f64(0, [50, 60], [2.5, 3.5])]),
            plain_row(120, "a/x", b" 4.5\n", time_ns=70),
            plain_row(130, "a/x", b"no number"),
            plain_row(140, "a/other", b"7"),
            plain_row(150, "a/on", b"on"),
            plain_row(160, "a/on", b"5"),
            plain_row(170, "a/x", b"8.5"),
        ],
    )
    samples = {0: 0, 2: 0, 3: 0, 5: 1, 6: 1}
    content, _ = exported(folder, chosen, FileFormat.PARQUET, samples)
    rows = pq.read_table(io.BytesIO(content)).to_pylist()
    assert [(row["name"], row["time"].value, row["value"], row["text"]) for row in rows] == [
        ("a/x", 100, 1.5, None),
        ("a/x", 50, 2.5, None),
        ("a/x", 60, 3.5, None),
        ("a/x", 70, 4.5, None),
        ("a/on", 150, 1.0, "on"),
        ("a/on", 160, 5.0, None),
    ]
    wide, _ = exported(folder, chosen, FileFormat.CSV, samples)
    assert wide.decode().splitlines() == [
        "time,a/x,a/on",
        "1970-01-01 00:00:00.000000050Z,2.5,",
        "1970-01-01 00:00:00.000000060Z,3.5,",
        "1970-01-01 00:00:00.000000070Z,4.5,",
        "1970-01-01 00:00:00.000000100Z,1.5,",
        '1970-01-01 00:00:00.000000150Z,,"on"',
        '1970-01-01 00:00:00.000000160Z,,"5"',
    ]


def test_units_stand_below_the_names_if_they_are_wanted(tmp_path: Path) -> None:
    chosen = chosen_of(("a/x", Parameter("f64", unit="1/min")), ("a/y", Parameter("f64")))
    folder = journal(tmp_path, [frame_row(1, [f64(0, [50], [2.5])])])
    content, _ = exported(folder, chosen, HistoryShape(FileFormat.CSV, has_units=True))
    assert content.decode().splitlines()[:2] == ["time,a/x,a/y", ",1/min,"]


def test_frames_of_another_table_are_counted_and_left_out(tmp_path: Path) -> None:
    chosen = chosen_of(("a/x", Parameter("f64")))
    rows = [frame_row(1, [f64(0, [50], [2.5])], table=8), frame_row(2, [f64(0, [60], [3.5])])]
    _, done = exported(journal(tmp_path, rows), chosen, FileFormat.PARQUET)
    assert (done.samples, done.skipped.of_other_tables) == (1, 1)


@pytest.mark.parametrize(
    "shape",
    [FileFormat.PARQUET, FileFormat.CSV, FileFormat.MCAP, HistoryShape(FileFormat.PARQUET, True)],
)
def test_an_export_of_nothing_is_a_whole_file(
    tmp_path: Path, shape: HistoryShape | FileFormat
) -> None:
    content, done = exported(journal(tmp_path, []), CHOSEN, shape)
    assert done.samples == 0
    assert content


def two_lives() -> ExportColumns:
    entries = [Entry(0, "p/a", Parameter("f64")), Entry(1, "p/a", Parameter("text"))]
    return ExportColumns(Definitions(7, entries).table, entries)


@pytest.mark.parametrize("is_wide", [False, True])
def test_what_is_left_out_is_counted_once(tmp_path: Path, *, is_wide: bool) -> None:
    rows = [
        frame_row(1, [f64(0, [5], [1.0])]),
        frame_row(2, [f64(0, [6], [2.0])], table=8),
        (3, "plane", "plane", 1, FRAME_PROPERTIES, b"no frame"),
        plain_row(4, "p/a", b"1.5"),
    ]
    shape = HistoryShape(FileFormat.PARQUET, is_wide=is_wide)
    _, done = exported(journal(tmp_path, rows), two_lives(), shape, {3: 1})
    assert done.skipped == SkippedFrames(of_other_tables=1, unreadable=1)
    assert done.samples == 2
