"""An aircraft's parameters and plain subscribers of all of them: nobody else notices."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import slipring
from benches.nodes import Node, node
from slipring import Parameter
from tests.fairness.bystander import MIB, NO_JOURNAL, bystander, engine_ms
from tests.metrics import Metrics
from tests.packets import V311, Version
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.running_broker import RunningBroker

PARAMETERS, RATE_HZ = 20_000, 20
SLOW_SAMPLES = 300
GROWN_BYTES_MAX = 96 * MIB
"""Of the broker: ten readers, half of them silent, and the table."""
SAMPLES = "slipring_table_samples_total"


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker that no other test knows; it ends as it should."""
    config = tmp_path / "broker.toml"
    config.write_text(NO_JOURNAL, encoding="utf-8")
    broker = RunningBroker.start(tmp_path / "data", "--config", str(config))
    try:
        yield broker
        code, errors = broker.stop()
        assert code == 0, errors
    finally:
        broker.process.kill()


@contextmanager
def jet(broker: RunningBroker) -> Iterator[Node]:
    """An aircraft that flies."""
    load = (f"--parameters={PARAMETERS}", f"--rate={RATE_HZ}", "--prefix=jet")
    with node("publish", "--url", broker.url, *load) as flying:
        flying.wait_ready()
        yield flying


@contextmanager
def programs_that_read(
    broker: RunningBroker, count: int, needs: tuple[str, ...] = ()
) -> Iterator[None]:
    """`mosquitto_sub` of everything, some of them; each selection has an identifier of its own."""
    program = shutil.which("mosquitto_sub") or "/usr/bin/mosquitto_sub"
    command = [program, "-V", "5", "-h", broker.host, "-p", str(broker.port), "-t", "#"]
    for need in needs:
        command += ["-D", "subscribe", "user-property", *need.split("=")]
    own = ["-D", "subscribe", "subscription-identifier"]
    started = [
        subprocess.Popen([*command, *own, str(number)], stdout=subprocess.DEVNULL)
        for number in range(1, count + 1)
    ]
    try:
        yield
        assert all(process.poll() is None for process in started), "one of them has ended"
    finally:
        for process in started:
            process.kill()
            process.wait()


def silent_reader(broker: RunningBroker, version: Version) -> RawPeer:
    """A subscriber of everything that reads its SUBACK and nothing more."""
    peer = RawPeer(broker.host, broker.port, version)
    assert peer.connect("").reason == 0
    peer.send(version.subscribe(1, ("#", 0)))
    peer.until(Kind.SUBACK)
    return peer


def samples_received(broker: RunningBroker) -> float:
    """Of all frames so far."""
    return Metrics.of(broker)[SAMPLES]


def ms_per_million(broker: RunningBroker) -> float:
    """The engine's processor time for a million samples, over the next ones."""
    begun, begun_ms = samples_received(broker), engine_ms(broker.process.pid)
    after = Metrics.when(broker, SAMPLES, begun + 10 * PARAMETERS)[SAMPLES]
    return (engine_ms(broker.process.pid) - begun_ms) / (after - begun) * 1e6


async def follow_slow(broker: RunningBroker) -> list[str]:
    """What a plain subscriber gets of a parameter that has few samples."""
    async with slipring.connect(broker.url) as bus, slipring.connect(broker.url) as plain:
        slow = await bus.declare("slow", {"a": Parameter("u32"), "b": Parameter("u32")})
        async with plain.subscribe("slow/+") as messages:
            texts = []
            for number in range(SLOW_SAMPLES):
                slow.write({"a": number, "b": number})
                await slow.flush()
                found = {(one := await anext(messages)).topic: one.text for _ in range(2)}
                assert set(found) == {"slow/a", "slow/b"}
                texts.append(found["slow/a"])
            return texts


async def test_ten_readers_of_everything_disturb_nobody(own_broker: RunningBroker) -> None:
    with ExitStack() as stack:
        stack.enter_context(jet(own_broker))
        selection = stack.enter_context(node("subscribe", "--url", own_broker.url))
        selection.wait_ready()
        quiet_ms = ms_per_million(own_broker)
        with ExitStack() as readers:
            readers.enter_context(programs_that_read(own_broker, 5))
            for version in (V5, V311, V5, V311, V5):
                readers.enter_context(silent_reader(own_broker, version))
            begun = samples_received(own_broker)
            with bystander(own_broker, least=200) as beside:
                assert await follow_slow(own_broker) == [str(n) for n in range(SLOW_SAMPLES)]
                Metrics.when(own_broker, SAMPLES, begun + 50 * PARAMETERS)
            beside.assert_served()
            assert beside.grown_bytes() < GROWN_BYTES_MAX
        after_ms = ms_per_million(own_broker)
        assert after_ms < 3 * quiet_ms + 50, "when they have gone it is as before"
        heard = selection.stop()
        assert heard["frames"] > 0
        assert heard["gaps"] == 0, "a selection beside them loses nothing"


def test_selections_of_everything_as_text_disturb_nobody(own_broker: RunningBroker) -> None:
    with jet(own_broker), ExitStack() as stack:
        stack.enter_context(programs_that_read(own_broker, 3, ("deliver=json",)))
        stack.enter_context(programs_that_read(own_broker, 2, ("deliver=text", "rate=5")))
        begun = samples_received(own_broker)
        with bystander(own_broker, least=200) as beside:
            Metrics.when(own_broker, SAMPLES, begun + 20 * PARAMETERS)
        beside.assert_served()


def test_a_reader_of_everything_gets_newest_values_of_all(own_broker: RunningBroker) -> None:
    with jet(own_broker), RawPeer(own_broker.host, own_broker.port) as peer:
        assert peer.connect("").reason == 0
        peer.send(V5.subscribe(1, ("jet/#", 0)))
        answer = peer.until(Kind.SUBACK)[-1]
        assert ("slipring-newest-above", "10000") in answer.properties["user"]
        topics = set()
        for _ in range(20 * PARAMETERS):
            topics.add(peer.packet().topic)
            if len(topics) == PARAMETERS:
                return
        raise AssertionError(f"only {len(topics)} parameters came")


def test_a_shared_subscription_of_everything_is_one_reader(own_broker: RunningBroker) -> None:
    with jet(own_broker), ExitStack() as stack:
        members = [stack.enter_context(RawPeer(own_broker.host, own_broker.port)) for _ in range(2)]
        for member in members:
            assert member.connect("").reason == 0
            member.send(V5.subscribe(1, ("$share/two/jet/#", 0)))
            member.until(Kind.SUBACK)
        topics: set[str] = set()
        for _ in range(20 * PARAMETERS):
            topics.update(member.packet().topic for member in members)
            if len(topics) > PARAMETERS // 2:
                return
        raise AssertionError(f"only {len(topics)} parameters came")
