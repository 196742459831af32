"""What subscribers received, what an export writes and what the lake holds are equal (D1).

Sample by sample, through a real broker: every type and quality, all layouts of runs, plain
messages, clocks that jump back, and parameters that come, go and come back as another type.
"""

import asyncio
import math
import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

import slipring
from slipring import Parameter, Quality, Reason, Status
from slipring.frames.arrays import DTYPES
from slipring.journal.location import JournalBroker
from slipring.lake.status import open_table
from slipring.model import Kind
from slipring.native import encode_frame
from slipring.pipeline import run
from slipring.recording.history.read.recorded_messages import FRAME
from tests.running_broker import PATIENCE_S, RunningBroker

T0_NS = 1_763_000_000_000_000_000
HOUR_NS = 3_600_000_000_000
LABELS = {0: "off", 1: "idle", 200: "run"}
PREFIX = "truth"
INTEGERS = {f"{sign}{bits}": (sign, bits) for sign in "ui" for bits in (8, 16, 32, 64)}
PARAMETERS = {
    "bool": Parameter("bool"),
    **{name: Parameter(name, unit="1") for name in INTEGERS},
    "f32": Parameter("f32", unit="Cel"),
    "f64": Parameter("f64", unit="kPa"),
    "text": Parameter("text"),
    "bytes": Parameter("bytes"),
    "enum": Parameter("enum", labels=LABELS),
}
QUALITIES = [
    0,
    Quality(Status.UNCERTAIN, Reason.SIMULATED).byte,
    Quality(Status.BAD, Reason.SENSOR_FAILED).byte,
    Quality(Status.STALE, Reason.SILENT).byte,
    Quality(Status.GOOD, 63).byte,
    255,
]


class TrueSample(NamedTuple):
    """A sample, comparable: the value is its text, so that not a number equals itself."""

    number: int
    """The index of its parameter."""
    name: str
    time_ns: int
    quality: int
    value: str


def values_of(kind: str) -> list[Any]:
    """The extremes of a type, and what is easily changed on the way."""
    if kind in INTEGERS:
        sign, bits = INTEGERS[kind]
        low, high = (0, 2**bits - 1) if sign == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return [low, high, 1, high - 1, 7]
    others: dict[str, list[Any]] = {
        "bool": [True, False, True, True, False],
        "f32": [0.1, -0.0, math.nan, math.inf, 3.4028234663852886e38],
        "f64": [0.1, -0.0, math.nan, -math.inf, 5e-324],
        "text": ["", "läuft", "a\nb", "\N{AIRPLANE}", "x" * 300],
        "bytes": [b"", b"\0\xff", b"text", bytes(range(256)), b"\n"],
        "enum": [0, 1, 200, 7, 0],  # 7 has no label
    }
    return others[kind]


class LivePublisher:
    """Sends samples in many ways, and notes them."""

    def __init__(self, bus: slipring.Bus) -> None:
        self.sent = list[TrueSample]()
        self.types = dict[int, Parameter]()
        self._bus = bus
        self._sequence = 0

    async def declare(self, prefix: str, parameters: Mapping[str, Parameter]) -> slipring.Declared:
        declared = await self._bus.declare(prefix, parameters, qos=1, beat_ms=0)
        indices = declared.indices.tolist()
        self.types |= dict(zip(indices, parameters.values(), strict=True))
        return declared

    async def write(self, declared: slipring.Declared, time_ns: int, number: int) -> None:
        """One sample of each, by the client: runs of one time."""
        quality = QUALITIES[number % len(QUALITIES)]
        values = {name: values_of(one.type)[number] for name, one in declared.parameters.items()}
        declared.write(values, time_ns=time_ns, quality=Quality.of_byte(quality))
        await declared.flush()
        for index, topic, value in zip(
            declared.indices.tolist(), declared.topics, values.values(), strict=True
        ):
            self._note(index, topic, time_ns, quality, value)

    async def send_grid(self, declared: slipring.Declared, times: Sequence[int]) -> None:
        """Each parameter at each time, with a quality for each sample."""
        runs = []
        for index, topic, one in self._declared(declared):
            values = values_of(one.type)[: len(times)]
            qualities = bytes(QUALITIES[(index + row) % 6] for row in range(len(times)))
            indices, at = np.array([index], np.uint32), np.array(times, np.int64)
            runs.append(
                ("grid", int(one.kind), indices, at, buffer_of(one.kind, values), qualities)
            )
            for row in zip(times, qualities, values, strict=True):
                self._note(index, topic, *row)
        await self._send(declared, runs, deflate=False)

    async def write_rows(self, declared: slipring.Declared, times: Sequence[int]) -> None:
        """Each parameter at each time, by the client: a grid of several f64."""
        shape = len(times), len(declared.names)
        values = np.arange(math.prod(shape)).reshape(shape) / 7
        qualities = np.array(QUALITIES, np.uint8)[np.arange(math.prod(shape)) % 6].reshape(shape)
        declared.write_rows(values, np.array(times, np.int64), quality=qualities)
        await declared.flush()
        for row, time_ns in enumerate(times):
            for column, (index, topic, _) in enumerate(self._declared(declared)):
                sample = int(qualities[row, column]), float(values[row, column])
                self._note(index, topic, time_ns, *sample)

    async def send_ragged(
        self, declared: slipring.Declared, first_ns: int, chosen: random.Random
    ) -> None:
        """Some samples of each parameter at times of its own, in a deflated frame."""
        runs = []
        for index, topic, one in self._declared(declared):
            values = values_of(one.type)[: chosen.randrange(1, 6)]
            times = sorted(first_ns + chosen.randrange(1_000) for _ in values)
            rows = [
                (index, time_ns, chosen.choice(QUALITIES), value)
                for time_ns, value in zip(times, values, strict=True)
            ]
            runs.append(("samples", int(one.kind), rows))
            for row in rows:
                self._note(index, topic, *row[1:])
        await self._send(declared, runs, deflate=True)

    async def send_plain(self, declared: slipring.Declared, time_ns: int) -> None:
        """A plain message for each parameter, as any MQTT client sends it."""
        for index, topic, one in self._declared(declared):
            value = values_of(one.type)[1]
            said = LABELS[value] if one.type == "enum" else value
            at = {"time": str(time_ns)}
            await self._bus.publish(topic, said, qos=1, properties=at)
            self._note(index, topic, time_ns, 0, value)

    def _declared(self, declared: slipring.Declared) -> list[tuple[int, str, Parameter]]:
        parameters = declared.parameters.values()
        return [*zip(declared.indices.tolist(), declared.topics, parameters, strict=True)]

    async def _send(self, declared: slipring.Declared, runs: list[Any], *, deflate: bool) -> None:
        self._sequence += 1
        frame = encode_frame(
            runs, table=declared.table, sequence=self._sequence, sent_ns=T0_NS, deflate=deflate
        )
        await self._bus.publish(PREFIX, frame, qos=1, content_type=FRAME)

    def _note(self, index: int, name: str, time_ns: int, quality: int, value: Any) -> None:
        known = float(np.float32(value)) if self.types[index].type == "f32" else value
        self.sent.append(TrueSample(index, name, time_ns, quality, repr(known)))


def buffer_of(kind: Kind, values: list[Any]) -> Any:
    return np.array(values, DTYPES[kind]) if kind.is_fixed else values


class LiveSubscriber:
    """Reads frames and keeps every sample, with the name it had then."""

    def __init__(self, frames: slipring.Selection) -> None:
        self.received = list[TrueSample]()
        self._frames = frames

    async def read(self, count: int) -> None:
        """Until so many samples are here."""
        async with asyncio.timeout(PATIENCE_S):
            while len(self.received) < count:
                self._take(await anext(self._frames))

    def _take(self, frame: slipring.Frame) -> None:
        for one in frame.runs:
            indices = one.sample_indices()
            names = frame.table.names(indices).tolist()
            columns = (one.sample_times(), one.sample_qualities(), one.values)
            rows = zip(indices.tolist(), names, *(each.tolist() for each in columns), strict=True)
            self.received += [
                TrueSample(number, name, time_ns, quality, repr(value))
                for number, name, time_ns, quality, value in rows
            ]


def value_in(row: Mapping[str, Any], parameter: Parameter) -> Any:
    """The value of a row of the lake or of an export."""
    kind = parameter.type
    if kind in {"text", "bytes"}:
        assert row["value"] is None
        return row[kind]
    if kind in {"u64", "i64"}:
        exact = row["text"] if row["integer"] is None else row["integer"]
        assert row["value"] == float(int(exact))
        return int(exact)
    if kind == "enum":
        assert row["text"] == LABELS.get(int(row["value"]))
    if kind in {"f32", "f64"}:
        return row["value"]
    return bool(row["value"]) if kind == "bool" else int(row["value"])


def in_the_lake(lake: Path, types: Mapping[int, Parameter]) -> Counter[TrueSample]:
    rows = open_table(lake, "samples").to_pyarrow_table().to_pylist()
    for row in rows:
        parameter = types[row["index"]]
        assert (row["kind"], row["unit"]) == (parameter.type, parameter.unit)
        assert row["receive_ns"] // 1_000 == row["receive_time"].timestamp() * 1_000_000
    assert open_table(lake, "set_aside").to_pyarrow_table().num_rows == 0
    return Counter(
        TrueSample(
            row["index"],
            row["parameter"],
            row["source_ns"],
            row["quality"],
            repr(value_in(row, types[row["index"]])),
        )
        for row in rows
    )


async def exported(source: str, out: Path, types: Mapping[int, Parameter]) -> Counter[TrueSample]:
    """What `slipring export` writes as a long file."""
    command = ["-m", "slipring", "export", source, str(out), "--parameters", f"{PREFIX}/#"]
    process = await asyncio.create_subprocess_exec(sys.executable, *command)
    assert await asyncio.wait_for(process.wait(), PATIENCE_S) == 0
    return Counter(
        TrueSample(
            row["index"],
            row["name"],
            row["time"].value,
            Quality.of_words(row["quality"]).byte | row["reason"],
            repr(value_in(row, types[row["index"]])),
        )
        for row in pq.read_table(out).to_pylist()
    )


async def publish_everything(bus: slipring.Bus, live: LiveSubscriber) -> LivePublisher:
    publisher, chosen = LivePublisher(bus), random.Random(13)
    every = await publisher.declare(PREFIX, PARAMETERS)
    for number in range(5):
        await publisher.write(every, T0_NS + number, number)
    await publisher.send_grid(every, [T0_NS + 100 * row for row in range(5)])
    await publisher.send_ragged(every, T0_NS + 1_000, chosen)
    await publisher.send_plain(every, T0_NS + 5_000)
    # The clock of the publisher jumps back by an hour, and from there before 1970.
    await publisher.send_ragged(every, T0_NS - HOUR_NS, chosen)
    await publisher.send_grid(every, [-5, -4, 0])
    wide = await publisher.declare(f"{PREFIX}/wide", dict.fromkeys("abc", PARAMETERS["f64"]))
    await publisher.write_rows(wide, [T0_NS, T0_NS + 1, T0_NS + 1, T0_NS + 20])
    later = await publisher.declare(f"{PREFIX}/later", {"x": PARAMETERS["f64"]})
    await publisher.write(later, T0_NS, 0)
    await publisher.send_plain(later, T0_NS + 1)
    await live.read(len(publisher.sent))
    await later.remove()
    again = await publisher.declare(f"{PREFIX}/later", {"x": PARAMETERS["text"]})
    await publisher.write(again, T0_NS, 1)
    await publisher.send_plain(again, T0_NS + 1)
    await live.read(len(publisher.sent))
    return publisher


async def test_subscribers_exports_and_the_lake_have_the_same_samples(
    broker: RunningBroker, tmp_path: Path
) -> None:
    async with (
        slipring.connect(broker.url) as reader,
        slipring.connect(broker.url) as bus,
        reader.select(f"{PREFIX}/#", beat_ms=0) as frames,
    ):
        live = LiveSubscriber(frames)
        publisher = await publish_everything(bus, live)
        types, truth = publisher.types, Counter(publisher.sent)
        assert Counter(live.received) == truth
        for source in (str(broker.data), broker.url):
            out = tmp_path / f"{len(source)}.parquet"
            assert await exported(source, out, types) == truth, source
        places: list[Path | JournalBroker] = [
            broker.data / "journal",
            JournalBroker.from_options(broker.url, {}),
        ]
        for number, journal in enumerate(places):
            lake = tmp_path / f"lake-{number}"
            await asyncio.to_thread(run, journal, lake, once=True, consumer=f"lake-{number}")
            assert in_the_lake(lake, types) == truth, journal
