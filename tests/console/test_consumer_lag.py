"""A consumer that stands still while messages arrive: its lag grows, wherever it is told (D1)."""

import subprocess
import sys
import time
from typing import Any

from slipring.native import JournalReader, commit_consumer
from tests.console_answer import overview
from tests.metrics import Metrics
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker


def publish(broker: RunningBroker, count: int) -> None:
    with RawPeer(broker.host, broker.port) as peer:
        peer.connect("writer")
        for number in range(1, count + 1):
            peer.send(V5.publish("t", b"12345", qos=1, packet_id=number))
            peer.packet()


def lagging(broker: RunningBroker, more_than_s: float) -> dict[str, Any]:
    """The consumer as the page gets it, once it lags more than that."""
    given_up_s = time.monotonic() + PATIENCE_S
    while True:
        found = overview(broker)["broker"]["journal"]["consumers"]
        if found and (found[0]["lag_s"] or 0.0) > more_than_s:
            consumer: dict[str, Any] = found[0]
            return consumer
        assert time.monotonic() < given_up_s, found


def test_lag_grows_while_a_consumer_stands_still_and_ends_when_it_has_all(
    broker: RunningBroker,
) -> None:
    begin_s = time.time()
    publish(broker, 3)
    folder = broker.data / "journal"
    identity = JournalReader(folder).identity
    commit_consumer(folder, "lake", identity, 1)
    first = lagging(broker, 0.0)
    assert (first["behind"], first["messages_s"]) == (2, 0.0)
    publish(broker, 2)
    second = lagging(broker, first["lag_s"])
    assert second["lag_s"] <= time.time() - begin_s
    metrics = Metrics.when(broker, 'slipring_journal_consumer_lag_seconds{consumer="lake"}', 0.0)
    told = metrics['slipring_journal_consumer_lag_seconds{consumer="lake"}']
    assert second["lag_s"] < told <= time.time() - begin_s
    assert metrics['slipring_journal_consumer_behind{consumer="lake"}'] == 4
    line = next(line for line in status(broker) if line.startswith("lake "))
    name, offset, behind, lag, unit = line.split()[:5]
    assert (name, offset, behind, unit) == ("lake", "1", "4", "s")
    assert told - 0.05 <= float(lag) <= time.time() - begin_s + 0.05
    commit_consumer(folder, "lake", identity, 5)
    given_up_s = time.monotonic() + PATIENCE_S
    while (now := overview(broker)["broker"]["journal"]["consumers"][0])["lag_s"] != 0.0:
        assert time.monotonic() < given_up_s, now
    assert now["behind"] == 0
    assert now["messages_s"] > 0


def status(broker: RunningBroker) -> list[str]:
    command = [sys.executable, "-m", "slipring", "status", broker.console]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.splitlines()


def test_a_consumer_from_before_the_start_lags_by_when_its_messages_were_received(
    broker: RunningBroker,
) -> None:
    begin_s = time.time()
    publish(broker, 3)
    folder = broker.data / "journal"
    commit_consumer(folder, "lake", JournalReader(folder).identity, 0)
    code, errors = broker.stop()
    assert code == 0, errors
    stopped_s = time.time()
    again = RunningBroker.start(broker.data)
    try:
        least_s = time.time() - stopped_s
        assert least_s < lagging(again, least_s)["lag_s"] <= time.time() - begin_s
    finally:
        again.stop()
