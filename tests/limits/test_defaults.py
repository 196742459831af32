"""What a broker with no file takes: more than devices and programs send (docs/limits.md)."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.limited_broker import LimitedBroker, ask
from tests.metrics import Metrics
from tests.raw_mqtt import V5, V31, V311, Kind, Version, properties
from tests.running_broker import RunningBroker

MIB = 1 << 20


@pytest.fixture
def broker(shared_broker: RunningBroker) -> Iterator[LimitedBroker]:
    with ExitStack() as peers:
        yield LimitedBroker(shared_broker, peers)


@pytest.mark.parametrize("qos", [0, 1])
@pytest.mark.parametrize("payload_bytes", [MIB, 4 * MIB])
def test_a_payload_of_whole_mebibytes_is_carried_whatever_its_head_takes(
    broker: LimitedBroker, payload_bytes: int, qos: int
) -> None:
    topic, head = "t" * 4_096, properties(user=("k", "v" * 60_000))
    reader, writer = broker.client("reader"), broker.client("writer")
    reader.send(V5.subscribe(1, (topic, qos)))
    assert reader.packet().kind is Kind.SUBACK
    packet_id = 1 if qos else None
    payload = bytes(payload_bytes)
    writer.send(V5.publish(topic, payload, qos=qos, packet_id=packet_id, properties=head))
    packet = reader.packet()
    assert (packet.kind, packet.topic == topic) == (Kind.PUBLISH, True)
    assert packet.payload == payload


@pytest.mark.parametrize("version", [V31, V311, V5], ids=lambda version: version.name)
def test_a_client_identifier_of_1024_bytes_is_taken(
    broker: LimitedBroker, version: Version
) -> None:
    assert broker.client("x" * 1_024, version).quiet()
    refused = broker.peer(version).connect("x" * 1_025)
    assert refused.reason == (0x85 if version is V5 else 2)


def test_names_in_tables_that_all_share_are_shorter(broker: LimitedBroker) -> None:
    client = broker.client("writer")
    client.send(V5.subscribe(1, "answer"))
    assert client.packet().kind is Kind.SUBACK
    before = broker.reached("values")
    client.send(V5.publish("t" * 1_024, b"shown"))
    client.settle()
    assert broker.reached("values") == before
    client.send(V5.publish("t" * 1_025, b"carried, not shown"))
    client.settle()
    Metrics.when(broker.running, 'slipring_limit_reached_total{limit="values"}', before + 1)
    long = [{"name": "p" * 1_025, "type": "f64"}]
    answer = ask(client, "table/declare", parameters=long)
    assert "1024 are allowed" in str(answer), str(answer)
