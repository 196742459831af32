"""`slipring requests`, `slipring subscribers` and the requests in `slipring status`."""

import json
import signal
import subprocess
import sys

import pytest

from tests.limited_broker import Limited, LimitedBroker
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, Kind
from tests.request_peers import ENDED, OPEN, answer, ask, asking, end_of, every_state, serve
from tests.running_broker import PATIENCE_S

HOSTILE = "[bold]x\x1b[2J\u202e"


def command(broker: LimitedBroker, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "slipring", *arguments, "--console", broker.running.console]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


def shown(broker: LimitedBroker, *arguments: str) -> str:
    done = command(broker, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isprintable() or set(done.stdout) & set("\x1b\u202e") == set()
    return done.stdout


def test_every_state_who_is_busy_and_the_topics_are_printed(limited: Limited) -> None:
    broker = limited()
    every_state(broker, asker_id=HOSTILE)
    Metrics.when(broker.running, 'slipring_requests_ended_total{end="answer not delivered"}', 1)
    text = shown(broker, "requests")
    for state in [*OPEN, *ENDED]:
        assert state in text
    assert "3 open (1 stored, 1 delivered, 1 answer stored)" in text
    assert "1 service, 1 of 1 busy, answers p50" in text
    assert "solver" in text
    assert "[bold]x\\x1b[2J\\u202e" in text
    for state in [*OPEN, *ENDED]:
        narrowed = shown(broker, "requests", "--state", state.replace(" ", "-"))
        rows = narrowed.splitlines()[1:]
        assert len(rows) == 1, narrowed
        assert state in rows[0]
    assert shown(broker, "requests", "--state", "dropped") == "0 requests\n"


def test_one_of_something_is_told_as_one(limited: Limited) -> None:
    broker = limited()
    with broker.client("hasty") as hasty:
        hasty.send(asking("a", b"1", timeout_s=-1))
        assert hasty.until(Kind.PUBACK)[-1].reason == 0x83
    assert "1 request refused" in shown(broker, "requests")


def test_requests_are_narrowed_down_and_given_as_json(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    found = json.loads(shown(broker, "requests", "--topic", "work/long", "--json"))
    (row,) = found["requests"]
    assert (row["state"], row["service"]) == ("delivered", "solver")
    by_client = json.loads(shown(broker, "requests", "--client", "patient", "--json"))["requests"]
    assert [one["topic"] for one in by_client] == ["work/later"]
    one = json.loads(shown(broker, "requests", row["key"], "--json"))
    assert one["request"]["key"] == row["key"]


def test_the_life_of_one_request_is_printed_step_by_step(limited: Limited) -> None:
    broker = limited()
    every_state(broker, asker_id=HOSTILE)
    (row,) = json.loads(shown(broker, "requests", "--topic", "work/done", "--json"))["requests"]
    text = shown(broker, "requests", row["key"])
    steps = ("asked by [bold]x\\x1b[2J\\u202e", "delivered to solver", "answered")
    places = [text.index(step) for step in steps]
    assert places == sorted(places)
    assert " ms" in text
    (row,) = json.loads(shown(broker, "requests", "--topic", "nobody/yet", "--json"))["requests"]
    text = shown(broker, "requests", row["key"])
    assert "stored: waits for a service" in text
    assert "times out in" in text


def test_the_words_of_a_failure_are_printed_without_control_codes(limited: Limited) -> None:
    broker = limited()
    asker, service = broker.client("asker"), broker.client("solver")
    serve(service, "work", 1)
    ask(asker, "work", b"1")
    answer(service, service.packet(), "failed", HOSTILE.encode() + b"\nnew line")
    assert end_of(asker) == "failed"
    (row,) = json.loads(shown(broker, "requests", "--topic", "work", "--json"))["requests"]
    assert "failed: [bold]x\\x1b[2J\\u202e\\nnew line" in shown(broker, "requests", row["key"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--state", "sleeping"), "'state' is one of: new, stored"),
        (("--topic", "a/#/b"), "refused (400)"),
        (("nonsense",), "no open request has this key"),
    ],
)
def test_a_mistake_is_one_line(limited: Limited, arguments: tuple[str, ...], words: str) -> None:
    done = command(limited(), "requests", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_changes_of_state_are_followed(limited: Limited) -> None:
    broker = limited()
    every_state(broker)
    line = [sys.executable, "-m", "slipring", "requests", "--follow", "--topic", "new/#"]
    with subprocess.Popen(
        [*line, "--console", broker.running.console], stdout=subprocess.PIPE, text=True
    ) as following:
        assert following.stdout is not None
        late = broker.client("late")
        ask(late, "new/one", b"1", wait=True)
        first = following.stdout.readline()
        late.send(V5.publish("$slipring/cancel", properties=properties(correlation_data=b"1")))
        second = following.stdout.readline()
        following.send_signal(signal.SIGINT)
        assert following.wait(PATIENCE_S) == 130
    assert "stored new/one late" in first
    assert "cancelled new/one late" in second
    assert first.split()[1] == second.split()[1], "the same key"


def test_the_status_has_the_requests_and_services(limited: Limited) -> None:
    broker = limited()
    line = [sys.executable, "-m", "slipring", "status", broker.running.console]

    def status() -> str:
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
        return " ".join(done.stdout.split())

    assert "requests none" in status()
    every_state(broker)
    assert "requests 3 open (1 stored, 1 delivered, 1 answer stored); ended:" in status()
    assert "services 1 service, 1 of 1 busy" in status()


def test_the_subscribers_of_a_topic_are_printed(limited: Limited) -> None:
    broker = limited()
    every_state(broker, service_id=HOSTILE)
    text = shown(broker, "subscribers", "work/long")
    assert "[bold]x\\x1b[2J\\u202e" in text
    assert "work/#" in text
    assert "\n\nno subscribers\n" in shown(broker, "subscribers", "nobody/there")
    found = json.loads(shown(broker, "subscribers", "work/long", "--json"))
    assert [row["client_id"] for row in found["subscribers"]] == [HOSTILE]
    refused = command(broker, "subscribers", "a/+")
    assert refused.returncode == 1
    assert "refused (400)" in refused.stderr
