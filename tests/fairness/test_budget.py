"""The memory budget while the broker runs: it is changed, used up, and free again."""

from tests.configured_broker import Configured, ConfiguredBroker
from tests.fairness.bystander import MIB
from tests.fairness.test_quotas import QUOTA, proven, users, why
from tests.limited_broker import KEPT, retain
from tests.metrics import Metrics
from tests.raw_mqtt import V5, RawPeer

SMALL, LARGE = 8 * MIB, 64 * MIB
RETAINED_BYTES = 200_000


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


def test_a_lower_budget_refuses_newcomers_but_no_operator_until_it_is_raised(
    configured: Configured,
) -> None:
    broker = configured(config(LARGE))
    with broker.peer("kept", properties=KEPT) as kept:
        kept.send(V5.disconnect())
        assert kept.closed()
    with broker.peer("writer") as writer:
        for number in range(100):
            assert retain(writer, f"kept/{number}", bytes(RETAINED_BYTES)) == 0x10
        change(broker, SMALL)
        with asked(broker) as newcomer:
            refused = newcomer.connect("newcomer")
            assert (refused.reason, newcomer.closed()) == (QUOTA, True)
            assert "limits.memory_bytes" in why(refused)
        assert Metrics.of(broker.running).reached("memory_bytes") > 0
        with broker.peer("olga", **proven("olga")), broker.peer("kept", properties=KEPT):
            assert writer.quiet(), "who is here stays"
        assert retain(writer, "kept/further", bytes(1_000)) == QUOTA
        change(broker, LARGE)
        with broker.peer("newcomer"):
            assert retain(writer, "kept/further", bytes(1_000)) == 0x10


def test_a_newcomer_gets_in_when_what_filled_the_budget_is_gone(configured: Configured) -> None:
    broker = configured(config(LARGE))
    with broker.peer("writer") as writer:
        for number in range(100):
            assert retain(writer, f"kept/{number}", bytes(RETAINED_BYTES)) == 0x10
        change(broker, SMALL)
        with asked(broker) as newcomer:
            assert newcomer.connect("newcomer").reason == QUOTA
        for number in range(100):
            retain(writer, f"kept/{number}", b"")
        with broker.peer("newcomer"):
            pass
