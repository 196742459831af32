"""The law: an export has what a live subscriber received, sample by sample, for every type.

A broker runs, a publisher writes, a selection of every sample listens; then the journal is exported
in every form, and what was exported is imported into another broker.
"""

import asyncio
import csv
import io
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from slipring import Parameter, connect
from slipring.model import Kind, Quality, Reason, Status
from tests.cli.commands import slipring
from tests.running_broker import RunningBroker

TIME_NS = 1_767_323_045_678_901_234
LABELS = {0: "off", 1: "on", 300: "failed"}
PARAMETERS = {kind.word: Parameter(kind.word, unit="V") for kind in Kind} | {
    "mode": Parameter("enum", labels=LABELS),
    "quiet": Parameter("f64"),
}
VALUES: dict[str, list[Any]] = {
    "bool": [True, False, True],
    "u8": [0, 255, 7],
    "u16": [0, 65_535, 7],
    "u32": [0, 2**32 - 1, 7],
    "u64": [0, 2**64 - 1, 2**63],
    "i8": [-128, 127, 0],
    "i16": [-32_768, 32_767, 0],
    "i32": [-(2**31), 2**31 - 1, 0],
    "i64": [-(2**63), 2**63 - 1, 2**53 + 1],
    "f32": [0.1, -0.0, float("inf")],
    "f64": [0.1, 5e-324, float("nan")],
    "text": ["", 'höjd, "x"\n', "nan"],
    "bytes": [b"", b"\xff\x00", b"abc"],
    "mode": [0, 300, 5],
}
BAD = Quality(Status.BAD, Reason.SENSOR_FAILED)

Triple = tuple[int, int, Any]
"""Time, quality, value."""
RecordedSamples = Mapping[str, list[Triple]]


@asynccontextmanager
async def publishing(url: str) -> AsyncIterator[int]:
    """Publishes samples, so many; the publisher stays as long as the block."""
    async with connect(url) as bus:
        plane = await bus.declare("plane", PARAMETERS, beat_ms=5, qos=1)
        for row in range(3):
            values = {name: some[row] for name, some in VALUES.items()}
            quality = BAD if row == 1 else Quality()
            plane.write(values, time_ns=TIME_NS + row, quality=quality)
        await plane.flush()
        alone = await bus.declare("other", {"x": Parameter("f32"), "y": Parameter("f32")}, qos=1)
        times = TIME_NS + np.arange(50, dtype=np.int64)
        alone.write_rows(np.arange(100, dtype=np.float32).reshape(50, 2), times)
        await alone.flush()
        await bus.publish("plane/u8", "77", qos=1, properties={"time": str(TIME_NS + 9)})
        await bus.publish("plane/mode", "on", qos=1, properties={"time": str(TIME_NS + 9)})
        yield 3 * len(VALUES) + 100 + 2


async def received(url: str) -> RecordedSamples:
    """What a selection of every sample gets of it."""
    found: dict[str, list[Triple]] = defaultdict(list)
    async with connect(url) as bus, bus.select("#") as frames, publishing(url) as count:
        left = count
        async for frame in frames:
            for name in frame.names:
                times, values, qualities = frame.samples(name)
                rows = zip(times.tolist(), qualities.tolist(), values.tolist(), strict=True)
                found[name] += rows
            left -= len(frame)
            if left <= 0:
                break
    return found


def same(found: RecordedSamples, expected: RecordedSamples) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        # repr, because NaN is not itself, and -0.0 is 0.0.
        assert repr(found[name]) == repr(expected[name]), name


def long(path: Path) -> RecordedSamples:
    found: dict[str, list[Triple]] = defaultdict(list)
    for row in pq.read_table(path).to_pylist():
        status = ("good", "uncertain", "bad", "stale").index(row["quality"])
        triple = (row["time"].value, status << 6 | row["reason"], of_long(row))
        found[row["name"]].append(triple)
    return found


def of_long(row: dict[str, Any]) -> Any:
    match row["name"].rpartition("/")[2]:
        case "bool":
            return bool(row["integer"])
        case "text" | "bytes" as word:
            return row[word]
        case "f32" | "f64" | "x" | "y":
            return row["value"]
        case "a":  # a number in one life, a text in another
            return row["value"] if row["text"] is None else row["text"]
        case _:
            return row["integer"] if row["integer"] is not None else int(row["text"])


def wide(path: Path) -> RecordedSamples:
    """The cells of a wide file, by column in the order of time; labels as numbers."""
    table = pq.read_table(path)
    numbers = {label: number for number, label in LABELS.items()}
    found: dict[str, list[Triple]] = {}
    for name in table.column_names[1:]:
        if name.endswith("#quality"):
            continue
        rows = table.select([name]).to_pylist()
        flaws = f"{name}#quality"
        words = table.column(flaws).to_pylist() if flaws in table.column_names else None
        cells = []
        for place, row in enumerate(rows):
            value = row[name]
            if value is not None:
                quality = {"good": 0, str(BAD): BAD.byte}[words[place]] if words else 0
                if name.endswith("/mode"):
                    value = numbers[value] if value in numbers else int(value)
                cells.append((table.column(0)[place].value, quality, value))
        if cells:
            found[name] = cells
    return found


def by_time(samples: RecordedSamples) -> RecordedSamples:
    return {name: sorted(some, key=lambda one: one[0]) for name, some in samples.items()}


@pytest.fixture
def other(tmp_path: Path) -> Iterator[RunningBroker]:
    running = RunningBroker.start(tmp_path / "other")
    yield running
    assert running.stop()[0] == 0


def test_an_export_has_what_a_live_subscriber_received(
    broker: RunningBroker, tmp_path: Path
) -> None:
    live = asyncio.run(received(broker.url))
    assert {name.rpartition("/")[2] for name in live} == {*VALUES, "x", "y"}
    chosen = ("--parameters", "#")
    for source in (broker.data, broker.url):
        slipring("export", source, tmp_path / "long.parquet", *chosen)
        same(long(tmp_path / "long.parquet"), live)
    slipring("export", broker.data, tmp_path / "wide.parquet", *chosen, "--wide")
    same(wide(tmp_path / "wide.parquet"), by_time(live))
    slipring("export", broker.data, tmp_path / "wide.csv", *chosen, "--units")
    head, units, *rows = csv.reader(io.StringIO((tmp_path / "wide.csv").read_text(), newline=""))
    assert dict(zip(head, units, strict=True))["plane/f64"] == "V"
    assert len(rows) == pq.read_metadata(tmp_path / "wide.parquet").num_rows
    slipring("export", broker.data, tmp_path / "x.mcap", *chosen)


@pytest.mark.parametrize("name", ["long.parquet", "wide.parquet", "wide.csv"])
def test_an_import_of_an_export_is_the_same_history(
    broker: RunningBroker, other: RunningBroker, tmp_path: Path, name: str
) -> None:
    live = asyncio.run(received(broker.url))
    wanted = ("--parameters", "#")
    look = ("--wide",) if name == "wide.parquet" else ()
    slipring("export", broker.data, tmp_path / name, *wanted, *look)
    write_dictionary(tmp_path / "types.csv")
    known = ("--dictionary", tmp_path / "types.csv") if name == "wide.csv" else ()
    done = slipring("import", tmp_path / name, "--to", other.url, *known)
    assert done.stdout.startswith(f"{sum(map(len, live.values()))} samples of ")
    slipring("export", other.data, tmp_path / "again.parquet", *wanted)
    same(long(tmp_path / "again.parquet"), live if name == "long.parquet" else by_time(live))


def write_dictionary(path: Path) -> None:
    from slipring.dictionary import write_csv

    named = {f"plane/{name}": one for name, one in PARAMETERS.items()}
    path.write_text(write_csv(named | dict.fromkeys(("other/x", "other/y"), Parameter("f32"))))
