"""What a broker in trouble tells a person: its console's overview, and `slipring status`."""

import subprocess
import sys
import time
from typing import Any

from tests.console_answer import answer, overview
from tests.running_broker import PATIENCE_S, RunningBroker


def journal_told(broker: RunningBroker) -> dict[str, Any]:
    """What the console says about the journal."""
    told: dict[str, Any] = overview(broker)["broker"]["journal"]
    return told


def wait_for_state(broker: RunningBroker, state: str) -> None:
    """Until the console says that the journal is so."""
    given_up_s = time.monotonic() + PATIENCE_S
    while (told := journal_told(broker))["state"] != state:
        assert time.monotonic() < given_up_s, f"the console never said '{state}': {told}"


def readiness(broker: RunningBroker) -> int:
    """The HTTP status of `/ready`."""
    return answer(f"{broker.console}/ready")[0]


def status_told(broker: RunningBroker) -> str:
    """The first line that `slipring status` prints: trouble comes before all else."""
    command = [sys.executable, "-m", "slipring", "status", broker.console]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    return shown.stdout.splitlines()[0]
