"""Retention by a real broker: what nobody needs goes, and a consumer is not overtaken."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from slipring.client import connect
from slipring.errors import JournalGap
from slipring.native import JournalReader, commit_consumer, forget_consumer, journal_check
from tests.faults.trouble import journal_told
from tests.running_broker import RunningBroker

MESSAGES = 400
TOGETHER = 20
"""What is read together is one batch, and a batch is never parted: so many fit into a segment."""
CONFIG = """
[journal]
segment_bytes = 65536
retain_bytes = 131072
"""

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def short_broker(tmp_path: Path) -> Iterator[RunningBroker]:
    """A broker that keeps 128 KiB, in segments of 64 KiB."""
    (tmp_path / "broker.toml").write_text(CONFIG)
    running = RunningBroker.start(tmp_path / "data", "--config", str(tmp_path / "broker.toml"))
    yield running
    running.stop()


def wait_until(broker: RunningBroker, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """What is told of the journal, as soon as it is so."""
    while not holds(told := journal_told(broker)):
        assert broker.process.poll() is None
    return told


async def test_what_a_consumer_has_read_goes_and_the_rest_stays(
    short_broker: RunningBroker,
) -> None:
    journal = short_broker.data / "journal"
    commit_consumer(journal, "slow", JournalReader(journal).identity, 0)
    before = JournalReader(journal)
    async with connect(short_broker.url) as bus:
        for _ in range(MESSAGES // TOGETHER):
            await bus.publish_many([("t", bytes(2000))] * TOGETHER, qos=1)
    told = wait_until(short_broker, lambda told: told["held_by"] is not None)
    assert told["first_offset"] == 0
    assert "consumer slow, at offset 0" in told["held_by"]
    commit_consumer(journal, "slow", before.identity, 200)
    told = wait_until(short_broker, lambda told: told["first_offset"] > 0)
    assert told["first_offset"] <= 200
    assert before.read(200, 201, 1).end == 201
    assert forget_consumer(journal, "slow")
    told = wait_until(short_broker, lambda told: told["bytes"] <= 131_072 + 65_536)
    assert told["first_offset"] > 200
    with pytest.raises(JournalGap, match=r"offset 0 was asked for, but .* read on from \d+"):
        before.read(0, 1, 1)
    report = journal_check(journal)
    assert report.is_whole
    assert report.first_offset >= told["first_offset"]
    assert report.end_offset == MESSAGES
