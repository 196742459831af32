"""Clients of MQTT 3.1.1 as they are: Eclipse Paho, and Mosquitto's tools in a shell script (T1)."""

import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion

from tests.requests.request_peer import LASTING, Peers, status_of
from tests.running_broker import PATIENCE_S, RunningBroker

DOCUMENT = Path(__file__).parents[2] / "docs" / "requests.md"


def paho_service(broker: RunningBroker, wanted: str, qos: int) -> Any:
    """A service of Paho's with MQTT 3.1.1: it answers `b"bad"` with a failure."""
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv311)
    ready, subscribed = threading.Event(), queue.SimpleQueue[Any]()

    def on_message(client: Any, _data: object, message: Any) -> None:
        _, _, key, topic = message.topic.split("/", 3)
        where = f"$slipring/answer/{key}"
        if message.payload == b"bad":
            client.publish(f"{where}/failed", b"it is bad", qos)
            return
        client.publish(f"{where}/part", topic.encode(), qos)
        client.publish(where, message.payload.upper(), qos)

    client.on_connect = lambda *_: ready.set()
    client.on_subscribe = lambda _client, _data, _id, codes, _: subscribed.put(codes)
    client.on_message = on_message
    client.connect(broker.host, broker.port)
    client.loop_start()
    assert ready.wait(PATIENCE_S)
    client.subscribe(wanted, qos)
    (code,) = subscribed.get(timeout=PATIENCE_S)
    assert code.value == qos
    return client


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_paho_with_311_is_a_service(
    shared_broker: RunningBroker, peers: Peers, topic: str, qos: int
) -> None:
    client = paho_service(shared_broker, f"$slipring/serve/2/{topic}/#", qos)
    asker = peers()
    asker.asked(f"{topic}/a/b", b"hello", qos=qos)
    told = [asker.end(b"1") for _ in range(2)]
    assert [(status_of(one), one.payload) for one in told] == [
        ("part", f"{topic}/a/b".encode()),
        ("answered", b"HELLO"),
    ]
    asker.asked(f"{topic}/x", b"bad", correlation=b"2", qos=qos)
    end = asker.end(b"2")
    assert (status_of(end), end.payload) == ("failed", b"it is bad")
    client.disconnect()
    client.loop_stop()


def script_of_the_document() -> str:
    """The shell script in the document that serves by Mosquitto's tools."""
    text = DOCUMENT.read_text(encoding="utf-8")
    scripts = [part.partition("```")[0] for part in text.split("```sh\n")[1:]]
    (found,) = [script for script in scripts if "$slipring/serve/" in script]
    return found


def test_the_script_of_the_document_serves_with_mosquitto(
    shared_broker: RunningBroker, peers: Peers, tmp_path: Path
) -> None:
    """As it is written, but with the address of this broker, and for two requests."""
    where = f"-h {shared_broker.host} -p {shared_broker.port}"
    script = script_of_the_document().replace("-V 311", f"-V 311 {where}")
    script = script.replace("while true", "for _ in 1 2")
    written = tmp_path / "serve.sh"
    written.write_text(script, encoding="utf-8")
    with subprocess.Popen(["sh", "-eu", str(written)]) as serving:
        asker = peers(properties=LASTING)
        for number in (b"1", b"2"):
            asker.asked("text/upper", b"hello  *  %b" % number, correlation=number, wait="1")
            assert asker.end(number).payload == b"HELLO  *  %b" % number
        assert serving.wait(PATIENCE_S) == 0
