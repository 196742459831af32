"""What was acknowledged about a request outlives a power cut, also on a slow disk (P9)."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.faults.conftest import disk, library, station
from tests.faults.station import Station
from tests.raw_mqtt import RawPeer
from tests.requests.request_peer import LASTING, RequestPeer, status_of
from tests.running_broker import RunningBroker

__all__ = ["disk", "library", "station"]
SLOW_SYNC_US = 500_000


class CutBroker:
    """A broker whose power is cut the moment after an acknowledgement."""

    def __init__(self, station: Station, peers: ExitStack) -> None:
        self.station, self.peers = station, peers
        self.running: RunningBroker = station.start()

    def kept(self, client_id: str) -> RequestPeer:
        raw = self.peers.enter_context(RawPeer(self.running.host, self.running.port))
        return RequestPeer(raw, client_id, clean=False, properties=LASTING)

    def slow_down(self) -> None:
        """From now on a sync takes long."""
        self.station.disk.panel.sync_us = SLOW_SYNC_US

    def cut(self) -> None:
        self.running.stop(signal.SIGKILL)
        self.station.cut_power()
        self.station.disk.panel.sync_us = 0
        self.running = self.station.start()


@pytest.fixture
def cut_broker(station: Station) -> Iterator[CutBroker]:
    with ExitStack() as peers:
        made = CutBroker(station, peers)
        yield made
        assert made.running.stop()[0] == 0


def is_taken(said: Any) -> bool:
    return said is not None and said.reason == 0


@pytest.mark.parametrize("qos", [1, 2])
def test_a_request_that_was_acknowledged_goes_on(cut_broker: CutBroker, qos: int) -> None:
    asker = cut_broker.kept("asker")
    cut_broker.slow_down()
    assert is_taken(asker.ask("solve/x", b"1 + 1", qos=qos, wait="1"))
    cut_broker.cut()
    asker, service = cut_broker.kept("asker"), cut_broker.kept("service")
    service.serve("solve/x", at_once=1)
    service.answer(service.message(), b"2")
    assert asker.end(b"1").payload == b"2"


def test_an_answer_that_was_acknowledged_is_told(cut_broker: CutBroker) -> None:
    asker = cut_broker.kept("asker")
    service = cut_broker.kept("service").serve("solve/x", at_once=1)
    asker.asked("solve/x", qos=2)
    request = service.message()
    asker.raw.hang_up()
    cut_broker.slow_down()
    assert is_taken(service.answer(request, b"done"))
    cut_broker.cut()
    asker = cut_broker.kept("asker")
    assert asker.end(b"1").payload == b"done"
    assert asker.quiet()


def test_a_cancel_that_was_acknowledged_is_one(cut_broker: CutBroker) -> None:
    asker = cut_broker.kept("asker")
    asker.asked("solve/x", wait="1")
    cut_broker.slow_down()
    assert is_taken(asker.cancel(b"1"))
    cut_broker.cut()
    service = cut_broker.kept("service").serve("solve/x", at_once=1)
    for request in service.rest():
        service.answer(request, b"nobody told me")
    assert status_of(cut_broker.kept("asker").end(b"1")) == "cancelled"
