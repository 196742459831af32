"""Requests go on after a restart and after a kill: stored, delivered, answered, overdue (T2, P9).

A broker starts slowly beside all this. So every history goes through the same three lives of it: a
history is a generator, and each `yield` in it is the end of a life.
"""

import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.raw_mqtt import V5, Kind, RawPeer, properties
from tests.requests.request_peer import (
    LASTING,
    RequestPeer,
    correlation_of,
    reason_of,
    status_of,
)
from tests.requests.topic_service import TopicService, topic_of, topic_service
from tests.running_broker import RunningBroker

LIVES = 3
HOW = [signal.SIGKILL, signal.SIGTERM]


class RestartedBroker:
    """A broker on one folder, in one life after the other."""

    def __init__(self, data: Path, how: signal.Signals, peers: ExitStack) -> None:
        self.data, self.how, self.peers = data, how, peers
        self.running = RunningBroker.start(data)

    def again(self) -> None:
        """End it, and start it again."""
        self.running.stop(self.how)
        self.running = RunningBroker.start(self.data)

    def raw(self) -> RawPeer:
        return self.peers.enter_context(RawPeer(self.running.host, self.running.port))

    def peer(self, client_id: str, **options: Any) -> RequestPeer:
        return RequestPeer(self.raw(), client_id, **options)

    def plain(self, client_id: str) -> TopicService:
        """A client of MQTT 3.1.1 whose session is kept."""
        host, port = self.running.host, self.running.port
        made = topic_service(host, port, client_id, clean=False)
        return self.peers.enter_context(made)

    def kept(self, client_id: str) -> RequestPeer:
        """A client whose session is kept."""
        return self.peer(client_id, clean=False, properties=LASTING)


History: TypeAlias = Callable[[RestartedBroker, str], Generator[None]]
HISTORIES: dict[str, History] = {}


def history(told: History) -> History:
    HISTORIES[told.__name__] = told
    return told


@history
def a_stored_request_waits_on(broker: RestartedBroker, name: str) -> Generator[None]:
    asker = broker.kept(name)
    for qos in (1, 2):
        asker.asked(name, b"%d" % qos, correlation=b"%d" % qos, qos=qos, wait="1")
    yield
    asker = broker.kept(name)
    service = broker.peer(f"{name}-service").serve(name, at_once=1)
    for qos in (1, 2):
        request = service.message()
        assert (request.payload, correlation_of(request)) == (b"%d" % qos, b"%d" % qos)
        service.answer(request, b"2")
        end = asker.end(b"%d" % qos)
        assert (end.payload, status_of(end), end.qos) == (b"2", "answered", qos)
    assert asker.quiet()
    yield
    assert broker.kept(name).quiet()


@history
def a_service_with_a_kept_session_answers_what_waited_for_it(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    broker.kept(f"{name}-service").serve(name, at_once=2).leave()
    asker = broker.kept(name)
    for qos in (1, 2):
        asker.asked(name, correlation=b"%d" % qos, qos=qos, wait="1")
    yield
    service, asker = broker.kept(f"{name}-service"), broker.kept(name)
    for qos in (1, 2):
        service.answer(service.message(), b"after all")
        assert asker.end(b"%d" % qos).payload == b"after all"
    assert asker.quiet()
    assert service.quiet()


@history
def a_request_that_its_service_has_is_not_delivered_again(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    service = broker.kept(f"{name}-service").serve(name, at_once=1)
    broker.kept(name).asked(name, qos=2)
    request = service.message()
    assert service.quiet()
    yield
    other = broker.peer(f"{name}-other").serve(name, at_once=1)
    service, asker = broker.kept(f"{name}-service"), broker.kept(name)
    again = service.rest()
    assert all(one.dup for one in again), "at most the same delivery again"
    said = service.answer(request, b"once")
    assert said
    assert said.reason == 0
    assert asker.end(b"1").payload == b"once"
    assert other.quiet()


@history
def a_service_by_topic_gets_what_it_had_and_what_waited_on_their_topics(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    """It has the first request and has not acknowledged it; the second waits for it."""
    service = broker.plain(f"{name}-service").serve(name, 1)
    asker = broker.kept(name)
    asker.asked(name, b"had", correlation=b"1")
    had = service.raw.until(Kind.PUBLISH)[-1]
    asker.asked(name, b"waits", correlation=b"2")
    yield
    service, asker = broker.plain(f"{name}-service"), broker.kept(name)
    again = service.message()
    assert (again.topic, again.payload) == (had.topic, b"had")
    service.answer(again, b"one")
    assert asker.end(b"1").payload == b"one"
    waited = service.message()
    assert (topic_of(waited), waited.payload) == (name, b"waits")
    yield
    service, asker = broker.plain(f"{name}-service"), broker.kept(name)
    service.answer(waited, b"two")
    assert asker.end(b"2").payload == b"two"
    asker.asked(name, b"still a service", correlation=b"3")
    assert service.message().payload == b"still a service"


@history
def a_service_that_dies_with_the_broker_fails_the_request(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    service = broker.peer(f"{name}-service").serve(name, at_once=1)
    broker.kept(name).asked(name)
    service.message()
    yield
    end = broker.kept(name).end(b"1")
    assert (status_of(end), reason_of(end)) == ("failed", "the service has gone")


@history
def a_retry_goes_to_another_service(broker: RestartedBroker, name: str) -> Generator[None]:
    service = broker.peer(f"{name}-service").serve(name, at_once=1)
    broker.kept(name).asked(name, b"again", retry="1", wait="1")
    assert service.message().payload == b"again"
    yield
    asker, other = broker.kept(name), broker.peer(f"{name}-other").serve(name, at_once=1)
    other.answer(other.message(), b"by another")
    assert asker.end(b"1").payload == b"by another"
    assert asker.quiet()


@history
def a_time_out_that_passes_while_the_broker_is_down_is_told_once(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    asker = broker.kept(name)
    for qos in (1, 2):
        asker.asked(name, correlation=b"%d" % qos, qos=qos, wait="1", timeout="0.3")
    asker.raw.hang_up()
    yield
    service = broker.peer(f"{name}-service").serve(name, at_once=1)
    asker = broker.kept(name)
    ends = {correlation_of(end): status_of(end) for end in (asker.end(), asker.end())}
    assert ends == {b"1": "timed-out", b"2": "timed-out"}
    assert service.quiet()
    assert asker.quiet()
    yield
    assert broker.kept(name).quiet()


@history
def an_answer_that_waits_for_its_asker_is_told_once(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    service = broker.peer(f"{name}-service").serve(name, at_once=2)
    asker = broker.kept(name)
    for qos in (1, 2):
        asker.asked(name, correlation=b"%d" % qos, qos=qos)
    asker.leave()
    for _ in (1, 2):
        said = service.answer(service.message(), b"for later")
        assert said
        assert said.reason == 0
    yield
    back = broker.kept(name)
    assert [back.end(b"1").payload, back.end(b"2").payload] == [b"for later"] * 2
    assert back.quiet()
    back.leave()
    yield
    assert broker.kept(name).quiet()


@history
def an_end_that_was_received_at_qos_2_is_only_released(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    raw = broker.raw()
    raw.connect(name, clean=False, properties=LASTING)
    given = properties(response_topic="answers", user=("slipring-timeout", "60"))
    raw.send(V5.publish(name, qos=2, packet_id=1, properties=given))
    raw.until(Kind.PUBREC)
    raw.send(V5.pubrel(1))
    told = next(one for one in iter(raw.packet, None) if one.kind is Kind.PUBLISH)
    raw.send(V5.pubrec(told.id))
    raw.until(Kind.PUBREL)
    yield
    raw = broker.raw()
    assert raw.connect(name, clean=False, properties=LASTING).session_present
    assert [one.kind for one in raw.waiting()] == [Kind.PUBREL]


@history
def a_clean_start_cancels_what_is_stored(broker: RestartedBroker, name: str) -> Generator[None]:
    broker.kept(name).asked(name, wait="1")
    yield
    broker.peer(name, properties=LASTING)
    yield
    assert broker.peer(f"{name}-service").serve(name, at_once=1).quiet()
    assert broker.kept(name).quiet()


@history
def a_request_that_does_not_wait_ends_when_its_services_are_gone(
    broker: RestartedBroker, name: str
) -> Generator[None]:
    """The only service was busy, and has died with the broker."""
    service = broker.peer(f"{name}-service").serve(name, at_once=1)
    asker = broker.kept(name)
    asker.asked(name, correlation=b"computed")
    service.message()
    asker.asked(name, correlation=b"stored", timeout="4")
    yield
    asker = broker.kept(name)
    ends = {correlation_of(end): status_of(end) for end in (asker.end(), asker.end())}
    assert ends == {b"computed": "failed", b"stored": "not-delivered"}


class Told(dict[str, BaseException | None]):
    """What each history came to; a history that failed is not gone on with."""

    def __init__(self, broker: RestartedBroker) -> None:
        super().__init__()
        running = {name: told(broker, f"solve/{name}") for name, told in HISTORIES.items()}
        for life in range(LIVES):
            if life:
                broker.again()
            for name, told in list(running.items()):
                try:
                    next(told)
                except StopIteration:
                    self[name] = None
                    del running[name]
                except BaseException as failed:  # noqa: BLE001 its own test raises it
                    self[name] = failed
                    del running[name]
        assert not running, "a history has at most as many parts as there are lives"


@pytest.fixture(scope="module", params=HOW, ids=["kill-9", "sigterm"])
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    with ExitStack() as peers:
        data = tmp_path_factory.mktemp("restarted") / "data"
        broker = RestartedBroker(data, request.param, peers)
        yield Told(broker)
        code, errors = broker.running.stop()
        assert code == 0, errors
        assert "Traceback" not in errors


@pytest.mark.parametrize("name", list(HISTORIES))
def test_after_a_restart(told: Told, name: str) -> None:
    if (failed := told[name]) is not None:
        raise failed
