"""Clients of others, as they are: Eclipse Paho and `mosquitto_rr`, on both sides (T1)."""

import queue
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, TypeAlias

import pytest
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from tests.raw_mqtt import properties
from tests.requests.request_peer import LASTING, Peers, status_of
from tests.running_broker import PATIENCE_S, RunningBroker

QOS = pytest.mark.parametrize("qos", [0, 1, 2])


def given(kind: int = PacketTypes.PUBLISH, user: dict[str, str] | None = None, **more: Any) -> Any:
    made: Any = Properties(kind)  # type: ignore[no-untyped-call]
    for name, value in more.items():
        setattr(made, name, value)
    if user:
        made.UserProperty = [(f"slipring-{name}", text) for name, text in user.items()]
    return made


class PahoPeer:
    """A client of Paho's in a thread of its own; what it gets is in a queue."""

    def __init__(self, broker: RunningBroker, client_id: str, **connect: Any) -> None:
        self.client = Client(CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5)
        self.messages: queue.Queue[Any] = queue.Queue()
        self.subscribed: queue.Queue[Any] = queue.Queue()
        self.ready = threading.Event()
        self.client.on_message = lambda _client, _data, message: self.messages.put(message)
        self.client.on_connect = lambda *_: self.ready.set()
        self.client.on_subscribe = lambda _client, _data, _id, codes, _: self.subscribed.put(codes)
        self.client.connect(broker.host, broker.port, **connect)
        self.client.loop_start()
        assert self.ready.wait(PATIENCE_S)

    def serve(self, wanted: str, qos: int = 2, **user: str) -> "PahoPeer":
        said = given(PacketTypes.SUBSCRIBE, user) if user else None
        options = SubscribeOptions(qos=qos)
        self.client.subscribe(wanted, options=options, properties=said)
        self.subscribed.get(timeout=PATIENCE_S)
        return self

    def message(self) -> Any:
        return self.messages.get(timeout=PATIENCE_S)

    def answering(self, answer: Callable[[bytes], tuple[bytes, str]], qos: int) -> "PahoPeer":
        """Answer every request from now on."""

        def heard(client: Any, _data: object, message: Any) -> None:
            payload, status = answer(message.payload)
            said = given(user={"status": status} if status else None)
            client.publish(message.properties.ResponseTopic, payload, qos, properties=said)

        self.client.on_message = heard
        return self

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


Pahos: TypeAlias = Callable[..., PahoPeer]


@pytest.fixture
def pahos(shared_broker: RunningBroker) -> Iterator[Pahos]:
    with ExitStack() as stack:

        def made(client_id: str = "", **connect: Any) -> PahoPeer:
            peer = PahoPeer(shared_broker, client_id, **connect)
            stack.callback(peer.close)
            return peer

        yield made


def user_of(message: Any) -> dict[str, str]:
    return dict(getattr(message.properties, "UserProperty", []))


@QOS
def test_paho_asks_and_paho_answers(pahos: Pahos, topic: str, qos: int) -> None:
    pahos().serve(topic, qos).answering(lambda payload: (payload[::-1], ""), qos)
    asker = pahos()
    terms = given(user={"timeout": "60"}, ResponseTopic="my/answers", CorrelationData=b"\x00\xff")
    asker.client.publish(topic, b"abc", qos, properties=terms)
    answer = asker.message()
    assert (answer.topic, answer.payload, answer.qos) == ("my/answers", b"cba", qos)
    assert answer.properties.CorrelationData == b"\x00\xff"
    assert user_of(answer)["slipring-status"] == "answered"


@QOS
def test_paho_learns_of_every_end(pahos: Pahos, topic: str, qos: int) -> None:
    service = pahos().serve(f"{topic}/served", qos)
    service.answering(lambda payload: (payload, payload.decode() or "failed"), qos)
    asker = pahos()

    def end(where: str, **user: str) -> str:
        terms = given(user={"timeout": "60", **user}, ResponseTopic="ends", CorrelationData=b"1")
        asker.client.publish(f"{topic}/{where}", b"failed", qos, properties=terms)
        return user_of(asker.message())["slipring-status"]

    assert end("served") == "failed"
    assert end("nobody") == "not-delivered"
    assert end("nobody", wait="1", timeout="0.1") == "timed-out"
    terms = given(user={"timeout": "60", "wait": "1"}, ResponseTopic="ends", CorrelationData=b"9")
    asker.client.publish(f"{topic}/nobody", b"", qos, properties=terms)
    cancel = given(CorrelationData=b"9")
    asker.client.publish("$slipring/cancel", b"", min(qos, 1), properties=cancel)
    assert user_of(asker.message())["slipring-status"] == "cancelled"


@QOS
def test_paho_gets_parts_in_their_order(pahos: Pahos, peers: Peers, topic: str, qos: int) -> None:
    service, asker = peers().serve(topic), pahos()
    terms = given(user={"timeout": "60"}, ResponseTopic="parts", CorrelationData=b"1")
    asker.client.publish(topic, b"", qos, properties=terms)
    request = service.message()
    for number in range(20):
        service.answer(request, b"%d" % number, status="part", qos=number % 3)
    service.answer(request, b"end")
    heard = [asker.message() for _ in range(21)]
    assert [one.payload for one in heard] == [b"%d" % number for number in range(20)] + [b"end"]
    assert {user_of(one)["slipring-status"] for one in heard[:-1]} == {"part"}


def test_paho_comes_back_for_its_answer(pahos: Pahos, peers: Peers, topic: str) -> None:
    service = peers().serve(topic)
    kept = given(PacketTypes.CONNECT, SessionExpiryInterval=600)
    asker = pahos(topic, clean_start=False, properties=kept)
    terms = given(user={"timeout": "60"}, ResponseTopic="answers", CorrelationData=b"1")
    asker.client.publish(topic, b"", 2, properties=terms).wait_for_publish(PATIENCE_S)
    request = service.message()
    asker.close()
    service.answer(request, b"kept for you")
    back = pahos(topic, clean_start=False, properties=kept)
    assert back.message().payload == b"kept for you"


def rr(broker: RunningBroker, *arguments: str) -> str:
    """Mosquitto's client of requests: it publishes one, and shows the first message it gets."""
    command = ["mosquitto_rr", "-h", broker.host, "-p", str(broker.port), "-V", "mqttv5"]
    command += ["-W", str(PATIENCE_S), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)
    return done.stdout


TIMEOUT = ["-D", "publish", "user-property", "slipring-timeout", "60"]


@QOS
def test_mosquitto_rr_asks_and_paho_answers(
    shared_broker: RunningBroker, pahos: Pahos, topic: str, qos: int
) -> None:
    pahos().serve(topic, qos).answering(lambda payload: (payload.upper(), ""), qos)
    asked = ["-t", topic, "-e", f"rr/{qos}", "-m", "question", "-q", str(qos), *TIMEOUT]
    assert rr(shared_broker, *asked) == "QUESTION\n"


@QOS
def test_mosquitto_rr_is_told_an_end(shared_broker: RunningBroker, topic: str, qos: int) -> None:
    asked = ["-t", topic, "-e", f"rr/{qos}", "-m", "question", "-q", str(qos), *TIMEOUT]
    assert "not-delivered" in rr(shared_broker, *asked, "-F", "%P")


@QOS
def test_mosquitto_sub_and_pub_are_a_service(
    shared_broker: RunningBroker, peers: Peers, topic: str, qos: int
) -> None:
    """`mosquitto_sub` shows where to answer to; another client of the same name answers there."""
    where = ["-h", shared_broker.host, "-p", str(shared_broker.port), "-V", "mqttv5"]
    session = ["-i", topic, "-q", str(qos)]
    listen = ["mosquitto_sub", *where, *session, "-c", "-x", "600", "-t", topic]
    subprocess.run([*listen, "-E"], check=True, timeout=PATIENCE_S)
    asker = peers(properties=LASTING)
    asker.asked(topic, b"plain", correlation=b"data", qos=max(1, qos), wait="1")
    shown = subprocess.run(
        [*listen, "-C", "1", "-F", "%R"], check=True, capture_output=True, timeout=PATIENCE_S
    )
    answer_topic = shown.stdout.decode().strip()
    if qos == 0:  # what it gets at QoS 0 is gone with its connection
        assert status_of(asker.end(b"data")) == "failed"
        return
    speak = ["mosquitto_pub", *where, *session, "-c", "-x", "600", "-t", answer_topic]
    subprocess.run([*speak, "-m", "by hand"], check=True, timeout=PATIENCE_S)
    assert asker.end(b"data").payload == b"by hand"


def test_a_plain_message_with_a_response_topic_is_no_request(peers: Peers, topic: str) -> None:
    """MQTT 5's own request and response go on as ever, between two clients."""
    services = [peers().serve(topic, at_once=1), peers().serve(topic)]
    asker = peers().serve(f"{topic}/answers")
    plain = properties(response_topic=f"{topic}/answers", correlation_data=b"1")
    asker.publish(topic, b"to all", properties=plain)
    for service in services:
        message = service.message()
        assert message.properties["response_topic"] == (f"{topic}/answers",)
        service.publish(f"{topic}/answers", b"each")
    assert [asker.message().payload for _ in services] == [b"each", b"each"]
