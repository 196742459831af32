"""What the dearest packets cost the engine, in processor time, against plain messages."""

from collections.abc import Iterator

import pytest

from tests.fairness.bystander import NO_JOURNAL, engine_ms
from tests.fairness.flood import question
from tests.fairness.full_broker import FRAME, deflated, full_broker
from tests.limited_broker import ask
from tests.packets import V5
from tests.raw_mqtt import RawPeer
from tests.running_broker import RunningBroker

PLAIN_MESSAGES = 20_000
PACKETS = 20
FACTOR_MAX = 20_000
"""One packet costs at most as much as so many plain messages of 64 bytes: some milliseconds."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningBroker, int]]:
    """One broker with many parameters, and the number of its table."""
    data = tmp_path_factory.mktemp("full") / "data"
    with full_broker(data, config=NO_JOURNAL) as found:
        yield found


def cost_ms(broker: RunningBroker, packets: list[bytes], first: bytes = b"") -> float:
    """Processor time of the engine for one of these packets."""
    with RawPeer(broker.host, broker.port) as peer:
        assert peer.connect("costly").reason == 0
        peer.send(first)
        peer.waiting()
        begun_ms = engine_ms(broker.process.pid)
        for packet in packets:
            peer.send(packet)
            peer.waiting()
        return (engine_ms(broker.process.pid) - begun_ms) / len(packets)


def plain_ms(broker: RunningBroker) -> float:
    """The same for a plain message of 64 bytes, of many."""
    message = V5.publish("nobody/wants", b"x" * 64)
    return cost_ms(broker, [message * PLAIN_MESSAGES] * 3) / PLAIN_MESSAGES


@pytest.mark.parametrize(
    ("topic", "body"),
    [
        pytest.param("table/list", {"filter": "#"}, id="list of all"),
        pytest.param("table/list", {"filter": "+/+/+/nothing"}, id="list of nothing"),
        pytest.param("table/values", {"filter": "#"}, id="values of all"),
        pytest.param("table/values", {"filter": "+/+/+/nothing"}, id="values of nothing"),
        pytest.param("table/find", {"names": ["x"] * 4_000}, id="find"),
        pytest.param("table/select", {"filters": ["many/#"]}, id="select"),
        pytest.param(
            "table/declare", {"parameters": [{"name": "a", "type": "x"}] * 2_000}, id="declare"
        ),
        pytest.param("streams/list", {}, id="list of streams"),
    ],
)
def test_a_request_costs_a_few_milliseconds(
    full: tuple[RunningBroker, int], topic: str, body: dict[str, object]
) -> None:
    broker, _ = full
    plain = plain_ms(broker)
    cost = cost_ms(broker, [question(topic, body)] * PACKETS)
    assert cost < FACTOR_MAX * plain, f"{cost:.2f} ms against {plain * 1e6:.0f} ns"


@pytest.mark.parametrize("rows", [30_000, 1_000_000, 4_000_000])
def test_a_deflated_frame_of_few_bytes_costs_a_few_milliseconds(
    full: tuple[RunningBroker, int], rows: int
) -> None:
    """Within the bounds it is taken; beyond them it is refused before it is inflated."""
    broker, table = full
    plain = plain_ms(broker)
    with RawPeer(broker.host, broker.port) as owner:
        assert owner.connect("bomber").reason == 0
        claimed = {"parameters": [{"name": "bomb/x", "type": "bool"}]}
        index = ask(owner, "table/declare", **claimed)["indices"][0]
        frame = deflated(table, index, rows)
        sent = V5.publish("bomb", frame, qos=1, packet_id=1, properties=FRAME)
        owner.send(sent)
        answer = owner.packet()
        assert answer.reason == (0x97 if rows > 30_000 else 0), answer
    cost = cost_ms(broker, [sent] * PACKETS, question("table/declare", claimed))
    assert cost < FACTOR_MAX * plain, f"{cost:.2f} ms against {plain * 1e6:.0f} ns"


def test_a_subscription_to_many_parameters_costs_what_it_matches(
    full: tuple[RunningBroker, int],
) -> None:
    """The first look at a wide filter takes several turns; asking again takes what it sends."""
    broker, _ = full
    plain = plain_ms(broker)
    pair = V5.subscribe(1, "many/#") + V5.unsubscribe(2, "many/#")
    cost = cost_ms(broker, [pair] * PACKETS)
    assert cost < FACTOR_MAX * plain, f"{cost:.2f} ms against {plain * 1e6:.0f} ns"
