"""The bystander's own measure: quiet is quiet, and work of the engine is seen."""

from tests.fairness.bystander import bystander, engine_ms
from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import RunningBroker


def test_a_bystander_alone_waits_for_nobody(broker: RunningBroker) -> None:
    with bystander(broker) as alone:
        pass
    alone.assert_served()


def test_the_engines_work_is_counted(broker: RunningBroker) -> None:
    before_ms = engine_ms(broker.process.pid)
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("busy").reason == 0
        for _ in range(100):
            peer.send(*[V5.publish("busy/topic", b"x" * 100)] * 100)
        peer.settle()
    assert engine_ms(broker.process.pid) > before_ms
