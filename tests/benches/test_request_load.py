"""The generator's requests against real brokers: each is asked once and answered once."""

import os
import signal
from collections.abc import Iterator

import pytest

from benches.generator import Generator, RunFailed
from benches.measured_brokers import MOSQUITTO, NATS, SLIPRING, MeasuredBroker, started
from benches.requests import protocol

BUILD_TIMEOUT_S = 600
pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)
BROKERS = (MOSQUITTO, NATS, SLIPRING)


@pytest.fixture(scope="module")
def generator() -> Generator:
    return Generator.build(profile="dev")


@pytest.fixture(scope="module")
def brokers(generator: Generator) -> Iterator[dict[str, MeasuredBroker]]:
    with started(generator, *BROKERS) as running:
        yield {broker.name: broker for broker in running}


@pytest.fixture(params=BROKERS)
def broker(brokers: dict[str, MeasuredBroker], request: pytest.FixtureRequest) -> MeasuredBroker:
    return brokers[request.param]


def counts(report: dict[str, float]) -> tuple[float, ...]:
    return tuple(report[name] for name in ("requests", "answered", "failed", "lost"))


def ask(generator: Generator, broker: MeasuredBroker, *options: str) -> dict[str, float]:
    return generator.run("requests", broker.address, protocol(broker), *options)


@pytest.mark.parametrize(
    ("shape", "asked"),
    [
        (("--requests=1010", "--window=100", "--burst=10"), 1_010),
        (("--requests=20", "--pairs=12", "--window=3", "--burst=3"), 240),
        (("--requests=60", "--bytes=300000", "--window=4", "--burst=1"), 60),
    ],
)
def test_every_request_is_answered_once(
    generator: Generator, broker: MeasuredBroker, shape: tuple[str, ...], asked: int
) -> None:
    report = ask(generator, broker, *shape)
    assert counts(report) == (asked, asked, 0, 0)
    assert 0 < report["p50_us"] <= report["p99_us"] <= report["max_us"]


@pytest.mark.parametrize("name", [MOSQUITTO, SLIPRING])
def test_requests_at_qos_1_by_sessions_that_are_kept_are_answered_once(
    generator: Generator, brokers: dict[str, MeasuredBroker], name: str
) -> None:
    report = ask(generator, brokers[name], "--requests=500", "--pairs=3", "--qos=1", "--kept")
    assert counts(report) == (1_500, 1_500, 0, 0)


def test_a_rate_is_kept_and_the_warm_up_is_not_timed(
    generator: Generator, broker: MeasuredBroker
) -> None:
    shape = ("--pairs=4", "--rate=100", "--requests=50", "--warm-up=5")
    report = ask(generator, broker, *shape)
    assert counts(report) == (220, 220, 0, 0)
    assert report["seconds"] > 0.5


def test_pairs_that_are_held_go_on_until_they_are_told(
    generator: Generator, broker: MeasuredBroker
) -> None:
    shape = (protocol(broker), "--pairs=2", "--rate=200", "--warm-up=5", "--hold")
    with generator.hold("requests", broker.address, *shape) as traffic:
        report = traffic.finish()
    assert report["requests"] == report["answered"] >= traffic.report["warm_up"] >= 10


def test_requests_that_nobody_answers_are_counted(generator: Generator) -> None:
    options = ("--by=nats", "--rate=1000", "--warm-up=5", "--hold", "--may-miss")
    with (
        started(generator, NATS) as (broker,),
        generator.hold("requests", broker.address, *options) as traffic,
    ):
        os.kill(broker.pid, signal.SIGSTOP)
        try:
            report = traffic.finish()
        finally:
            os.kill(broker.pid, signal.SIGCONT)
    assert report["requests"] == report["answered"] + report["lost"]


def test_a_broker_that_takes_no_such_requests_ends_the_run_with_a_reason(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    with pytest.raises(RunFailed, match=r"."):
        generator.run("requests", brokers[NATS].address, "--by=nats", "--qos=1")


def test_stored_requests_are_answered_once_when_a_service_comes(
    generator: Generator, brokers: dict[str, MeasuredBroker]
) -> None:
    address = brokers[SLIPRING].address
    shape = ("--v5", "--stored-requests", "--publishers=2", "--messages=300", "--bytes=16")
    stored = generator.run("acked", address, *shape)
    report = generator.run("collect", address, f"--stored={stored['each']}", "--window=50")
    found = tuple(report[name] for name in ("stored", "ended", "failed", "lost"))
    assert found == (300, 300, 0, 0)


@pytest.mark.parametrize("qos", [0, 1])
def test_messages_that_are_measured_arrive_through_a_flood_to_the_same_subscriber(
    generator: Generator, brokers: dict[str, MeasuredBroker], qos: int
) -> None:
    address = brokers[SLIPRING].address
    options = ("--v5", f"--qos={qos}", "--priority=high", "--beside=bench/flood", "--messages=200")
    with generator.hold("flood", address, f"--qos={qos}") as flooding:
        report = generator.run("latency", address, *options)
        flooded = flooding.finish()
    assert report["delivered"] == report["messages"] == 300
    assert flooded["messages"] > 0
