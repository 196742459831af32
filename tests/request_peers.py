"""Plain MQTT 5 clients that ask and serve, and a broker with a request in every state."""

import httpx

from tests.limited_broker import KEPT, LimitedBroker
from tests.mqtt_bytes import Pair, properties
from tests.raw_mqtt import V5, Kind, Packet, RawPeer
from tests.running_broker import PATIENCE_S

ANSWERS = "answers/here"
OPEN = {"stored": 1, "delivered": 1, "answer stored": 1}
ENDED = {
    "answer delivered": 1,
    "request not delivered": 1,
    "answer not delivered": 1,
    "cancelled": 1,
    "timed out": 1,
    "failed": 1,
}
"""What a broker has after `every_state`."""


def asking(
    topic: str,
    correlation: bytes,
    *,
    timeout_s: float = 3_600,
    wait: bool = False,
    packet_id: int = 1,
    priority: str | None = None,
) -> bytes:
    """A PUBLISH that is a request."""
    user: list[Pair] = [("slipring-timeout", f"{timeout_s:f}")]
    user += [("slipring-wait", "1")] if wait else []
    user += [("slipring-priority", priority)] if priority else []
    told = properties(response_topic=ANSWERS, correlation_data=correlation, user=user)
    return V5.publish(topic, b"what?", qos=1, packet_id=packet_id, properties=told)


def ask(peer: RawPeer, topic: str, correlation: bytes, **terms: object) -> None:
    """Ask, and wait until the broker has it."""
    peer.send(asking(topic, correlation, **terms))  # type: ignore[arg-type]
    assert peer.until(Kind.PUBACK, keep=True)[-1].reason == 0


def serve(peer: RawPeer, filter_: str, at_once: int) -> None:
    """Become a service."""
    said = properties(user=[("slipring-serve", str(at_once))])
    peer.send(V5.subscribe(1, (filter_, 0), properties=said))
    assert max(peer.until(Kind.SUBACK)[-1].reasons) < 0x80


def answer(
    service: RawPeer, request: Packet, status: str = "answered", payload: bytes = b"so"
) -> None:
    """Answer a request, and wait until the broker has it."""
    (topic,) = request.properties["response_topic"]
    assert isinstance(topic, str)
    said = properties(user=[("slipring-status", status)])
    service.send(V5.publish(topic, payload, qos=1, packet_id=9, properties=said))
    assert service.until(Kind.PUBACK, keep=True)[-1].reason == 0


def end_of(asker: RawPeer) -> str:
    """How the next request of an asker ended."""
    told = asker.until(Kind.PUBLISH)[-1]
    if told.qos:
        asker.send(V5.puback(told.id))
    pairs = [pair for pair in told.properties["user"] if isinstance(pair, tuple)]
    return next(str(value) for name, value in pairs if name == "slipring-status")


def every_state(broker: LimitedBroker, asker_id: str = "asker", service_id: str = "solver") -> None:
    """Bring a request into every state that lasts, and let one end in every way but as a victim."""
    asker, service = broker.client(asker_id), broker.client(service_id)
    serve(service, "work/#", 1)
    ask(asker, "work/failing", b"1")
    answer(service, service.packet(), "failed")
    assert end_of(asker) == "failed"
    ask(asker, "work/done", b"2")
    answer(service, service.packet())
    assert end_of(asker) == "answered"
    ask(asker, "nobody/there", b"3")
    assert end_of(asker) == "not-delivered"
    ask(asker, "nobody/there", b"4", wait=True, timeout_s=0.01)
    assert end_of(asker) == "timed-out"
    ask(asker, "nobody/there", b"5", wait=True)
    asker.send(V5.publish("$slipring/cancel", properties=properties(correlation_data=b"5")))
    assert end_of(asker) == "cancelled"
    for client_id in ("forgetful", "patient"):
        _leave_before_the_answer(broker, client_id, service)
    _end_session(broker, "forgetful")
    ask(asker, "work/long", b"6")
    assert service.packet().topic == "work/long"
    ask(asker, "nobody/yet", b"7", wait=True, priority="high")


def _end_session(broker: LimitedBroker, client_id: str) -> None:
    """End a session for good: nobody comes for the answer in it."""
    body = {"client_ids": [client_id]}
    ended = httpx.post(f"{broker.running.console}/api/sessions/end", json=body, timeout=PATIENCE_S)
    assert ended.json()["done"] == [client_id]


def _leave_before_the_answer(broker: LimitedBroker, client_id: str, service: RawPeer) -> None:
    """A client asks and goes; its answer is stored."""
    leaving = broker.client(client_id, clean=False, properties=KEPT)
    ask(leaving, "work/later", b"0")
    leaving.send(V5.disconnect())
    assert leaving.closed()
    answer(service, service.packet())
