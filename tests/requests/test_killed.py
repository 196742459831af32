"""A broker that is killed with thousands of open requests: each ends, and ends once (T2).

`KILLS=100 REQUESTS=10000 SEED=7` has it killed more often, with more requests, at other moments.
"""

import os
from pathlib import Path
from random import Random

import pytest

from tests.requests.killed_broker import KilledBroker

KILLS = int(os.environ.get("KILLS", "10"))
REQUESTS = int(os.environ.get("REQUESTS", "2000"))
SEED = int(os.environ.get("SEED", "0")) or Random().randrange(1 << 32)


@pytest.mark.timeout(300 + KILLS * 60)
async def test_every_request_ends_once_however_often_the_broker_is_killed(tmp_path: Path) -> None:
    """Services and askers lose their connections too. Without a retry, nothing is computed twice;
    nothing reaches a service after its end.
    """
    run = KilledBroker(tmp_path / "data", SEED, KILLS, REQUESTS)
    found = await run.run()
    told = f"seed {SEED}: {len(found)} faults\n" + "\n".join(found[:20])
    assert not found, told
    assert len(run.inquiries.all) >= REQUESTS, told
