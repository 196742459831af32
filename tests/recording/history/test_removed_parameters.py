"""The law over the lives of parameters and of a broker: removed, declared anew, started again.

A subscriber listens all the time, but for what the broker tells by itself (stale values); then the
journal is exported in every form, from its folder and over the network.
"""

import asyncio
import base64
import csv
import io
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from mcap.reader import make_reader

from slipring import Bus, Parameter, connect
from slipring.frames import Frame
from slipring.journal.location import JournalBroker, journal_folder
from slipring.model import Quality, Reason, Status
from slipring.recording.file_format import FileFormat
from slipring.recording.history.export import HistoryShape, export_samples
from slipring.recording.history.read.definitions import Definitions, of_broker, of_journal
from slipring.recording.history.read.open_history import ReadOptions, open_history
from slipring.recording.history.read.sample_reader import SampleReader
from slipring.recording.output import OutputStream
from slipring.recording.recording import Recording
from tests.recording.history.test_export_law import LABELS, PARAMETERS, VALUES, long, same
from tests.running_broker import RunningBroker

TIME_NS = 1_767_323_045_000_000_000
QUALITIES = (
    Quality(),
    Quality(Status.BAD, Reason.SENSOR_FAILED),
    Quality(Status.UNCERTAIN, Reason.BAD_INPUTS),
)
WORDS = {str(Quality.of_byte(byte)): byte for byte in range(256)}

Triple = tuple[int, int, Any]
"""Time, quality, value."""


class Ear:
    """Hears every sample that a publisher sent, in order."""

    def __init__(self, frames: AsyncIterator[Frame]) -> None:
        self._frames = frames
        self.found: dict[str, list[Triple]] = defaultdict(list)

    async def hear(self, count: int) -> None:
        """Wait for so many."""
        while count > 0:
            frame = await anext(self._frames)
            for name in frame.names:
                columns = (frame.samples(name)[place].tolist() for place in (0, 2, 1))
                rows = [row for row in zip(*columns, strict=True) if row[1] >> 6 != Status.STALE]
                self.found[name] += rows
                count -= len(rows)
        assert count == 0


@asynccontextmanager
async def meeting(url: str) -> AsyncIterator[tuple[Ear, Bus]]:
    """Somebody who listens, and a connection to publish by."""
    async with connect(url) as listening, listening.select("#") as frames, connect(url) as bus:
        yield Ear(aiter(frames)), bus


async def fly(ear: Ear, bus: Bus, start_ns: int) -> None:
    """Samples of every type and several qualities; fifty of one parameter in one frame."""
    plane = await bus.declare("plane", PARAMETERS, qos=1)
    for row, quality in enumerate(QUALITIES):
        values = {name: some[row] for name, some in VALUES.items()}
        plane.write(values, time_ns=start_ns + row, quality=quality)
    await plane.flush()
    await ear.hear(3 * len(VALUES))
    many = await bus.declare("many", {"x": Parameter("f32"), "y": Parameter("f32")}, qos=1)
    times = start_ns + np.arange(50, dtype=np.int64)
    many.write_rows(np.arange(100, dtype=np.float32).reshape(50, 2), times)
    await many.flush()
    await bus.publish("plane/u8", "77", qos=1, properties={"time": str(start_ns + 9)})
    await bus.publish("plane/bytes", b"\x80", qos=1, properties={"time": str(start_ns + 9)})
    await ear.hear(102)


async def live(ear: Ear, bus: Bus, kinds: dict[str, str], values: dict[str, list[Any]]) -> None:
    """A short life of some parameters, at whose end they are removed."""
    gone = await bus.declare("gone", {name: Parameter(one) for name, one in kinds.items()}, qos=1)
    first = TIME_NS + 1_000 * len(ear.found)
    for row in range(2):
        some = {name: each[row] for name, each in values.items()}
        gone.write(some, time_ns=first + row)
    await gone.flush()
    await ear.hear(2 * len(kinds))
    await gone.remove()


async def before(url: str) -> dict[str, list[Triple]]:
    async with meeting(url) as (ear, bus):
        await fly(ear, bus, TIME_NS)
        await live(ear, bus, {"a": "f64", "b": "u8"}, {"a": [1.5, -0.0], "b": [3, 255]})
        await live(ear, bus, {"a": "text", "c": "i16"}, {"a": ["x", ""], "c": [-1, 7]})
    return ear.found


async def after(url: str) -> dict[str, list[Triple]]:
    async with meeting(url) as (ear, bus):
        await live(ear, bus, {"b": "u8"}, {"b": [9, 8]})
        await fly(ear, bus, TIME_NS + 60_000_000_000)
    return ear.found


class Flown:
    """A journal, what a subscriber heard of it, and its broker."""

    def __init__(self, folder: Path) -> None:
        first = RunningBroker.start(folder)
        self.heard = asyncio.run(before(first.url))
        assert first.stop()[0] == 0
        self.broker = RunningBroker.start(folder)
        for name, some in asyncio.run(after(self.broker.url)).items():
            self.heard[name] += some

    def exported(self, shape: HistoryShape, *, over_the_network: bool = False) -> bytes:
        recording = Recording(
            JournalBroker(self.broker.url) if over_the_network else self.broker.data
        )
        known = self.asked() if over_the_network else of_journal(journal_folder(self.broker.data))
        source = SampleReader(recording, known.columns_matching(["#"], "the test"))
        stream = io.BytesIO()
        export_samples(source, OutputStream(stream), shape, lambda _samples, _done: None)
        return stream.getvalue()

    def asked(self) -> Definitions:
        async def ask() -> Definitions:
            async with connect(self.broker.url) as bus:
                return await of_broker(bus)

        return asyncio.run(ask())


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = Flown(tmp_path_factory.mktemp("lives") / "data")
    yield made
    assert made.broker.stop()[0] == 0


def by_time(samples: dict[str, list[Triple]]) -> dict[str, list[Triple]]:
    """In the order of time; of several with one time, the last one."""
    return {
        name: [(at, *rest) for at, rest in sorted({one[0]: one[1:] for one in some}.items())]
        for name, some in samples.items()
    }


LONG = HistoryShape(FileFormat.PARQUET)
WIDE = HistoryShape(FileFormat.PARQUET, is_wide=True)
SHAPES = {
    "long": LONG,
    "wide": WIDE,
    "csv": HistoryShape(FileFormat.CSV, has_units=True),
    "grid": HistoryShape(FileFormat.CSV, grid_ns=10_000_000_000),
    "mcap": HistoryShape(FileFormat.MCAP),
}


def content(exported: bytes, shape: HistoryShape) -> object:
    """What a file says; how Parquet packs it depends on how it came."""
    if shape.file_format is not FileFormat.PARQUET:
        return exported
    table = pq.read_table(pa.BufferReader(exported))
    return table.schema.names, table.schema.metadata, repr(table.to_pylist())


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "mcap"])
def test_the_same_export_comes_from_a_folder_and_over_the_network(flown: Flown, name: str) -> None:
    shape = SHAPES[name]
    local, remote = flown.exported(shape), flown.exported(shape, over_the_network=True)
    assert content(local, shape) == content(remote, shape)


def test_removed_parameters_are_known_over_the_network(flown: Flown) -> None:
    local, asked = of_journal(journal_folder(flown.broker.data)), flown.asked()
    assert [entry.name for entry in asked.entries if entry.name == "gone/a"] == ["gone/a"] * 2
    assert asked.entries == local.entries
    assert asked.table.identity == local.table.identity


def test_a_long_export_has_every_sample_of_every_life(flown: Flown, tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    path.write_bytes(flown.exported(LONG))
    same(long(path), flown.heard)


@pytest.mark.parametrize("name", ["long", "wide", "csv"])
def test_of_a_name_with_two_lives_the_last_one_can_be_imported(
    flown: Flown, tmp_path: Path, name: str
) -> None:
    shape = HistoryShape(FileFormat.CSV) if name == "csv" else SHAPES[name]
    path = tmp_path / f"history.{shape.file_format}"
    path.write_bytes(flown.exported(shape))
    file = open_history(path, ReadOptions())
    assert [one.partition("#")[0] for one in file.earlier] == ["gone/a"]
    blocks = list(file.blocks({"gone/a": Parameter("text")}, 0))
    values = [value for one in blocks for patch in one.samples for value in patch.values.flat]
    assert values == ["x", ""]


def joined_lives(columns: dict[str, list[Triple]]) -> dict[str, list[Triple]]:
    """`NAME#INDEX` is an earlier life of NAME."""
    found: dict[str, list[Triple]] = defaultdict(list)
    for name, some in columns.items():
        found[name.partition("#")[0]] += some
    return {name: sorted(some, key=lambda one: one[0]) for name, some in found.items() if some}


def columns_of(rows: list[dict[str, Any]], read: Callable[[str, Any], Any]) -> dict[str, Any]:
    names = [name for name in rows[0] if name != "time" and not name.endswith("#quality")]
    found: dict[str, list[Triple]] = {name: [] for name in names}
    for row in rows:
        for name in names:
            if row[name] is not None:
                quality = WORDS[row.get(f"{name}#quality") or "good"]
                found[name].append((read("time", row["time"]), quality, read(name, row[name])))
    return joined_lives(found)


def number_of(word: str) -> int:
    numbers = {label: number for number, label in LABELS.items()}
    return numbers[word] if word in numbers else int(word)


def of_wide(name: str, value: Any) -> Any:
    if name == "time":
        return value.value
    return number_of(value) if name == "plane/mode" else value


READ: dict[str, Callable[[str], Any]] = {
    "time": lambda text: int(np.datetime64(text.rstrip("Z"), "ns").astype(np.int64)),
    "bool": {"true": True, "false": False}.__getitem__,
    "f32": lambda text: float(np.float32(text)),
    "f64": float,
    "bytes": base64.b64decode,
    "text": str,
    "mode": number_of,
}
"""How a cell of a CSV file is read, by the last level of its name or by its type."""
TYPES = {"x": "f32", "y": "f32", "a": "text"}


def of_text(name: str, text: str) -> Any:
    last = name.rpartition("/")[2]
    kind = "f64" if last.startswith("a#") else TYPES.get(last, last)
    return READ.get(kind, int)(text)


def test_a_wide_export_has_the_cells_of_every_life(flown: Flown, tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    path.write_bytes(flown.exported(WIDE))
    same(columns_of(pq.read_table(path).to_pylist(), of_wide), by_time(flown.heard))


def cells_of(content: bytes) -> list[dict[str, str | None]]:
    """Cells as texts; an empty cell without quotes is none."""
    head = next(csv.reader([content.decode().splitlines()[0]]))
    texts = pcsv.ConvertOptions(
        column_types=dict.fromkeys(head, pa.string()),
        strings_can_be_null=True,
        null_values=[""],
        quoted_strings_can_be_null=False,
    )
    rows = pcsv.read_csv(
        io.BytesIO(content),
        parse_options=pcsv.ParseOptions(newlines_in_values=True),
        convert_options=texts,
    )
    found: list[dict[str, str | None]] = rows.to_pylist()
    return found


def test_a_csv_export_has_the_cells_of_every_life(flown: Flown) -> None:
    rows = cells_of(flown.exported(HistoryShape(FileFormat.CSV)))
    same(columns_of(rows, of_text), by_time(flown.heard))


def test_a_grid_has_the_last_value_of_every_life(flown: Flown) -> None:
    rows = cells_of(flown.exported(SHAPES["grid"]))
    last = rows[-1]
    for name, some in flown.heard.items():
        newest = max(some, key=lambda one: one[0])[2]
        assert repr(of_text(name, str(last[name]))) == repr(newest), name
    assert last["gone/a"] == ""
    older = next(name for name in last if name.startswith("gone/a#"))
    assert last[older] == "-0"


def test_an_mcap_export_has_every_sample_of_every_life(flown: Flown) -> None:
    found: dict[str, list[Triple]] = defaultdict(list)
    reader = make_reader(io.BytesIO(flown.exported(SHAPES["mcap"])))
    for _, channel, message in reader.iter_messages(log_time_order=False):
        said = json.loads(message.data, parse_int=lambda text: -0.0 if text == "-0" else int(text))
        flaws = said.pop("#quality", {})
        for last, value in said.items():
            name = f"{channel.topic}/{last}".partition("#")[0]
            found[name].append((message.publish_time, WORDS[flaws.get(last, "good")], value))
    heard = {name: [in_json(name, one) for one in some] for name, some in flown.heard.items()}
    same({name: [in_json(name, one) for one in some] for name, some in found.items()}, heard)


def in_json(name: str, sample: Triple) -> Triple:
    """The value as JSON can say it; a number with the digits that its type has."""
    time, quality, value = sample
    if isinstance(value, bytes):
        return time, quality, base64.b64encode(value).decode()
    kind = name.rpartition("/")[2]
    if kind in {"f32", "f64", "x", "y", "a"} and isinstance(value, int | float):
        number = np.float64(value) if kind in {"f64", "a"} else np.float32(value)
        return time, quality, str(number) if np.isfinite(number) else None
    return sample
