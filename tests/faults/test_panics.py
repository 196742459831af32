"""Panics in a real broker: told, counted, and survived by everybody else, or the process ends.

Rust's standard library panics when the system's clock fails, so one failing call for the time of
day is a panic of whoever makes it.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.console_answer import answer_now
from tests.fairness.flood import question
from tests.faults.disk import Disk
from tests.faults.trouble import readiness
from tests.limited_broker import ask
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import PINGREQ, V5, Kind, RawPeer, Will
from tests.running_broker import PATIENCE_S, RunningBroker

ENGINE, LANE = b"slipring-engine", b"slipring-lane"
KEPT = properties(session_expiry=3_600)
QUIET = "threads = 1\n[mqtt]\nsys_interval_s = 0\n"
"""Nobody but the clients and the journal's upkeep asks for the time."""
ALONE = QUIET + "[journal]\ntopics = []\n"
"""Nobody but the clients does."""
UNSPECIFIED = 0x80


@contextmanager
def started(disk: Disk, config: str) -> Iterator[RunningBroker]:
    """A broker whose clock can fail."""
    file = disk.panel_file.with_name("broker.toml")
    file.write_text(config, encoding="utf-8")
    broker = RunningBroker.start(disk.folder, "--config", str(file), environment=disk.environment)
    try:
        yield broker
    finally:
        disk.panel.clock_held = disk.panel.clock_failures = 0
        if broker.process.poll() is None:
            broker.process.kill()
            broker.process.communicate()


def log_of(broker: RunningBroker) -> str:
    """The log of a broker that stops now, as it should."""
    code, log = broker.stop()
    assert code == 0, log
    return log


def told(broker: RunningBroker, kind: str) -> float:
    """How many events of a kind there were."""
    return Metrics.of(broker).get(f'slipring_events_total{{kind="{kind}"}}', 0)


def panic(disk: Disk, thread: bytes, do: Callable[[], object], after: int = 0) -> None:
    """One of these threads panics, after so many good calls, while somebody does this."""
    disk.panel.clock_thread = thread
    disk.panel.clock_skips = after
    disk.panel.clock_failures = 1
    do()
    given_up_s = time.monotonic() + PATIENCE_S
    while disk.panel.clock_failures:
        assert time.monotonic() < given_up_s, "nobody asked for the time"


def wait_until_told(broker: RunningBroker, kind: str, least: int) -> None:
    """Until there were so many events of a kind."""
    given_up_s = time.monotonic() + PATIENCE_S
    while (count := told(broker, kind)) < least:
        assert time.monotonic() < given_up_s, f"{count} events '{kind}', not {least}"


def test_a_panic_of_a_connection_costs_its_client_the_connection_and_nobody_else(
    disk: Disk,
) -> None:
    with started(disk, ALONE) as broker, ExitStack() as stack:
        victim, other = (stack.enter_context(RawPeer(broker.host, broker.port)) for _ in range(2))
        will = Will("will/victim", b"gone")
        assert victim.connect("victim", clean=False, properties=KEPT, will=will).reason == 0
        victim.send(V5.subscribe(1, ("to/victim", 1)))
        assert victim.packet().kind is Kind.SUBACK
        assert other.connect("other").reason == 0
        other.send(V5.subscribe(1, "will/#"))
        assert other.packet().kind is Kind.SUBACK
        panic(disk, ENGINE, lambda: victim.send(PINGREQ))
        ended = victim.packet()
        assert (ended.kind, ended.reason) == (Kind.DISCONNECT, UNSPECIFIED)
        assert victim.closed()
        assert other.packet().payload == b"gone"
        wait_until_told(broker, "panicked", 1)
        other.send(V5.publish("to/victim", b"meanwhile", qos=1, packet_id=1))
        assert other.packet().kind is Kind.PUBACK
        again = stack.enter_context(RawPeer(broker.host, broker.port))
        assert again.connect("victim", clean=False, properties=KEPT).session_present
        assert again.packet().payload == b"meanwhile"
        log = log_of(broker)
    assert "ERROR victim was disconnected after a panic: " in log
    assert "INFO victim disconnected: what served it panicked" in log


@pytest.mark.parametrize("good_calls", [0, 1])
def test_what_was_sent_with_a_panic_can_be_sent_again_and_comes_once(
    disk: Disk, good_calls: int
) -> None:
    """With one good call the message is taken already, and the request after it panics."""
    with started(disk, ALONE) as broker, ExitStack() as stack:
        reader, victim = (stack.enter_context(RawPeer(broker.host, broker.port)) for _ in range(2))
        assert reader.connect("reader").reason == 0
        reader.send(V5.subscribe(1, ("once/#", 2)))
        assert reader.packet().kind is Kind.SUBACK
        assert victim.connect("victim", clean=False, properties=KEPT).reason == 0
        sent = V5.publish("once/x", b"x", qos=2, packet_id=7)
        request = question("ping", b"")
        panic(disk, ENGINE, lambda: victim.send(sent, request), good_calls)
        assert victim.until(Kind.DISCONNECT)[-1].reason == UNSPECIFIED
        again = stack.enter_context(RawPeer(broker.host, broker.port))
        assert again.connect("victim", clean=False, properties=KEPT).session_present
        again.send(V5.publish("once/x", b"x", qos=2, packet_id=7, dup=True))
        assert again.packet().kind is Kind.PUBREC
        again.send(V5.pubrel(7), V5.publish("once/end", b"end"))
        assert again.packet().kind is Kind.PUBCOMP
        found = [reader.packet().payload for _ in range(2)]
        assert found == [b"x", b"end"]
        log_of(broker)


def keep_a_table(broker: RunningBroker, stack: ExitStack) -> RawPeer:
    """A client with a parameter, from now on quiet."""
    peer = stack.enter_context(RawPeer(broker.host, broker.port))
    assert peer.connect("owner").reason == 0
    assert "error" not in ask(peer, "table/declare", parameters=[{"name": "p/x", "type": "f64"}])
    return peer


@pytest.mark.parametrize(
    ("task", "config"),
    [
        ("upkeep", QUIET),
        ("timers", ALONE.replace("interval_s = 0", "interval_s = 1")),
        ("beat", ALONE),
    ],
)
def test_a_task_that_panics_is_started_again(disk: Disk, task: str, config: str) -> None:
    with started(disk, config) as broker, ExitStack() as stack:
        if task == "beat":
            keep_a_table(broker, stack)
        for count in (1, 2):  # twice: it runs again
            panic(disk, ENGINE, lambda: None)
            wait_until_told(broker, "restarted", count)
        assert readiness(broker) == 200
        log = log_of(broker)
    assert log.count(f"ERROR {task} was started again: it panicked: ") == 2, log


@contextmanager
def no_descriptor(process_id: int) -> Iterator[None]:
    """The process may open nothing, for a while."""
    before = resource.prlimit(process_id, resource.RLIMIT_NOFILE)
    resource.prlimit(process_id, resource.RLIMIT_NOFILE, (2, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process_id, resource.RLIMIT_NOFILE, before)


def test_a_listener_that_panics_is_started_again(disk: Disk) -> None:
    with started(disk, ALONE) as broker, ExitStack() as stack:
        with no_descriptor(broker.process.pid):
            knock = lambda: stack.enter_context(RawPeer(broker.host, broker.port))  # noqa: E731
            panic(disk, LANE, knock)
        wait_until_told(broker, "restarted", 1)
        peer = stack.enter_context(RawPeer(broker.host, broker.port))
        assert peer.connect("late").reason == 0
        log = log_of(broker)
    name = f"listener {broker.host}:{broker.port}"
    assert f"ERROR {name} was started again: it panicked: " in log


def test_an_arrival_that_panics_is_told_and_others_come_in(disk: Disk) -> None:
    with started(disk, ALONE) as broker:
        panic(disk, LANE, lambda: RawPeer(broker.host, broker.port).close())
        wait_until_told(broker, "panicked", 1)
        with RawPeer(broker.host, broker.port) as peer:
            assert peer.connect("late").reason == 0
        log = log_of(broker)
    assert " was disconnected after a panic: " in log


def test_a_task_that_panics_again_and_again_ends_the_process_with_exit_code_1(disk: Disk) -> None:
    with started(disk, QUIET) as broker:
        assert readiness(broker) == 200  # the console is loaded before the minute begins
        for count in (1, 2, 3):
            panic(disk, ENGINE, lambda: None)
            wait_until_told(broker, "restarted", count)
        panic(disk, ENGINE, lambda: None)
        _, log = broker.process.communicate(timeout=PATIENCE_S)
    assert broker.process.returncode == 1
    assert "the engine cannot continue: the task 'upkeep' panicked 4 times in a minute: " in log
    assert "Traceback" not in log


def test_a_clock_that_fails_for_good_ends_the_process_with_exit_code_1(disk: Disk) -> None:
    """Who looks after a task panics, too."""
    with started(disk, QUIET) as broker:
        disk.panel.clock_thread = ENGINE
        disk.panel.clock_failures = 1 << 40
        _, log = broker.process.communicate(timeout=PATIENCE_S)
    assert broker.process.returncode == 1
    assert "the engine cannot continue: the supervisor of the task 'upkeep' panicked" in log


def test_an_engine_that_does_not_answer_for_a_second_is_not_ready(disk: Disk) -> None:
    with started(disk, ALONE) as broker, RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("peer").reason == 0
        assert readiness(broker) == 200
        disk.panel.clock_thread = ENGINE
        disk.panel.clock_held = 1
        peer.send(PINGREQ)
        given_up_s = time.monotonic() + PATIENCE_S
        while answer_now(f"{broker.console}/ready")[0] == 200:
            assert time.monotonic() < given_up_s, "it is ready, and nobody is served"
        shown = subprocess.run(
            [sys.executable, "-m", "slipring", "status", broker.console],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert shown.returncode == 1
        assert "it has not answered for" in shown.stderr
        disk.panel.clock_held = 0
        assert peer.packet().kind is Kind.PINGRESP
        assert readiness(broker) == 200
        log = log_of(broker)
    assert "ERROR engine: it has not answered for" in log
    assert "INFO engine: it answers again" in log
