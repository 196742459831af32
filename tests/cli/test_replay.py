"""`slipring replay` into a real broker: everything, in order, as it was recorded."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import publish, refused, slipring, started
from tests.raw_mqtt import V5, Kind, RawPeer
from tests.recording.messages import Row, exported, record
from tests.running_broker import RunningBroker

ROWS: list[Row] = [
    (1_000_000 * at, "plane", f"a/{at % 4}", at % 3 + 4 * (at == 5), b"\x03\x00\x01x", b"%d" % at)
    for at in range(60)
]


@pytest.fixture
def flight(tmp_path: Path) -> Path:
    record(tmp_path / "flight", ROWS)
    return tmp_path / "flight"


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in exported(folder).splitlines()]


@pytest.mark.parametrize("speed", ["1", "10", "max"])
def test_a_broker_gets_it_all_in_order_as_recorded(
    flight: Path, broker: RunningBroker, speed: str
) -> None:
    done = slipring("replay", flight, "--url", broker.url, "--speed", speed)
    assert done.stdout.startswith("60 messages in ")
    assert done.stdout.endswith("times real time; 0 not acknowledged\n")
    keys = ("topic", "qos", "retain", "content_type", "payload")
    found = [[row[key] for key in keys] for row in rows(broker.data)]
    assert found == [[row[key] for key in keys] for row in rows(flight)]


def test_a_subscriber_sees_other_topics(flight: Path, broker: RunningBroker) -> None:
    with RawPeer(broker.host, broker.port, V5) as peer:
        peer.connect("watch")
        peer.send(V5.subscribe(1, ("replay/#", 0)))
        peer.until(Kind.SUBACK)
        arguments = ("--speed", "max", "--to-topic", "replay/{topic}", "--filter", "a/2")
        done = slipring("replay", flight, "--url", broker.url, *arguments)
        seen = [(one.topic, one.payload) for one in peer.waiting()]
    assert done.stdout.startswith("15 messages in ")
    assert {topic for topic, _ in seen} == {"replay/a/2"}
    # A broker may hold a message back until it is on disk, by its QoS.
    for qos in range(3):
        numbers = [int(payload) for _, payload in seen if int(payload) % 3 == qos]
        assert numbers == [at for at in range(2, 60, 4) if at % 3 == qos]


def test_places_choose(flight: Path, broker: RunningBroker) -> None:
    slipring(
        "replay", flight, "--url", broker.url, "--from", "@10", "--to", "@20", "--speed", "max"
    )
    assert [row["payload"] for row in rows(broker.data)] == [str(at) for at in range(10, 20)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_loop_goes_on_until_it_is_interrupted(
    flight: Path, broker: RunningBroker, number: signal.Signals
) -> None:
    process = started("replay", flight, "--url", broker.url, "--loop", "--speed", "10")
    while not list((broker.data / "journal").glob("*.seg")) or len(rows(broker.data)) < 100:
        assert process.poll() is None, process.communicate()
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    told = errors.splitlines()[-1]
    assert told.startswith("interrupted: ")
    assert told.endswith("times real time; 0 not acknowledged")
    count = int(told.split()[1].replace(",", ""))
    while len(found := rows(broker.data)) < count:  # QoS 0 is not waited for by who sends it.
        assert broker.process.poll() is None
    assert [row["payload"] for row in found] == [str(at % 60) for at in range(count)]


def test_a_replay_into_its_own_journal_is_warned_of(broker: RunningBroker) -> None:
    publish(broker, "a/b")
    arguments = ("--url", broker.url, "--speed", "max")
    assert (
        "records the replayed messages again" in slipring("replay", broker.data, *arguments).stderr
    )
    apart = (*arguments, "--filter", "a/#", "--to-topic", "replay/{topic}")
    assert slipring("replay", broker.data, *apart).stderr == ""


@pytest.mark.parametrize("speed", ["0", "-1", "nan", "inf", "fast"])
def test_a_speed_is_a_number_or_max(flight: Path, speed: str) -> None:
    done = slipring("replay", flight, "--speed", speed, code=2)
    assert "max" in done.stderr


def test_nothing_there_is_told_in_one_line(flight: Path, tmp_path: Path) -> None:
    assert "127.0.0.1:1" in refused("replay", flight, "--url", "mqtt://127.0.0.1:1")
    assert "no journal in" in refused("replay", tmp_path / "none")


def test_a_broker_that_goes_away_is_told_with_how_far_it_came(
    flight: Path, broker: RunningBroker
) -> None:
    process = started("replay", flight, "--url", broker.url, "--speed", "0.01")
    while not list((broker.data / "journal").glob("*.seg")) or not rows(broker.data):
        assert process.poll() is None, process.communicate()
    broker.stop()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "of recorded time" in errors.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "given"),
    [(("replay",), "replay"), (("pipeline", "run", "--once"), "pipeline run --data")],
)
def test_who_names_no_folder_and_has_none_is_told_what_to_give(
    tmp_path: Path, words: tuple[str, ...], given: str
) -> None:
    line = [sys.executable, "-m", "slipring", *words]

    def told() -> str:
        done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 1
        return done.stderr

    assert told().endswith(f"for example slipring {given} FOLDER\n")
    (tmp_path / "demo-data").mkdir()
    assert "that of the demo is slipring" in told()
    assert told().endswith("demo-data\n")
