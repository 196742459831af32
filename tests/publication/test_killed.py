"""Every row is on the bus once, whichever process is killed at whichever step (D1)."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from slipring import connect
from tests.publication.batches import (
    ROWS,
    messages_in,
    rows_of,
    sample_pairs,
    samples_in,
)
from tests.running_broker import RunningBroker

PROGRAM = Path(__file__).with_name("killed_publish.py")
STEPS = ("encoded", "logged", "sent", "acknowledged", "finished")
RECOVERY = ("fenced", "barrier", "compared")
WAIT_S = 280

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
"""The program imports other modules of the tests."""

pytestmark = pytest.mark.timeout(600)


def program(url: str, folder: Path, kind: str, *kills: str) -> list[str]:
    return [sys.executable, str(PROGRAM), url, str(folder), kind, *kills]


def publish(url: str, folder: Path, kind: str, *kills: str) -> list[str]:
    """Run the program; what became of each of its processes."""
    done = subprocess.run(
        program(url, folder, kind, *kills),
        stdout=subprocess.PIPE,
        text=True,
        timeout=WAIT_S,
        check=True,
        env=ENVIRONMENT,
    )
    return done.stdout.split("\n")[:-1]


def every_kill() -> list[str]:
    """Each step of the first tries, each step of a recovery, and recoveries of recoveries."""
    first = [f"{step}:{count}" for step in STEPS for count in (1, 2)]
    inside = [f"sent:{count}" for count in range(1, 8)]
    again = [one for step in RECOVERY for one in ("sent:3", f"{step}:1", "sent:2", f"{step}:1")]
    return [*first, *inside, *again]


@pytest.mark.parametrize("kind", ["messages", "samples", "alarms"])
def test_a_publisher_killed_at_every_step_sends_each_row_once(
    broker: RunningBroker, tmp_path: Path, kind: str
) -> None:
    kills = every_kill()
    told = publish(broker.url, tmp_path / "sink", kind, *kills)
    assert told == [*(f"{kill} killed" for kill in kills), "none:0 0"]
    broker.stop()
    assert_once(broker.data, kind, len(kills) + 1)


async def test_a_subscriber_gets_each_message_once(broker: RunningBroker, tmp_path: Path) -> None:
    kills = ("sent:1", "sent:2", "sent:5", "sent:1")
    expected = {payload for number in range(len(kills) + 1) for payload in payloads(number)}
    async with (
        connect(broker.url, client_id="reader", session_expiry_s=600) as bus,
        bus.subscribe("out/#", qos=2) as messages,
    ):
        publish(broker.url, tmp_path / "sink", "messages", *kills)
        got = Counter[bytes]()
        async for message in messages:
            got[message.payload] += 1
            if len(got) == len(expected):
                break
        assert set(got) == expected
        assert set(got.values()) == {1}


@pytest.mark.parametrize("kind", ["messages", "samples"])
def test_a_broker_killed_at_every_step_has_each_row_once(
    tmp_path: Path, address: str, kind: str
) -> None:
    data, sink = tmp_path / "data", tmp_path / "sink"
    killed = [f"{step}:1:broker" for step in STEPS] + ["sent:4:broker", "sent:6:broker"]
    both = [one for step in RECOVERY for one in ("sent:3", f"{step}:1:broker")]
    broker = RunningBroker.start(data, "--mqtt", address)
    sink.with_suffix(".pid").write_text(str(broker.process.pid))
    kills, deaths = [*both, *killed], 0
    with subprocess.Popen(
        program(broker.url, sink, kind, *kills), stdout=subprocess.DEVNULL, env=ENVIRONMENT
    ) as running:
        while running.poll() is None:
            try:
                broker.process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            broker.process.communicate()
            deaths += 1
            broker = RunningBroker.start(data, "--mqtt", address)
            sink.with_suffix(".pid").write_text(str(broker.process.pid))
    assert deaths == len([*RECOVERY, *killed])
    # What a dead broker interrupted is finished by a later process.
    assert publish(broker.url, sink, kind) == ["none:0 0"]
    broker.stop()
    assert_once(data, kind, len(kills) + 1)


def payloads(number: int) -> list[bytes]:
    return [text.encode() for text in rows_of("messages", number).column("payload").to_pylist()]


def assert_once(data: Path, kind: str, batches: int) -> None:
    found: Counter[Any]
    expected: set[Any]
    if kind == "samples":
        found = Counter(samples_in(data, "jet"))
        expected = {one for number in range(batches) for one in sample_pairs(number)}
    elif kind == "messages":
        found = Counter(messages_in(data, "out/"))
        expected = {one for number in range(batches) for one in payloads(number)}
    else:
        found = Counter(messages_in(data, "alarms/"))
        assert len(found) == batches * ROWS
        expected = set(found)
    assert set(found) == expected
    assert set(found.values()) == {1}
