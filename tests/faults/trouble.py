"""What a broker in trouble tells a person: its console's overview, and `slipring status`."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

from tests.running_broker import RunningBroker

ASKED_MAX = 2_000


def journal_told(broker: RunningBroker) -> dict[str, Any]:
    """What the console says about the journal."""
    with urllib.request.urlopen(f"{broker.console}/api/overview", timeout=60) as answer:
        told: dict[str, Any] = json.load(answer)["broker"]["journal"]
    return told


def wait_for_state(broker: RunningBroker, state: str) -> None:
    """Until the console says that the journal is so."""
    told = journal_told(broker)
    for _ in range(ASKED_MAX):
        if told["state"] == state:
            return
        told = journal_told(broker)
    raise AssertionError(f"the console never said '{state}': {told}")


def readiness(broker: RunningBroker) -> int:
    """The HTTP status of `/ready`."""
    try:
        with urllib.request.urlopen(f"{broker.console}/ready", timeout=60) as answer:
            ready: int = answer.status
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code
    return ready


def status_told(broker: RunningBroker) -> str:
    """The first line that `slipring status` prints: trouble comes before all else."""
    command = [sys.executable, "-m", "slipring", "status", broker.console]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return shown.stdout.splitlines()[0]
