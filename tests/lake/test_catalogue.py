"""The catalogue: others find the tables, and it follows what happens to them (D1)."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from slipring.lake.catalogue import CATALOGUE, catalogue_of, read_catalogue
from slipring.lake.column_notes import TABLE_NOTES, column_note
from slipring.lake.specs import EVENTS, SAMPLES, TABLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable

GROWN = replace(SAMPLES, schema=SAMPLES.schema.append(pa.field("flag", pa.string())))


def columns_of(lake: LakeLocation, table: str) -> list[str]:
    return [one["name"] for one in read_catalogue(lake)["tables"][table]["columns"]]


def test_a_new_table_and_a_new_column_are_in_the_catalogue(lake: LakeLocation) -> None:
    LakeTable.open(lake, SAMPLES)
    assert columns_of(lake, "samples") == SAMPLES.schema.names
    LakeTable.open(lake, EVENTS)
    LakeTable.open(lake, GROWN)
    assert columns_of(lake, "samples") == GROWN.schema.names
    found = read_catalogue(lake)
    assert sorted(found["tables"]) == ["events", "samples"]
    assert found == catalogue_of(lake)
    samples = found["tables"]["samples"]
    assert (samples["location"], samples["format"]) == ("samples", "delta")
    assert samples["partition_by"] == ["receive_date"]
    assert {"duckdb", "spark", "pandas", "trino"} <= set(found["read"])


def test_a_catalogue_that_is_lost_or_broken_is_written_again(tmp_path: Path) -> None:
    where = LakeLocation.of(tmp_path)
    LakeTable.open(where, SAMPLES)
    wanted = read_catalogue(where)
    for content in (None, "{", "[]"):
        (tmp_path / CATALOGUE).unlink()
        if content is not None:
            (tmp_path / CATALOGUE).write_text(content)
        LakeTable.open(where, SAMPLES)
        assert read_catalogue(where) == wanted
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == [CATALOGUE]


def test_a_catalogue_that_says_all_is_left_alone(tmp_path: Path) -> None:
    where = LakeLocation.of(tmp_path)
    LakeTable.open(where, SAMPLES)
    found = json.loads((tmp_path / CATALOGUE).read_text())
    (tmp_path / CATALOGUE).write_text(json.dumps(found | {"owner": "flight test"}))
    LakeTable.open(where, SAMPLES)
    assert read_catalogue(where)["owner"] == "flight test"


def test_every_table_is_described_and_every_column_of_the_samples() -> None:
    assert set(TABLE_NOTES) >= set(TABLES)
    for name in ("samples", "frames", "parameters", "rollup_1s", "messages"):
        assert [one for one in TABLES[name].schema.names if not column_note(name, one)] == []
