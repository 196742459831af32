"""Mistakes that newcomers make, and the errors they get: each says what to do."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import slipring
from slipring import Parameter, Quality, Status, sync

F64 = Parameter("f64")
WAIT_S = 60


def test_a_connection_that_is_not_awaited_says_so() -> None:
    with pytest.raises(AttributeError, match=r"no 'publish'.*async with.*await"):
        slipring.connect().publish("a", 1)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda bus: bus.select(["a", "b"]), TypeError, r"names=\[...\]"),
        (lambda bus: bus.select("a/#/b"), slipring.InvalidTopic, "last level"),
        (lambda bus: bus.select("$share/group/a"), slipring.InvalidTopic, "cannot be shared"),
        (lambda bus: bus.subscribe(["a", "b"]), TypeError, "one after the other"),
    ],
)
async def test_a_choice_that_cannot_be_is_refused_at_once(
    table_url: str, call: Callable[[Any], object], error: type[Exception], words: str
) -> None:
    async with slipring.connect(table_url) as bus:
        with pytest.raises(error, match=words):
            call(bus)


async def test_an_option_that_a_request_does_not_have_is_refused(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        with pytest.raises(TypeError, match=r"no option timeout; it has .*timeout_s"):
            await bus.request_many([("a", b"")], timeout=5)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"no option retries; it has .*retry"):
            bus.ask_parts("a", retries=1)  # type: ignore[call-arg]


async def test_one_name_needs_no_list(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("guess/one", {"a": "f64"})
        declared.write({"a": np.float32(1.5)})
        async with bus.select(names="guess/one/a", rate_hz="10") as frames:  # type: ignore[arg-type]
            frame = await anext(frames)
    assert list(frame) == ["guess/one/a"]
    assert slipring.Newest("guess/one/a").update(frame).tolist() == [1.5]


@pytest.mark.parametrize("chosen", [{"names": ["guess/typo/b"]}, {}])
async def test_a_choice_of_nothing_is_a_warning(
    table_url: str, chosen: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "slipring.client")
    filters = () if chosen else ("guess/typo/b",)
    async with slipring.connect(table_url) as bus, bus.select(*filters, **chosen):
        assert "matches 'guess/typo/b' yet" in caplog.text
        caplog.clear()
        await bus.declare("guess/typo", {"a": F64})
        async with bus.select("guess/typo/#"):
            assert caplog.text == ""


async def test_the_newest_sample_of_nothing_says_why(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        await bus.declare("guess/newest", {"a": F64})
        with pytest.raises(KeyError, match=r"guess/newest/b.*no parameter has this name"):
            await bus.newest("guess/newest/b")
        with pytest.raises(KeyError, match=r"guess/newest/a.*never had a sample"):
            await bus.newest("guess/newest/a")


@pytest.mark.parametrize(
    ("write", "error", "words"),
    [
        (lambda one: one.write({"a": "x"}), slipring.FrameError, "x is not a value of f64.*'a'"),
        (lambda one: one.write({"guess/write/a": 1.0}), KeyError, "without its prefix it is 'a'"),
        (lambda one: one.write({"a": 1.0}, quality=Status.BAD), TypeError, "a quality is Quality"),
        (lambda one: one.write_row([1.0], quality="bad"), TypeError, "a quality is Quality"),
        (lambda one: one.write_row({"a": [1.0]}), ValueError, "`write` takes values by name"),
    ],
)
async def test_what_cannot_be_written_is_named(
    table_url: str, write: Callable[[Any], None], error: type[Exception], words: str
) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("guess/write", {"a": F64})
        with pytest.raises(error, match=words):
            write(declared)
        declared.write_row([1.0], quality=Quality(Status.BAD))


async def test_a_name_that_is_mistyped_is_answered_with_the_right_one(table_url: str) -> None:
    meant = "did you mean 'guess/near/speed'"
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("guess/near", {"speed": F64, "height": F64})
        with pytest.raises(KeyError, match="'sped' is not declared here; did you mean 'speed'"):
            declared.write({"sped": 1.0})
        declared.write({"speed": 1.0})
        async with bus.select("guess/near/#") as frames:
            frame = await anext(frames)
        for look in (frame.table.index, frame.table.__getitem__):
            with pytest.raises(KeyError, match=meant):
                look("guess/near/spede")
        with pytest.raises(KeyError, match=r"no parameter 'elsewhere'.$"):
            frame.table["elsewhere"]


async def test_parameters_that_are_none_are_named(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        with pytest.raises(TypeError, match="a dict"):
            await bus.declare("guess", ["a"])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="'a' is a Parameter"):
            await bus.declare("guess", {"a": 1.5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="AlarmLimits"):
        Parameter("f64", limits={"high": 1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="labels are a dict"):
        Parameter("enum", labels=["off", "on"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="numbers of an enum"):
        Parameter("enum", labels={"0": "off"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="f64"):
        Parameter(float)  # type: ignore[arg-type]


async def test_numbers_of_numpy_are_published_and_others_told_how(broker_url: str) -> None:
    async with slipring.connect(broker_url) as bus, bus.subscribe("guess/numpy") as messages:
        await bus.publish("guess/numpy", np.float32(1.5))
        await bus.publish("guess/numpy", np.int64(7))
        assert [(await anext(messages)).text for _ in range(2)] == ["1.5", "7"]
        with pytest.raises(TypeError, match=r"json\.dumps"):
            await bus.publish("guess/numpy", {"a": 1})  # type: ignore[arg-type]


async def test_what_is_collected_is_one_frame(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("guess/collect", {"a": F64}, beat_ms=0)
        async with bus.select("guess/collect/#", beat_ms=0) as frames:
            nothing = await frames.collect(0.01)
            assert (len(nothing), nothing.to_pandas().shape) == (0, (0, 0))
            for number in range(50):
                declared.sample("a", float(number), time_ns=number)
            seen = list[float]()
            while 49.0 not in seen:
                gathered = await frames.collect(0.2)
                if "guess/collect/a" in gathered:
                    seen += gathered.samples("guess/collect/a").values.tolist()
    assert seen == list(range(50))


async def test_a_selection_with_a_name_comes_as_text_too(table_url: str) -> None:
    async with slipring.connect(table_url) as bus:
        declared = await bus.declare("guess/named", {"a": F64})
        declared.write({"a": 1.0})
        await declared.flush()
        async with (
            bus.subscribe("$selection/x/guess/named/#", properties={"deliver": "json"}) as json,
            bus.subscribe("$selection/y/guess/named/a", properties={"rate": "10"}) as text,
        ):
            assert (await anext(json)).payload.startswith(b'{"value":1.0')
            assert (await anext(text)).text == "1.0"
        for filter_ in ("$selection/x/guess/#", "$selection/+/guess", "$selection/x"):
            with pytest.raises(slipring.Refused, match="selection"):
                async with bus.subscribe(filter_):
                    pass


async def test_what_is_said_in_the_brokers_name_and_makes_no_sense_disturbs_nobody(
    other_broker_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A broker of another make lets anybody publish there."""
    async with slipring.connect(other_broker_url) as bus:
        refusals = await bus.refusals()
        for text in ("{", "[]", "{}", '{"topic": "a", "error": "b", "message": "c", "count": 1}'):
            await bus.publish("$slipring/refused", text, qos=1)
        assert (await asyncio.wait_for(anext(refusals), WAIT_S)).topic == "a"
    assert caplog.text.count("cannot be read") == 3


def test_without_asyncio_there_are_notices_and_changes(table_url: str) -> None:
    with sync.connect(table_url, client_id="guess-sync") as bus:
        changes, connection = bus.table_changes(), bus.changes()
        with bus.notices() as notices:
            bus.notify("node/guess-sync", "hello")
            assert next(iter(notices)).text == "hello"
        bus.declare("guess/sync", {"a": "f64"})
        while "guess/sync/a" not in next(changes).names:
            pass  # What others have left behind may be told before.
        with bus.select("guess/sync/#") as frames:
            assert len(frames.collect(0.01)) == 0
    assert list(connection) == []
