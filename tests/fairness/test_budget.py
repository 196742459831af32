"""The memory budget while the broker runs: it is changed, used up, and free again (T12)."""

import json
from typing import Any

import pytest

from tests.cli.commands import slipring
from tests.configured_broker import Configured, ConfiguredBroker
from tests.console_answer import overview
from tests.fairness.bystander import MIB
from tests.fairness.test_quotas import QUOTA, proven, users, why
from tests.limited_broker import KEPT, Limited, retain, wait
from tests.metrics import Metrics
from tests.mqtt_bytes import properties
from tests.raw_mqtt import V5, Kind, Packet, RawPeer

SMALL, LARGE = 8 * MIB, 64 * MIB
NOT_ALLOWED, MALFORMED = 0x87, 0x99
LOAD = 200_000
BEGUN_BYTES = MIB


def config(budget_bytes: int) -> str:
    """A broker with an operator, to which others come without a name."""
    limits = f"[limits]\nmemory_bytes = {budget_bytes}\n"
    return f"allow_anonymous = true\n{limits}{users('olga', operator='olga')}\n"


def change(broker: ConfiguredBroker, budget_bytes: int) -> None:
    """Another budget holds from now on."""
    broker.reload(config(budget_bytes))
    broker.line(f"limits.memory_bytes is {budget_bytes} now")
    assert Metrics.of(broker.running)["slipring_memory_budget_bytes"] == budget_bytes


def asked(broker: ConfiguredBroker) -> RawPeer:
    return RawPeer(broker.running.host, broker.running.port)


def begin_packets(broker: ConfiguredBroker, count: int) -> list[RawPeer]:
    """Clients that send the beginning of a large packet, which the broker cannot drop."""
    begun = V5.publish("large", bytes(4 * MIB))[:BEGUN_BYTES]
    peers = [broker.peer(f"begun{number}") for number in range(count)]
    for peer in peers:
        peer.send(begun)
    Metrics.when(broker.running, "slipring_memory_bytes", count * BEGUN_BYTES)
    return peers


def subscribe_at_length(broker: ConfiguredBroker) -> RawPeer:
    """A client with filters that take 15 MB, which stay as long as it does."""
    peer = broker.peer("reader")
    levels = "/".join(("level",) * 30)
    for number in range(1_000):
        peer.send(V5.subscribe(1, (f"{number}/{levels}", 0)))
        assert peer.packet().reasons == (0,)
    Metrics.when(broker.running, "slipring_memory_bytes", 15_000_000)
    return peer


def ask_memory(peer: RawPeer, payload: bytes = b"") -> tuple[Packet, dict[str, Any] | None]:
    """The acknowledgement of a request to `$slipring/memory`, and its answer."""
    where = properties(response_topic="answer")
    peer.send(V5.publish("$slipring/memory", payload, qos=1, packet_id=1, properties=where))
    packets = [peer.packet()]
    if packets[0].kind is not Kind.PUBACK or packets[0].reason < 0x80:
        packets.append(peer.packet())
    packets.sort(key=lambda packet: packet.kind is not Kind.PUBACK)
    told = json.loads(packets[1].payload) if len(packets) > 1 else None
    return packets[0], told


def test_a_budget_that_cannot_be_kept_refuses_newcomers_but_no_operator_until_it_is_raised(
    configured: Configured,
) -> None:
    broker = configured(config(LARGE))
    with broker.peer("kept", properties=KEPT) as kept:
        kept.send(V5.disconnect())
        assert kept.closed()
    with broker.peer("writer") as writer:
        reader = subscribe_at_length(broker)
        change(broker, SMALL)
        with asked(broker) as newcomer:
            refused = newcomer.connect("newcomer")
            assert (refused.reason, newcomer.closed()) == (QUOTA, True)
            assert "limits.memory_bytes" in why(refused)
        assert Metrics.of(broker.running).reached("memory_bytes") > 0
        with broker.peer("olga", **proven("olga")), broker.peer("kept", properties=KEPT):
            assert writer.quiet(), "who is here stays"
        assert retain(writer, "kept/further", bytes(1_000)) == QUOTA
        writer.send(V5.subscribe(1, ("one/more", 0)))
        no_more = writer.packet()
        assert (no_more.reasons, "limits.memory_bytes" in why(no_more)) == ((QUOTA,), True)
        change(broker, LARGE)
        with broker.peer("newcomer"):
            assert retain(writer, "kept/further", bytes(1_000)) == 0x10
        reader.close()


def test_a_newcomer_gets_in_when_what_filled_the_budget_is_gone(configured: Configured) -> None:
    broker = configured(config(LARGE))
    reader = subscribe_at_length(broker)
    change(broker, SMALL)
    with asked(broker) as newcomer:
        assert newcomer.connect("newcomer").reason == QUOTA
    reader.hang_up()
    while Metrics.of(broker.running)["slipring_memory_bytes"] > SMALL:
        pass
    with broker.peer("newcomer"):
        pass


def test_who_begins_large_packets_and_does_not_finish_them_goes_when_nothing_else_helps(
    configured: Configured,
) -> None:
    broker = configured(config(LARGE))
    here = begin_packets(broker, 20)
    change(broker, SMALL)
    while Metrics.of(broker.running)["slipring_memory_bytes"] > SMALL:
        pass
    for peer in here:
        peer.close()
    assert Metrics.of(broker.running).reached("memory_bytes") >= 10


def test_a_lower_budget_drops_what_is_stored_the_oldest_retained_messages_last(
    limited: Limited,
) -> None:
    broker = limited(memory_bytes=LARGE)
    writer = broker.client("writer")
    for number in range(50):
        assert retain(writer, f"kept/{number:02}", bytes(LOAD)) == 0x10
        assert wait(writer, f"low/{number}", bytes(LOAD), "low") == 0x10
        assert wait(writer, f"high/{number}", bytes(LOAD), "high") == 0x10

    def victims(budget_bytes: int) -> tuple[float, float]:
        done = slipring("memory", str(budget_bytes), "--console", broker.running.console)
        assert done.stdout.startswith("used")
        told = Metrics.of(broker.running)
        assert told["slipring_memory_bytes"] <= budget_bytes
        part = 'slipring_memory_victims_total{part="%s"}'
        return told[part % "waiting"], told[part % "retained"]

    waiting, retained = victims(24 * MIB)
    assert 20 <= waiting <= 50
    assert retained == 0
    waiting, retained = victims(16 * MIB)
    assert waiting == 50, "all of low priority"
    assert 0 < retained < 50
    waiting, retained = victims(SMALL)
    assert retained == 50, "before what has a high priority"
    assert 50 < waiting < 100
    reader = broker.client("reader")
    reader.send(V5.subscribe(1, ("kept/#", 0), ("high/#", 0)))
    assert reader.packet().reasons == (0, 0)
    left = range(100 - int(waiting))
    found = [reader.packet().topic for _ in left]
    assert found == [f"high/{number}" for number in left], "the newest had to go"
    assert reader.quiet(), "no retained message is left"


def test_dropped_retained_messages_stay_dropped_after_a_restart(limited: Limited) -> None:
    broker = limited(memory_bytes=LARGE)
    writer = broker.client("writer")
    for number in range(50):
        assert retain(writer, f"kept/{number:02}", bytes(LOAD)) == 0x10
    slipring("memory", "5MB", "--console", broker.running.console)
    kept = Metrics.of(broker.running)["slipring_retained_messages"]
    assert 10 <= kept < 25
    slipring("memory", "6MB", "--console", broker.running.console)
    assert retain(writer, "kept/00", b"again") == 0x10
    broker.running.stop()
    broker = limited(memory_bytes=LARGE)
    assert Metrics.of(broker.running)["slipring_retained_messages"] == kept + 1
    reader = broker.client("reader")
    reader.send(V5.subscribe(1, ("kept/#", 0)))
    assert reader.packet().reasons == (0,)
    found = [reader.packet().topic for _ in range(int(kept) + 1)]
    assert found == ["kept/00", *(f"kept/{number:02}" for number in range(50 - int(kept), 50))]


def test_an_operator_asks_for_the_memory_and_sets_its_budget_by_mqtt(
    configured: Configured,
) -> None:
    broker = configured(config(LARGE))
    with broker.peer("anybody") as anybody:
        assert retain(anybody, "kept", bytes(LOAD)) == 0x10
        _, told = ask_memory(anybody)
        while told and told["parts"]["retained"] < LOAD:
            _, told = ask_memory(anybody)  # the parts are at most a second old
        assert told is not None
        assert told["budget"] == LARGE
        assert told["parts"]["retained"] < told["bytes"] < 2 * MIB
        refused, told = ask_memory(anybody, b"16MiB")
        assert (refused.reason, told) == (NOT_ALLOWED, None)
        assert "operator" in why(refused)
    with broker.peer("olga", **proven("olga")) as olga:
        for wrong in (b"0", b"-1", b"many", b"1 parsec", b"9" * 1_000, b"\xff", b"5TB"):
            refused, told = ask_memory(olga, wrong)
            assert (refused.reason, told) == (MALFORMED, None), wrong
            assert "1MiB" in why(refused) or "not a size" in why(refused)
        _, told = ask_memory(olga, b"16MiB")
        assert told is not None
        assert told["budget"] == 16 * MIB
    broker.line(f"olga set limits.memory_bytes to {16 * MIB}, was {LARGE}")
    assert overview(broker.running)["memory"]["budget"] == 16 * MIB
    broker.reload(config(LARGE))
    broker.line(f"the memory budget is {LARGE} now, as the file says; it was {16 * MIB}")


@pytest.mark.parametrize("wrong", ["", "0", "-5MB", "lots", "512 miles"])
def test_a_size_that_is_none_changes_nothing(limited: Limited, wrong: str) -> None:
    broker = limited(memory_bytes=LARGE)
    refused = slipring("memory", "--console", broker.running.console, "--", wrong, code=1)
    assert "size" in refused.stderr or "1MiB" in refused.stderr
    assert Metrics.of(broker.running)["slipring_memory_budget_bytes"] == LARGE
