"""One hundred clients try to break the memory budget, each in its own way, all at once (T12)."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.cli.commands import slipring
from tests.configured_broker import Configured
from tests.fairness.attackers import Crowd
from tests.fairness.bystander import MIB, bystander, memory_bytes
from tests.metrics import Metrics
from tests.running_broker import RunningBroker

BUDGET, LOWER = 64 * MIB, 40 * MIB
SENT_BYTES = 240 * MIB
FACTOR = 1.25
"""What the allocator adds to what is counted: docs/limits.md."""
FIXED_BYTES = 100 * 256 * 1024
"""What 100 connections take beside the budget: docs/limits.md has the sum."""


@contextmanager
def crowd(broker: RunningBroker) -> Iterator[Crowd]:
    """The attackers, connected before the first of them attacks."""
    made = Crowd(broker)
    try:
        made.arrive()
        yield made
    finally:
        made.leave()


def test_the_process_stays_within_its_budget_and_a_fixed_part(configured: Configured) -> None:
    broker = configured(f"[limits]\nmemory_bytes = {BUDGET}\n").running
    process_id = broker.process.pid
    Metrics.of(broker)  # loads what the console needs once: it is not what is measured
    with crowd(broker) as attackers:
        before_bytes = memory_bytes(process_id)
        with bystander(broker) as beside:
            attackers.attack(SENT_BYTES)
            told = Metrics.of(broker)
            assert told["slipring_memory_bytes"] <= 1.125 * BUDGET + 2 * MIB
            grown_bytes = memory_bytes(process_id, "VmHWM") - before_bytes
            assert grown_bytes <= FACTOR * BUDGET + FIXED_BYTES
            slipring("memory", str(LOWER), "--console", broker.console)
            attackers.attack(SENT_BYTES // 4)
            told = Metrics.of(broker)
            assert told["slipring_memory_bytes"] <= 1.125 * LOWER + 2 * MIB
        assert len(beside.waits_ms) >= 20, "others are served meanwhile"
        assert told.reached("memory_bytes") > 0
        most_bytes = before_bytes + FACTOR * LOWER + FIXED_BYTES
        Metrics.when(broker, "slipring_uptime_seconds", told["slipring_uptime_seconds"] + 3)
        assert memory_bytes(process_id) <= most_bytes, "what is freed goes back to the system"
