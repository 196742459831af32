"""Bad samples and declarations: an answer to their sender, a count, and nobody else disturbed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import numpy as np
import pytest

import slipring
from slipring import DeclareRefused, Parameter, PublishRefused
from slipring.native import encode_frame
from tests.console_answer import overview
from tests.metrics import Metrics
from tests.running_broker import RunningBroker, broker_in

CONTENT_TYPE = "application/vnd.slipring.frame"
F64, BOOL = 11, 1
HOUR_NS = 3_600_000_000_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with room for a hundred parameters."""
    folder = tmp_path_factory.mktemp("table")
    with broker_in(folder, config="[limits]\nparameters = 100\n") as running:
        yield running


@dataclass
class Sender:
    """A publisher with two declared parameters, that makes frames by hand."""

    bus: slipring.Bus
    table: int
    indices: list[int]

    def frame(
        self, indices: list[int] | None = None, *, table: int | None = None, ahead_ns: int = 0
    ) -> bytes:
        """A frame of numbers; for these parameters, another table, or a later time."""
        wanted = np.array(self.indices if indices is None else indices, np.uint32)
        time_ns = time.time_ns() + ahead_ns
        return encode_frame(
            [("row", F64, wanted, time_ns, np.ones(len(wanted)), 0)],
            table=table or self.table,
            sequence=0,
            sent_ns=0,
        )

    async def refusal(self, frame: bytes) -> str:
        """What the broker answers to a frame that it does not take."""
        with pytest.raises(PublishRefused) as refused:
            await self.bus.publish("hostile", frame, qos=1, content_type=CONTENT_TYPE)
        return str(refused.value)


@asynccontextmanager
async def sender(broker: RunningBroker, prefix: str) -> AsyncIterator[Sender]:
    async with slipring.connect(broker.url) as bus:
        declared = await bus.declare(prefix, {"a": Parameter("f64"), "b": Parameter("f64")})
        yield Sender(bus, (await bus.table()).identity, declared.indices.tolist())


@asynccontextmanager
async def bystander(broker: RunningBroker) -> AsyncIterator[None]:
    """Somebody who publishes and reads meanwhile, and must get all of it, and nothing else."""
    async with (
        slipring.connect(broker.url) as bus,
        slipring.connect(broker.url) as reader,
        reader.select("bystander/#", beat_ms=0) as frames,
    ):
        declared = await bus.declare("bystander", {"x": Parameter("f64")}, beat_ms=0)
        wanted = [float(time.time_ns() % 10**9 + number) for number in range(3)]
        yield
        for value in wanted:
            declared.write({"x": value})
            await declared.flush()
        values: list[float] = []
        async for frame in frames:
            assert frame.names == ["bystander/x"]
            values += frame.samples("bystander/x").values.tolist()
            if values[-1] == wanted[-1]:
                break
        assert values[-3:] == wanted


def refused_count(broker: RunningBroker) -> float:
    return Metrics.of(broker)["slipring_table_refused_total"]


async def test_a_bad_frame_is_refused_with_words_and_counted(broker: RunningBroker) -> None:
    async with bystander(broker), sender(broker, "hostile/frames") as one:
        before = refused_count(broker)
        first, second = one.indices
        wrong_kind = encode_frame(
            [("row", BOOL, np.array([first], np.uint32), 0, np.array([1], np.uint8), 0)],
            table=one.table,
            sequence=0,
            sent_ns=0,
        )
        rows = {
            "declared as f64, and the frame has bool": wrong_kind,
            "has not declared it": one.frame([second, second + 1000]),
            "for table": one.frame(table=one.table + 1),
            "ahead of the broker's clock": one.frame(ahead_ns=2 * HOUR_NS),
            "this is not a frame": b"",
        }
        for words, frame in rows.items():
            assert words in await one.refusal(frame), words
        assert refused_count(broker) - before == len(rows)
        await one.bus.publish("hostile", one.frame(), qos=1, content_type=CONTENT_TYPE)


async def test_a_frame_cut_anywhere_is_refused(broker: RunningBroker) -> None:
    async with bystander(broker), sender(broker, "hostile/cut") as one:
        whole = one.frame()
        for length in range(len(whole)):
            assert "this is not a frame" in await one.refusal(whole[:length]), length


async def test_a_frame_at_qos_0_that_is_refused_is_told_to_its_sender(
    broker: RunningBroker,
) -> None:
    async with bystander(broker), sender(broker, "hostile/told") as one:
        refusals = await one.bus.refusals()
        await one.bus.publish("hostile", b"no frame", content_type=CONTENT_TYPE)
        async with asyncio.timeout(60):
            told = await anext(refusals)
        assert (told.topic, told.count) == ("hostile", 1)
        assert "this is not a frame" in told.message


async def test_what_is_refused_is_an_event_that_says_whose_it_was_and_why(
    broker: RunningBroker,
) -> None:
    kind = "publish refused"
    counted = f'slipring_events_total{{kind="{kind}"}}'
    async with bystander(broker), sender(broker, "hostile/event") as one:
        before = Metrics.of(broker)[counted]
        await one.bus.publish("hostile/event/a", "twelve")
        await asyncio.to_thread(Metrics.when, broker, counted, before + 1)
        events = (await asyncio.to_thread(overview, broker))["events"]
        said = f"{one.bus.client_id} {kind}: hostile/event/a: "
        told = [event for event in events if event["text"].startswith(said)]
        assert [(event["kind"], event["level"]) for event in told] == [(kind, "warning")]
        assert "is declared as f64" in told[0]["text"]


async def test_a_value_of_another_type_is_refused_and_reaches_nobody(
    broker: RunningBroker,
) -> None:
    async with (
        bystander(broker),
        sender(broker, "hostile/text") as one,
        one.bus.subscribe("hostile/text/#") as messages,
    ):
        with pytest.raises(PublishRefused, match="is declared as f64"):
            await one.bus.publish("hostile/text/a", "twelve", qos=1, retain=True)
        await one.bus.publish("hostile/text/a", 12, qos=1)
        assert (await anext(messages)).text == "12"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"name":"n","type":"f64","range":[0,1e999]}', "out of range"),
        ('{"name":"n","type":"f64","limits":{"low":5,"high":NaN}}', "expected value"),
        ('{"name":"n","type":"f64","range":[5,1]}', "range"),
        ('{"name":"n","type":"f128"}', "there is no type"),
        ('{"name":"n","type":"f64"},{"name":"n","type":"f64"}', "twice"),
        ('{"name":"n/#","type":"f64"}', "#"),
    ],
)
async def test_a_bad_declaration_is_refused_with_words(
    broker: RunningBroker, body: str, words: str
) -> None:
    request = f'{{"prefix":"hostile/bad","parameters":[{body}]}}'
    async with (
        bystander(broker),
        slipring.connect(broker.url) as bus,
        bus.subscribe("answers/bad") as answers,
    ):
        await bus.publish("$slipring/table/declare", request, response_topic="answers/bad")
        answer = json.loads((await anext(answers)).payload)
        assert answer["error"]
        assert words in json.dumps(answer), answer


async def test_more_parameters_than_there_is_room_for_are_refused_as_a_whole(
    broker: RunningBroker,
) -> None:
    async with bystander(broker), slipring.connect(broker.url) as bus:
        many = {f"p{number}": Parameter("f32") for number in range(200)}
        with pytest.raises(DeclareRefused, match="100"):
            await bus.declare("hostile/many", many)
        assert "hostile/many/p0" not in await bus.table()
        assert Metrics.of(broker)['slipring_limit_reached_total{limit="parameters"}'] >= 1
