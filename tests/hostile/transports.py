"""The ways by which bytes reach the broker; each gives a raw peer."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.raw_mqtt import RawPeer, Version
from tests.running_broker import RunningBroker


@dataclass(frozen=True)
class Transport:
    """A name for the test, and how to connect."""

    name: str
    dial: Callable[[RunningBroker, Version], RawPeer]


def dial_tcp(broker: RunningBroker, version: Version) -> RawPeer:
    return RawPeer(broker.host, broker.port, version)


TRANSPORTS = (Transport("tcp", dial_tcp),)
