"""The load generator against a real broker and against the floor: all that is sent arrives."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benches.generator import Generator, RunFailed
from benches.measured_brokers import FORWARDER, SLIPRING, MeasuredBroker, started
from benches.rounds import medians, verdict
from benches.sizes import missing

BUILD_TIMEOUT_S = 600
pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)


@pytest.fixture(scope="module")
def generator() -> Generator:
    return Generator.build(profile="dev")


@pytest.fixture(scope="module")
def brokers(generator: Generator) -> Iterator[dict[str, MeasuredBroker]]:
    with started(generator, FORWARDER, SLIPRING) as running:
        yield {broker.name: broker for broker in running}


@pytest.fixture(params=[FORWARDER, SLIPRING])
def broker(brokers: dict[str, MeasuredBroker], request: pytest.FixtureRequest) -> MeasuredBroker:
    return brokers[request.param]


@pytest.mark.parametrize(
    ("publishers", "subscribers", "delivered"), [(1, 1, 1_010), (1, 3, 3_030), (4, 1, 1_010)]
)
def test_every_subscriber_gets_every_message(
    generator: Generator, broker: MeasuredBroker, publishers: int, subscribers: int, delivered: int
) -> None:
    clients = ("--publishers", publishers, "--subscribers", subscribers)
    report = generator.run("throughput", broker.address, *clients, "--messages=1010")
    assert (report["messages"], report["delivered"]) == (1_010, delivered)


def test_messages_larger_than_one_read_arrive_whole(
    generator: Generator, broker: MeasuredBroker
) -> None:
    shape = ("--bytes=1000000", "--window=4", "--burst=1", "--subscribers=3")
    report = generator.run("throughput", broker.address, *shape, "--messages=20")
    assert report["delivered"] == 60


def test_nothing_is_missing_of_large_messages_to_many(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    """No more are out than an outbox holds: how fast this machine is does not matter."""
    shape = ("--bytes=160000", "--window=20", "--burst=2", "--subscribers=20")
    report = generator.run("throughput", brokers[SLIPRING].address, *shape, "--messages=100")
    assert report["delivered"] == 2_000


def test_what_is_missing_at_a_fixed_rate_is_counted(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    due, lost = missing(generator, brokers[SLIPRING], seconds=1)
    assert due == 1_000
    assert 0 <= lost < due


def test_messages_of_mqtt_5_arrive_too(generator: Generator, broker: MeasuredBroker) -> None:
    report = generator.run("throughput", broker.address, "--v5", "--messages=1000")
    assert report["delivered"] == 1_000


def test_messages_at_qos_1_are_acknowledged_on_both_sides(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    address = brokers[FORWARDER].address
    report = generator.run("throughput", address, "--qos=1", "--messages=1000", "--window=50")
    assert report["delivered"] == 1_000


def test_messages_to_many_topics_arrive_through_a_wildcard(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    address = brokers[SLIPRING].address
    report = generator.run("throughput", address, "--topics=300", "--messages=900")
    assert report["delivered"] == 900


def test_each_pair_gets_its_own_messages_only(generator: Generator, broker: MeasuredBroker) -> None:
    report = generator.run("pairs", broker.address, "--pairs=5", "--messages=20")
    assert report["delivered"] == 100


def test_latency_counts_each_arrival(generator: Generator, broker: MeasuredBroker) -> None:
    shape = ("--publishers=2", "--subscribers=3", "--messages=50", "--warm-up=5")
    report = generator.run("latency", broker.address, *shape)
    assert (report["messages"], report["delivered"]) == (110, 330)
    assert 0 < report["p50_us"] <= report["p99_us"] <= report["max_us"]


def test_traffic_that_is_held_goes_on_while_clients_connect(
    generator: Generator, broker: MeasuredBroker
) -> None:
    with generator.hold("latency", broker.address, "--hold", "--warm-up=5") as traffic:
        burst = generator.run("connect", broker.address, "--clients=50")
        report = traffic.finish()
    assert burst["clients"] == 50
    assert report["delivered"] == report["messages"] > traffic.report["warm_up"] == 5


@pytest.mark.parametrize("command", [("connect", "--hold"), ("idle",)])
def test_clients_are_there_while_they_are_held(
    generator: Generator, broker: MeasuredBroker, command: tuple[str, ...]
) -> None:
    broker.settle()
    before = open_files(broker)
    name, *options = command
    with generator.hold(name, broker.address, *options, "--clients=120") as held:
        assert held.report["clients"] == 120
        assert open_files(broker) - before >= 120


def test_other_subscriptions_take_no_message_of_a_run(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    address = brokers[SLIPRING].address
    others = ("--filters=250", "--per-client=120")
    with generator.hold("subscribe-many", address, *others) as held:
        assert (held.report["clients"], held.report["filters"]) == (3, 250)
        assert generator.run("throughput", address, "--messages=500")["delivered"] == 500


def test_acknowledgements_are_counted_and_timed(
    generator: Generator, broker: MeasuredBroker
) -> None:
    shape = ("--publishers=3", "--window=20", "--messages=1000", "--bytes=100")
    for version in ((), ("--v5",)):
        report = generator.run("acked", broker.address, *shape, *version)
        assert (report["messages"], report["acknowledged"]) == (1_000, 1_000)
        assert sum(map(int, report["each"].split(","))) == 1_000
        assert 0 < report["p50_us"] <= report["p99_us"] <= report["max_us"]


def test_a_rate_is_kept_while_the_windows_have_room(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    address = brokers[FORWARDER].address
    report = generator.run("acked", address, "--messages=500", "--rate=1000")
    assert report["seconds"] > 0.4


def test_a_session_that_comes_back_counts_what_was_kept_and_what_was_lost(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    address = brokers[SLIPRING].address
    generator.run("keep", address)
    promised = generator.run("acked", address, "--publishers=2", "--messages=300")
    first, second = map(int, promised["each"].split(","))
    more = f"--acknowledged={first},{second + 5}"
    found = generator.run("kept", address, more, "--patience-ms=5000")
    assert found == {"session_present": 1, "received": 300, "repeated": 0, "lost": 5}


def test_what_was_acknowledged_is_told_when_the_broker_goes(generator: Generator) -> None:
    options = ("--messages=100000000", "--until-closed", "--tell-after=100")
    with (
        started(generator, FORWARDER) as (broker,),
        generator.hold("acked", broker.address, *options) as traffic,
    ):
        os.kill(broker.pid, signal.SIGKILL)
        report = traffic.finish()
    assert report["messages"] >= report["acknowledged"] >= traffic.report["acknowledged"] >= 100


def test_what_a_broker_refuses_ends_the_run_with_a_reason(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    with pytest.raises(RunFailed, match=r"."):
        generator.run("throughput", brokers[FORWARDER].address, "--qos=2", "--messages=10")


def test_the_median_of_each_broker_leaves_out_one_that_fails(
    brokers: dict[str, MeasuredBroker],
) -> None:
    numbers = iter([3.0, 1.0, 2.0])

    def measure(broker: MeasuredBroker) -> dict[str, float]:
        if broker.name == FORWARDER:
            raise RunFailed("it cannot")
        return {"cpu_us": next(numbers)}

    assert medians(tuple(brokers.values()), 3, measure) == {SLIPRING: {"cpu_us": 2.0}}


def test_cpu_time_grows_with_the_messages(generator: Generator, broker: MeasuredBroker) -> None:
    before = broker.cpu_s()
    generator.run("throughput", broker.address, "--messages=2000")
    assert broker.cpu_s() > before


def test_a_verdict_is_a_word() -> None:
    assert [verdict(True), verdict(False), verdict(None)] == ["reached", "missed", "not measured"]


def open_files(broker: MeasuredBroker) -> int:
    return sum(1 for _ in Path(f"/proc/{broker.pid}/fd").iterdir())
