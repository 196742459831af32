"""`slipring export --parameters` and `slipring import` of histories: choices, words, endings."""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from slipring import Parameter, connect
from slipring.native import JournalReader
from tests.cli.commands import command, refused, slipring, started
from tests.running_broker import RunningBroker, broker_in

TIME_NS = 1_767_323_045_000_000_000
RPM = "gripen/engine/rpm"


async def fly(url: str, rows: int) -> None:
    parameters = {
        "engine/rpm": Parameter("f64", unit="1/min"),
        "engine/on": Parameter("bool"),
        "wing/angle": Parameter("f32", unit="deg"),
    }
    async with connect(url) as bus:
        plane = await bus.declare("gripen", parameters, qos=1)
        for start in range(0, rows, 10_000):
            numbers = np.arange(start, min(rows, start + 10_000), dtype=np.int64)
            plane.write_rows(
                {
                    "f64": numbers[:, None].astype(np.float64),
                    "bool": (numbers % 2 == 0)[:, None],
                    "f32": (numbers[:, None] / 2).astype(np.float32),
                },
                TIME_NS + numbers * 10_000_000,
            )
            await plane.flush()


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker whose journal has a thousand rows of three parameters."""
    with broker_in(tmp_path_factory.mktemp("flown")) as running:
        asyncio.run(fly(running.url, 1_000))
        yield running


def test_filters_and_names_choose_columns(flown: RunningBroker, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    done = slipring("export", flown.data, out, "--parameters", "gripen/engine/#")
    assert done.stderr == f"2,000 samples, 1,000 rows in {out}\n"
    assert out.read_text().splitlines()[:2] == [
        "time,gripen/engine/on,gripen/engine/rpm",
        "2026-01-02 03:04:05.000000000Z,true,0",
    ]
    (tmp_path / "names").write_text("gripen/wing/angle\n\n gripen/engine/on\n")
    slipring("export", flown.data, out, "--names", tmp_path / "names")
    assert out.read_text().splitlines()[0] == "time,gripen/wing/angle,gripen/engine/on"


def test_a_grid_has_units_and_even_times(flown: RunningBroker) -> None:
    chosen = ("--parameters", "gripen/+/rpm", "--parameters", "gripen/wing/#")
    text = slipring("export", flown.data, "-", *chosen, "--grid", "2.5s", "--units").stdout
    assert text.splitlines() == [
        "time,gripen/engine/rpm,gripen/wing/angle",
        ",1/min,deg",
        "2026-01-02 03:04:05.000000000Z,0,0",
        "2026-01-02 03:04:07.500000000Z,250,125",
        "2026-01-02 03:04:10.000000000Z,500,250",
        "2026-01-02 03:04:12.500000000Z,750,375",
        "2026-01-02 03:04:15.000000000Z,999,499.5",
    ]


def test_places_are_those_of_messages(flown: RunningBroker, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    slipring("export", flown.url, out, "--parameters", "#", "--from", "@0", "--to", "@0")
    assert pq.read_metadata(out).num_rows == 0
    slipring("export", flown.data, out, "--parameters", "#", "--from", "-1h")
    assert pq.read_metadata(out).num_rows == 3_000


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("{data}", "{out}.csv", "--parameters", "none/#"), "no parameter of"),
        (("{data}", "{out}.csv", "--parameters", "a/#/b"), "a/#/b"),
        (("{data}", "{out}.csv", "--names", "{names}"), "has no parameter 'gripen/nothing'"),
        (("{data}", "{out}.csv", "--parameters", "#", "--parameters", "gripen/engine/rmp"),
         "has no parameter 'gripen/engine/rmp'; did you mean 'gripen/engine/rpm'?"),
        (("{data}", "{out}.csv", "--names", "{out}"), "cannot read names"),
        (("{data}", "{out}.jsonl", "--parameters", "#"), ".parquet, .csv or .mcap"),
        (("{data}", "{out}.csv"), "--parameters"),
        (("{data}", "{out}.csv", "--parameters", "#", "--grid", "soon"), "100ms"),
        (("{data}", "{out}.csv", "--parameters", "#", "--grid", "1ns"), "longer step"),
        (("{data}", "{out}.csv", "--parameters", "#", "--time-column", RPM), "--time-column"),
        (("mqtt://127.0.0.1:1", "{out}.csv", "--parameters", "#"), "127.0.0.1:1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_and_no_file(
    flown: RunningBroker, tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "names").write_text("gripen/nothing\n")
    places = {"data": flown.data, "out": tmp_path / "out", "names": tmp_path / "names"}
    assert expected in refused("export", *(text.format(**places) for text in arguments))
    assert [path.name for path in tmp_path.iterdir()] == ["names"]


@pytest.mark.parametrize(
    "options",
    [
        ("--wide",),
        ("--parameters", "#", "--names", "x"),
        ("--parameters", "#", "--filter", "a"),
        ("--parameters", "#", "--format", "mcap", "--wide"),
        ("--parameters", "#", "--format", "parquet", "--units"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    flown: RunningBroker, tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = slipring("export", flown.data, tmp_path / "out.parquet", *options, code=2)
    assert "--" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_half_file(tmp_path: Path, number: signal.Signals) -> None:
    running = RunningBroker.start(tmp_path / "data")
    asyncio.run(fly(running.url, 300_000))
    process = started("export", running.data, tmp_path / "out.mcap", "--parameters", "#")
    while not list(tmp_path.glob(".out.mcap.*.part")):
        assert process.poll() is None
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    running.stop()
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1].endswith("out.mcap was not written")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_reader_that_leaves_ends_it_quietly(flown: RunningBroker) -> None:
    with subprocess.Popen(
        command("export", flown.data, "-", "--parameters", "#", "--grid", "100us"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"time,")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_an_import_that_is_refused_says_where_and_how_to_go_on(
    flown: RunningBroker, tmp_path: Path
) -> None:
    path = tmp_path / "h.csv"
    path.write_text("time,a\n2026-01-01T00:00:00Z,1\n2099-01-01T00:00:00Z,2\n")
    told = slipring("import", path, "--prefix", "old", "--to", flown.url, code=1).stderr
    assert f"one of the 2 rows from {path}, line 2, on: " in told
    assert "ahead of the broker's clock" in told
    assert "0 rows acknowledged: continue after them with --skip 0" in told


def test_an_interrupted_import_goes_on_where_it_says_and_loses_nothing(
    broker: RunningBroker, tmp_path: Path
) -> None:
    path, rows = tmp_path / "h.csv", 400_000
    path.write_text("time,a\n" + "".join(f"{TIME_NS + row},{row}\n" for row in range(rows)))
    given = (path, "--prefix", "old", "--type", "a=u32", "--to", broker.url)
    process = started("import", *given)
    while JournalReader(broker.data / "journal").end_offset() < 2:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    told = re.search(r"interrupted; ([\d,]+) rows acknowledged: .* --skip (\d+)", errors)
    assert told, errors
    slipring("import", *given, "--skip", told[2])
    slipring("export", broker.data, tmp_path / "all.parquet", "--parameters", "#", "--wide")
    found = pq.read_table(tmp_path / "all.parquet").column("old/a").to_pylist()
    assert found == [*range(rows)]


def test_a_type_that_clashes_with_the_table_is_refused_with_both(
    flown: RunningBroker, tmp_path: Path
) -> None:
    path = tmp_path / "h.csv"
    path.write_text("time,engine/rpm\n0,1\n")
    told = refused(
        "import", path, "--prefix", "gripen", "--to", flown.url, "--type", "engine/rpm=u8"
    )
    assert "gripen/engine/rpm" in told
    assert "f64" in told
    assert "u8" in told


def test_what_the_table_knows_needs_no_type(flown: RunningBroker, tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("time,engine/rpm,engine/on\n5,1,1\n6,,0\n")
    done = slipring("import", path, "--prefix", "gripen", "--to", flown.url)
    assert done.stdout.startswith("3 samples of 2 parameters, 2 rows, acknowledged by mqtt://")


def test_messages_are_still_messages(flown: RunningBroker, tmp_path: Path) -> None:
    slipring("export", flown.data, tmp_path / "m.parquet", "--to", "@1")
    done = slipring("import", tmp_path / "m.parquet", "--journal", tmp_path / "journal")
    assert "1 message" in done.stdout
    told = slipring(
        "import", tmp_path / "m.parquet", "--prefix", "a", "--journal", tmp_path / "j", code=2
    )
    assert "--journal" in told.stderr
