"""Reading the lake without Spark: tables, SQL, time travel, samples by filter and time (D1)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipring import lake
from slipring.errors import InvalidTopic, LakeError
from slipring.lake.choice import ParameterChoice
from slipring.lake.lake import Lake
from slipring.lake.resolution import POINTS_MAX, WINDOWS_S, finest_fitting
from slipring.lake.result import LakeResult
from slipring.lake.specs import PARAMETERS, SAMPLES
from slipring.lake.storage import LakeLocation
from slipring.native import match_topics
from tests.lake_samples import (
    JOURNAL,
    NAMES,
    PREFIX,
    START,
    TEXT_INDEX,
    UNITS,
    SampleLake,
    commit,
    make_lake,
    sample_batch,
    value_at,
)
from tests.s3_server import S3Server

EGT = f"{PREFIX}/engine/egt"
TEN_S = timedelta(seconds=10)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> SampleLake:
    """60 s of 12 parameters at 50 Hz."""
    return make_lake(tmp_path_factory.mktemp("lake"))


@pytest.fixture
def opened(made: SampleLake) -> Lake:
    return lake.open(made.folder)


def names_of(result: LakeResult) -> list[str]:
    return sorted(set(result.to_arrow().column("parameter").to_pylist()))


def test_the_log_tells_the_tables_their_rows_and_the_newest_time(
    opened: Lake, made: SampleLake
) -> None:
    found = {one.name: one for one in opened.tables()}
    assert set(found) == {
        "samples",
        "parameters",
        "events",
        *(f"rollup_{one}" for one in WINDOWS_S),
    }
    samples = found["samples"]
    assert (samples.rows, samples.files) == (len(NAMES) * made.samples_each, 2)
    assert samples.newest is not None
    assert START + timedelta(seconds=59) < samples.newest < START + timedelta(seconds=60)
    assert found["parameters"].newest is None


@pytest.mark.parametrize("offset", [0, 1, 17, 10**9])
def test_rows_are_counted_from_an_offset_on(opened: Lake, offset: int) -> None:
    counted = opened.query(f'SELECT count(*) AS n FROM samples WHERE "offset" >= {offset}')
    assert opened.table("samples").rows_from(offset) == counted["n"][0].as_py()


@pytest.mark.parametrize(
    "chosen",
    [
        f"{PREFIX}/engine/+/egt",
        f"{PREFIX}/engine/#",
        f"{PREFIX}/engine",
        "+/+/fuel/total",
        "#",
        [EGT, f"{PREFIX}/fuel/+"],
    ],
)
def test_filters_choose_parameters_as_a_subscription_does(
    opened: Lake, chosen: str | list[str]
) -> None:
    filters = [chosen] if isinstance(chosen, str) else chosen
    wanted = [
        name for name, is_one in zip(NAMES, match_topics(filters, NAMES), strict=True) if is_one
    ]
    assert names_of(opened.read(chosen, every="raw")) == sorted(wanted)
    assert opened.parameters(chosen) == sorted(wanted)


def test_samples_are_those_of_the_time_in_order(opened: Lake) -> None:
    found = opened.read(EGT, START + TEN_S, START + 2 * TEN_S, "raw").to_arrow()
    assert found.column_names == ["parameter", "time", "value", "text", "quality", "unit"]
    numbers = np.arange(500, 1000)
    assert found.column("value").to_pylist() == value_at(np.full(500, 1), numbers).tolist()
    assert found.column("time").to_pylist()[0] == START + TEN_S
    assert set(found.column("unit").to_pylist()) == {"Cel"}


def test_a_time_may_be_text_and_is_utc_without_a_zone(opened: Lake) -> None:
    found = [
        len(opened.read(EGT, start, "2026-01-02T03:00:20Z", "raw"))
        for start in ("2026-01-02T03:00:10Z", "2026-01-02T03:00:10", datetime(2026, 1, 2, 3, 0, 10))
    ]
    assert found == [500, 500, 500]


def test_the_detail_is_chosen_so_that_a_plot_gets_at_most_two_thousand_points(
    opened: Lake, made: SampleLake
) -> None:
    assert made.samples_each > POINTS_MAX
    short = opened.read(EGT, START, START + TEN_S)
    assert (short.every, len(short)) == ("raw", 500)
    everything = opened.read(EGT)
    assert (everything.every, len(everything)) == ("1s", 60)
    longer = opened.read(EGT, START, START + timedelta(hours=10))
    assert (longer.every, len(longer)) == ("1m", 1)


@pytest.mark.parametrize(
    ("seconds", "every"),
    [(0, "1s"), (2_000, "1s"), (2_001, "1m"), (120_000, "1m"), (120_001, "1h"), (1e9, "1h")],
)
def test_the_finest_rollup_that_fits_is_taken(seconds: float, every: str) -> None:
    assert finest_fitting(seconds) == every


def test_a_window_that_the_start_is_in_belongs_to_the_answer(opened: Lake) -> None:
    found = opened.read(EGT, START + timedelta(milliseconds=1500), START + TEN_S, "1s").to_arrow()
    assert found.column("time").to_pylist()[0] == START + timedelta(seconds=1)
    assert found.num_rows == 9


def test_windows_have_the_mean_as_value_and_their_bounds(opened: Lake) -> None:
    (row,) = opened.read(EGT, every="1m").to_arrow().to_pylist()
    good = np.array([number for number in range(3000) if number % 1000 != 999])
    values = value_at(np.full(len(good), 1), good)
    assert (row["count"], row["bad"]) == (2997, 3)
    assert row["value"] == pytest.approx(values.mean())
    assert (row["min"], row["max"]) == (values.min(), values.max())


def test_without_a_rollup_the_windows_are_made_from_the_samples(tmp_path: Path) -> None:
    with_rollups = lake.open(make_lake(tmp_path / "with").folder)
    without = lake.open(make_lake(tmp_path / "without", rollups=False).folder)
    columns = ("value", "min", "max", "count", "bad", "first", "last", "unit")
    for every in ("1s", "1m", "1h"):
        wanted, found = (
            one.read([EGT, NAMES[4]], every=every, columns=columns).to_arrow()
            for one in (with_rollups, without)
        )
        for name in found.column_names:
            assert found.column(name).to_pylist() == (
                pytest.approx(wanted.column(name).to_pylist())
                if name == "value"
                else wanted.column(name).to_pylist()
            )
    assert without.read(EGT).every == "1s"


def test_old_samples_that_are_gone_are_read_from_their_rollup(tmp_path: Path) -> None:
    made = make_lake(tmp_path, seconds=5)
    samples = lake.open(made.folder).table("samples").delta
    samples.delete()
    found = lake.open(made.folder).read(EGT)
    assert (found.every, len(found)) == ("1s", 5)


def test_texts_are_read_as_they_are(opened: Lake) -> None:
    found = opened.read(NAMES[TEXT_INDEX], START, START + TEN_S, "raw", ["text"]).to_arrow()
    assert found.column_names == ["parameter", "time", "text"]
    assert set(found.column("text").to_pylist()) == {"climb", "cruise"}


def test_pandas_and_polars_get_the_same_rows(opened: Lake) -> None:
    result = opened.read(EGT, START, START + TEN_S)
    frame, polar = result.to_pandas(), result.to_polars()
    assert frame["value"].tolist() == polar["value"].to_list()
    assert str(frame["time"].dt.tz) == "UTC"


def test_a_package_that_is_missing_is_named_with_its_remedy(
    opened: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(LakeError, match="polars is not installed: pip install polars"):
        opened.read(EGT).to_polars()


def test_a_query_joins_tables(opened: Lake) -> None:
    found = opened.query(
        "SELECT p.unit, count(*) AS n FROM samples s JOIN parameters p ON s.parameter = p.name "
        "WHERE p.unit = 'Cel' GROUP BY p.unit"
    )
    assert found.to_pylist() == [{"unit": "Cel", "n": 9000}]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT 1 FROM sampels", "no table sampels; did you mean samples?; there are events, "),
        ("SELECT vlue FROM samples", "no column vlue; did you mean value?; there are journal, "),
        ("DROP TABLE samples", "begins with DROP; a query begins with one of SELECT, WITH"),
        ("COPY samples TO 'x.csv'", "begins with COPY"),
        ("/* hi */ -- there\n INSERT INTO samples VALUES (1)", "begins with INSERT"),
        ("", "the statement is empty"),
        ("SELECT (1", "Expected"),
    ],
)
def test_what_is_wrong_with_a_query_is_said_with_what_there_is(
    opened: Lake, sql: str, words: str
) -> None:
    with pytest.raises(LakeError) as refused:
        opened.query(sql)
    assert words in str(refused.value)


def test_an_earlier_version_is_read(opened: Lake, made: SampleLake) -> None:
    half = len(NAMES) * made.samples_each // 2
    assert opened.table("samples", version=1).status().rows == half
    assert opened.table("samples", version=1).to_arrow(["value"]).num_rows == half
    with pytest.raises(LakeError, match="no version 77"):
        opened.table("samples", version=77)


def test_the_lake_is_read_as_it_was_at_a_time(tmp_path: Path) -> None:
    made = make_lake(tmp_path, seconds=5, commits=1, rollups=False)
    then = datetime.now(UTC)
    rows = sample_batch(NAMES, UNITS, 0, range(made.samples_each, made.samples_each + 50), 50)
    commit(LakeLocation.of(tmp_path), SAMPLES, rows, 2)
    now, before = lake.open(tmp_path), lake.open(tmp_path, as_of=then)
    assert len(now.read(EGT, every="raw")) == 300
    assert len(before.read(EGT, every="raw")) == 250
    assert before.query("SELECT count(*) AS n FROM samples").to_pylist() == [
        {"n": 250 * len(NAMES)}
    ]


def test_a_condition_chooses_rows_of_a_table(opened: Lake) -> None:
    found = opened.table("parameters").to_arrow(["name", "unit"], where="unit = 'kg'")
    assert found.to_pylist() == [{"name": f"{PREFIX}/fuel/total", "unit": "kg"}]


def test_a_lake_that_is_not_there_and_a_wrong_filter_are_refused(
    opened: Lake, tmp_path: Path
) -> None:
    with pytest.raises(LakeError, match=r"there is no lake in .*; slipring pipeline run makes it"):
        lake.open(tmp_path / "none").tables()
    with pytest.raises(InvalidTopic):
        opened.read("engine/#/egt")
    with pytest.raises(LakeError, match="not a time"):
        opened.read(EGT, "yesterday")
    with pytest.raises(LakeError, match="allowed: auto, raw, 1s, 1m, 1h"):
        opened.read(EGT, every="5s")  # type: ignore[arg-type]


def test_a_lake_in_s3_storage_is_read(s3_server: S3Server, s3_bucket: str) -> None:
    where, options = f"s3://{s3_bucket}/lake", s3_server.options
    commit(
        LakeLocation.of(where, options), SAMPLES, sample_batch(NAMES, UNITS, 0, range(20), 10), 1
    )
    opened = lake.open(where, options=options)
    assert opened.names() == ["samples"]
    assert len(opened.read(f"{PREFIX}/engine/#")) == 5 * 20


LEVEL = st.sampled_from(["a", "b", "a.b", "a-b", "a b", "", "ü", "0", "(x)", "'"])
TOPIC = st.lists(LEVEL, min_size=1, max_size=4).map("/".join).filter(bool)


@st.composite
def topic_filters(draw: st.DrawFn) -> str:
    levels = draw(st.lists(st.one_of(LEVEL, st.just("+")), min_size=1, max_size=4))
    return "/".join([*levels, "#"] if draw(st.booleans()) else levels) or "#"


@pytest.fixture(scope="module")
def nameless(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake with windows of many names, and no definitions."""
    folder = tmp_path_factory.mktemp("nameless")
    make_lake(folder, seconds=1, commits=1)
    return lake.open(folder)


@settings(max_examples=60, deadline=None)
@given(
    filters=st.lists(topic_filters(), min_size=1, max_size=2), topics=st.lists(TOPIC, min_size=1)
)
def test_a_condition_on_names_matches_as_mqtt_does(
    nameless: Lake, filters: list[str], topics: list[str]
) -> None:
    condition = ParameterChoice.of(filters).name_condition() or "true"
    rows = ", ".join("('" + topic.replace("'", "''") + "')" for topic in topics)
    found = nameless.query(f"SELECT {condition} AS chosen FROM (VALUES {rows}) AS t(parameter)")
    assert found.column("chosen").to_pylist() == match_topics(filters, topics)


@pytest.mark.parametrize(
    "sql",
    [
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'",
        "explain verbose\nCOPY (SELECT 1) TO '{file}'",
        "/* /* */ SELECT */ COPY (SELECT 1) TO '{file}'",
        "/* ' /* */ SELECT ' */ COPY (SELECT 1) TO '{file}'",
    ],
)
def test_a_statement_that_hides_that_it_writes_is_refused(
    opened: Lake, tmp_path: Path, sql: str
) -> None:
    with pytest.raises(LakeError):
        opened.query(sql.format(file=tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


def test_what_fails_while_rows_are_computed_is_said_in_a_line(opened: Lake) -> None:
    with pytest.raises(LakeError, match="Divide by zero"):
        opened.query("SELECT 1/0")
    assert opened.query("EXPLAIN ANALYZE SELECT 1").num_rows == 1
    assert opened.query("SELECT 'a/*', 'b/*' /* one */ /* two */").num_rows == 1


def test_an_index_that_was_another_parameters_before_does_not_mix_them(tmp_path: Path) -> None:
    """The journal had another table: the definitions have the index 0 twice."""
    make_lake(tmp_path, seconds=2)
    where = LakeLocation.of(tmp_path)
    row = {"journal": JOURNAL, "table": 2, "index": 0, "name": "old/a", "type": "f64"}
    rows = pa.RecordBatch.from_pylist([{**row, "since_offset": 9}], schema=PARAMETERS.file_schema)
    commit(where, PARAMETERS, rows, 2)
    assert len(lake.open(tmp_path).read("old/a", every="raw")) == 0
