"""Files of samples as the archive writes them: the same as Arrow writes from the same rows (D1)."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import slipring.lake
from slipring.journal.known_parameters import KnownParameters
from slipring.journal.location import Journal, JournalFolder
from slipring.journal.samples import JournalSamples
from slipring.lake.files import WrittenFile, write_file
from slipring.lake.specs import SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.lake.table import LakeTable
from slipring.lake.table_spec import TableSpec
from slipring.model import Kind
from slipring.native import encode_frame
from slipring.pipeline import range_files
from slipring.pipeline.range_files import LakeTarget, write_range
from tests.recording.history.sample_journals import FRAME_PROPERTIES, journal
from tests.recording.messages import Row

DAY_NS = 86_400 * 10**9
SAMPLES_MAX = 8
LABELS = {0: "off", 1: "on", 7: "failed"}
UNITS = (None, "K", "kPa")
TYPES = (*(kind.word for kind in Kind), "enum")
# Two parameters of each type, the second of all of them last.
PARAMETERS = [
    {
        "index": index,
        "name": f"plane/{index}",
        "type": kind,
        "labels": LABELS if kind == "enum" else None,
        "unit": UNITS[index % len(UNITS)],
    }
    for index, kind in enumerate((*TYPES, *TYPES))
]
INDEX = {kind: index for index, kind in enumerate(TYPES)}


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals of these tests are written without a broker that declares parameters."""
    listed = {"table": 7, "revision": 0, "epoch": 0, "versions": PARAMETERS}
    known_here = KnownParameters.of_json(json.dumps(listed))
    monkeypatch.setattr(KnownParameters, "of", lambda _: known_here)


def located(folder: Path, rows: list[Row]) -> Journal:
    location = JournalFolder(str(journal(folder, rows)))
    return Journal(location, location.open().identity)


def by_us(found: Journal, lake: LakeLocation, spec: TableSpec) -> list[WrittenFile]:
    """What the archive writes of a whole journal."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(range_files, "SAMPLES", spec)
        target = LakeTarget(found, lake, {"samples": 0})
        _, *files = write_range(0, found.open().end_offset(), target)
    return [*files]


def by_arrow(found: Journal, lake: LakeLocation, spec: TableSpec) -> list[WrittenFile]:
    """The same rows, written by Arrow."""

    def batches() -> Iterator[pa.RecordBatch]:
        reader = JournalSamples(found, rows_max=range_files.SAMPLE_ROWS_MAX)
        for batch in reader.sorted_batches(0, found.open().end_offset()):
            columns = {"journal": pa.array([found.identity] * batch.num_rows)}
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                is_coded = pa.types.is_dictionary(column.type)
                columns[name] = column.dictionary_decode() if is_coded else column
            yield pa.record_batch(columns)

    return write_file(lake, spec, batches())


def compare(found: Journal, folder: Path, spec: TableSpec = SAMPLES) -> list[WrittenFile]:
    """Both ways give the same files; returns ours."""
    lake = LakeLocation.of(folder / f"lake-{found.identity}")
    ours, arrows = by_us(found, lake, spec), by_arrow(found, lake, spec)
    assert [(one.partition, one.rows) for one in ours] == [
        (one.partition, one.rows) for one in arrows
    ]
    for our, arrow in zip(ours, arrows, strict=True):
        assert our.stats == arrow.stats
        table = lake.path / spec.name
        one, other = pq.ParquetFile(table / our.path), pq.ParquetFile(table / arrow.path)
        assert one.schema.equals(other.schema)
        assert one.schema_arrow.equals(other.schema_arrow)
        assert (table / our.path).stat().st_size == our.bytes
        assert one.metadata.num_row_groups == other.metadata.num_row_groups
        assert told(one.read()) == told(other.read())
        for group in range(one.metadata.num_row_groups):
            assert bounds(one, group) == bounds(other, group)
    return ours


def told(rows: pa.Table) -> list[str]:
    """Comparable: not a number equals itself, and zeros have a sign."""
    return [repr(row) for row in rows.to_pylist()]


def bounds(file: pq.ParquetFile, group: int) -> dict[str, Any]:
    """What the footer says of each column."""
    columns = [
        file.metadata.row_group(group).column(place) for place in range(len(SAMPLES.file_schema))
    ]
    return {
        one.path_in_schema: (
            repr((found.min, found.max) if found.has_min_max else None),
            found.null_count,
            found.num_values,
        )
        for one in columns
        if (found := one.statistics) is not None
    }


Sample = tuple[int, int, int, Any]
"""Index, source time, quality, value."""


def message(receive_ns: int, samples: dict[Kind, list[Sample]]) -> Row:
    """A frame of samples."""
    runs: list[Any] = [("samples", int(kind), rows) for kind, rows in samples.items()]
    payload = encode_frame(runs, table=7, sequence=1, sent_ns=0)
    return (receive_ns, "plane", "plane", 1, FRAME_PROPERTIES, payload)


def _values(kind: Kind) -> st.SearchStrategy[Any]:
    word = kind.word
    if kind is Kind.BOOL:
        return st.booleans()
    if word[0] == "f":
        return st.floats(width=32 if kind is Kind.F32 else 64)
    if kind is Kind.TEXT:
        return st.text(st.characters(codec="utf-8"), max_size=4)
    if kind is Kind.BYTES:
        return st.binary(max_size=4)
    bits = int(word[1:])
    low = 0 if word[0] == "u" else -(2 ** (bits - 1))
    return st.integers(0, 9) | st.integers(low, low + 2**bits - 1)


@st.composite
def messages(draw: st.DrawFn) -> list[Row]:
    """Frames with samples of some types, received on some days."""
    times = st.integers(-5, 5) | st.integers(-(2**60), 2**60)
    qualities = st.sampled_from([0, 0, 0, 0x44, 0x85, 0xFF])
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        receive_ns = draw(st.integers(0, 2)) * DAY_NS + draw(st.integers(0, 3_000))
        samples = {}
        for kind in draw(st.lists(st.sampled_from(Kind), max_size=4, unique=True)):
            indices = [INDEX[kind.word], INDEX[kind.word] + len(TYPES)]
            if kind is Kind.U8:
                indices += [INDEX["enum"], INDEX["enum"] + len(TYPES)]
            one = st.tuples(st.sampled_from(indices), times, qualities, _values(kind))
            samples[kind] = draw(st.lists(one, min_size=1, max_size=SAMPLES_MAX))
        rows.append(message(receive_ns, samples))
    return rows


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(messages(), st.integers(1, 40), st.integers(1, 40))
def test_a_file_is_what_arrow_writes_of_the_same_samples(
    tmp_path: Path, rows: list[Row], group_rows: int, page_rows: int
) -> None:
    spec = replace(SAMPLES, group_rows=group_rows, page_rows=page_rows)
    compare(located(tmp_path, rows), tmp_path, spec)


def test_many_messages_times_and_qualities_fill_their_dictionaries(tmp_path: Path) -> None:
    """More than places of one byte hold; and more times than a dictionary is for."""
    index = INDEX["f64"]
    rows = [
        message(
            number,
            {
                Kind.F64: [
                    (index, number * 40 + at % (5 if number < 500 else 40), at * 6, at / 7)
                    for at in range(40)
                ]
            },
        )
        for number in range(1_000)
    ]
    spec = replace(SAMPLES, group_rows=20_000, page_rows=3_001)
    (file,) = compare(located(tmp_path, rows), tmp_path, spec)
    assert file.rows == 40_000


def test_a_message_for_each_sample(tmp_path: Path) -> None:
    index = INDEX["u64"]
    rows = [message(n * 10, {Kind.U64: [(index, n, 0, 2**64 - 1 - n)]}) for n in range(300)]
    compare(located(tmp_path, rows), tmp_path)


def test_long_texts_and_bytes_take_several_pages(tmp_path: Path) -> None:
    """Three megabytes of texts that differ are no dictionary."""
    text, raw = INDEX["text"], INDEX["bytes"]
    rows = [
        message(
            n,
            {
                Kind.TEXT: [(text, n, 0, f"{n}" + "å" * 1_500)],
                Kind.BYTES: [(raw, n, 0, bytes([n % 251]) * 3_000)],
            },
        )
        for n in range(1_000)
    ]
    compare(located(tmp_path, rows), tmp_path)


def test_the_lake_reads_the_files_without_spark(tmp_path: Path) -> None:
    index, flag = INDEX["f64"], INDEX["bool"]
    rows = [
        message(
            n * DAY_NS // 2,
            {
                Kind.F64: [(index, n * 1_000, 0, n / 4), (index, n * 1_000 + 1, 64, float("nan"))],
                Kind.BOOL: [(flag, n * 1_000, 0, n % 2 == 0)],
            },
        )
        for n in range(6)
    ]
    found, lake = located(tmp_path, rows), LakeLocation.of(tmp_path / "lake")
    files = by_us(found, lake, SAMPLES)
    assert len(files) == 3
    LakeTable.open(lake, SAMPLES).commit(files, {"test": 6})
    query = "SELECT source_ns, value FROM samples WHERE kind = 'f64' AND value >= 1 AND value < 9"
    reader = slipring.lake.open(tmp_path / "lake")
    assert reader.query(f"{query} ORDER BY source_ns").to_pydict() == {
        "source_ns": [4_000, 5_000],
        "value": [1.0, 1.25],
    }
    counted = reader.query("SELECT count(*) AS rows FROM samples WHERE kind = 'bool'")
    assert counted.to_pydict() == {"rows": [6]}
