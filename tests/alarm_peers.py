"""For tests of alarms: a publisher of a parameter with limits, and a wait for the console."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from websockets.sync.client import connect

from slipring import Parameter, sync
from slipring.model import AlarmLimits
from slipring.sync import Declared
from tests.running_broker import PATIENCE_S, RunningBroker

Json = dict[str, Any]
LIMITS = AlarmLimits(low_critical=-20, low=0, high=850, high_critical=900)
EGT = Parameter("f64", unit="degC", limits=LIMITS)


@contextmanager
def exhaust(broker: RunningBroker, name: str = "jet/egt", **options: Any) -> Iterator[Declared]:
    """A publisher of one parameter with four limits."""
    with sync.connect(broker.url, **options) as bus:
        yield bus.declare("", {name: EGT})


@contextmanager
def console(broker: RunningBroker, **options: Any) -> Iterator[httpx.Client]:
    """Who asks the console."""
    with httpx.Client(base_url=broker.console, timeout=PATIENCE_S, **options) as client:
        yield client


def alarms_when(
    client: httpx.Client, is_so: Callable[[Json], bool], state: str | None = None
) -> list[Json]:
    """The alarms, as soon as the live message says this of them."""
    address = str(client.base_url).rstrip("/").replace("http", "ws", 1)
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"cookie": cookies} if cookies else {}
    with connect(f"{address}/api/live", additional_headers=headers, max_size=None) as socket:
        while not is_so(json.loads(socket.recv(timeout=PATIENCE_S))["alarms"]):
            pass
    return listed(client, state)


def listed(client: httpx.Client, state: str | None = None) -> list[Json]:
    """The alarms in a state."""
    answer = client.get("/api/alarms", params={"state": state} if state else {})
    assert answer.status_code == 200, answer.text
    alarms: list[Json] = answer.json()["alarms"]
    return alarms
