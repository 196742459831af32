"""`slipring query`: rows in every format, whole files or none, and one line when it is wrong."""

import csv
import io
import json
import os
import signal
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slipring.cli.query_output import TABLE_ROWS_MAX, QueryFormat, write_batches
from tests.cli.commands import command, slipring, started
from tests.lake_samples import PREFIX, make_lake

SQL = (
    "SELECT source_time, value, unit FROM samples "
    f"WHERE parameter = '{PREFIX}/engine/egt' ORDER BY 1"
)


def why(*arguments: str | Path) -> str:
    """The last line of a command that failed; a slow machine shows progress before it."""
    return slipring(*arguments, code=1).stderr.splitlines()[-1]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 s of 12 parameters at 50 Hz."""
    return make_lake(tmp_path_factory.mktemp("lake"), seconds=4).folder


def test_a_person_gets_a_table_and_a_program_what_it_reads(lake: Path) -> None:
    shown = slipring("query", f"{SQL} LIMIT 2", "--lake", lake).stdout.splitlines()
    assert shown[0].split() == ["source_time", "value", "unit"]
    assert shown[1].split() == ["2026-01-02T03:00:00.000000Z", "594.15", "Cel"]
    assert len(shown) == 3
    lines = slipring("query", f"{SQL} LIMIT 2", "--lake", lake, "--format", "json").stdout
    assert json.loads(lines.splitlines()[0]) == {
        "source_time": "2026-01-02T03:00:00.000000Z",
        "value": 594.15,
        "unit": "Cel",
    }


def test_a_file_is_written_as_it_is_named(lake: Path, tmp_path: Path) -> None:
    done = slipring("query", SQL, "--lake", lake, "--output", tmp_path / "egt.parquet")
    assert done.stderr == f"200 rows in {tmp_path / 'egt.parquet'}\n"
    table = pq.read_table(tmp_path / "egt.parquet")
    assert (table.num_rows, table.schema.field("source_time").type) == (
        200,
        pa.timestamp("us", tz="UTC"),
    )
    assert "name it .csv" in why("query", SQL, "--lake", lake, "--output", tmp_path / "egt.xyz")


def test_the_list_shows_tables_with_rows_size_and_newest_time(lake: Path) -> None:
    rows = [
        line.split() for line in slipring("query", "--list", "--lake", lake).stdout.splitlines()
    ]
    assert rows[0] == ["table", "rows", "size", "files", "version", "newest"]
    samples = next(row for row in rows if row[0] == "samples")
    assert samples[1] == "2,400"
    assert "2026-01-02T03:00:03.983Z," in samples


def test_what_is_wrong_is_one_line(lake: Path, tmp_path: Path) -> None:
    assert "did you mean samples?" in why("query", "SELECT 1 FROM smples", "--lake", lake)
    assert "there is no lake in" in why("query", "SELECT 1", "--lake", tmp_path / "none")
    assert "is an offset" in why("query", "SELECT 1", "--lake", lake, "--as-of", "@7")
    assert "give a SELECT, or --list" in why("query", "--lake", lake)


def test_an_interrupt_ends_it_at_once_and_leaves_no_file(lake: Path, tmp_path: Path) -> None:
    endless = (
        "SELECT count(*) FROM samples a, samples b, samples c WHERE a.value + b.value > c.value"
    )
    process = started("query", endless, "--lake", lake, "--output", tmp_path / "out.csv")
    try:
        assert process.stderr is not None
        assert "querying: 0 rows" in process.stderr.readline()
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert said.splitlines()[-1] == f"slipring: interrupted: {tmp_path / 'out.csv'} was not written"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_is_no_error(lake: Path) -> None:
    with subprocess.Popen(
        command("query", "SELECT * FROM samples", "--lake", lake, "--format", "csv"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


ODD = pa.table(
    {
        "when": pa.array([0, None], pa.timestamp("ns", tz="UTC")),
        "day": pa.array([0, 1], pa.date32()),
        "number": pa.array([float("nan"), 1.5]),
        "exact": pa.array([2**63, None], pa.decimal128(20, 0)),
        "bytes": pa.array([b"\x00\xff", None]),
        "list": pa.array([[1, 2], None]),
        "text": pa.array(["a,\x1b[31m", None]),
        "yes": pa.array([True, False]),
    }
)


def written(table: pa.Table, chosen: QueryFormat) -> bytes:
    out = io.BytesIO()
    assert write_batches(table.schema, table.to_batches(), chosen, out)[0] == table.num_rows
    return out.getvalue()


def test_every_type_has_a_form_in_every_format() -> None:
    first, second = csv.DictReader(io.StringIO(written(ODD, QueryFormat.CSV).decode()))
    assert first["when"] == "1970-01-01T00:00:00.000000000Z"
    assert (first["bytes"], first["exact"], first["text"]) == ("AP8=", str(2**63), "a,\x1b[31m")
    assert (second["when"], second["day"], second["list"]) == ("", "1970-01-02", "")
    line = json.loads(written(ODD, QueryFormat.JSON).splitlines()[0])
    assert (line["number"], line["exact"], line["list"], line["yes"]) == (
        "nan",
        2**63,
        [1, 2],
        True,
    )
    assert pa.ipc.open_stream(written(ODD, QueryFormat.ARROW)).schema == ODD.schema
    assert pq.read_table(io.BytesIO(written(ODD, QueryFormat.PARQUET))).num_rows == 2
    shown = written(ODD, QueryFormat.TABLE).decode()
    assert "\x1b[31m" not in shown
    assert r"a,\x1b[31m" in shown


def test_a_table_for_people_ends_where_nobody_reads_on() -> None:
    many = pa.table({"n": range(TABLE_ROWS_MAX + 5)})
    out = io.BytesIO()
    counts = write_batches(many.schema, many.to_batches(), QueryFormat.TABLE, out)
    assert counts == (TABLE_ROWS_MAX + 5, TABLE_ROWS_MAX)
    assert len(out.getvalue().splitlines()) == TABLE_ROWS_MAX + 1
