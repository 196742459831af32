"""More time for tests that others wrote: what a busy machine does late is not wrong.

What must come is waited for as long as everywhere here. Where a test counts on what happens within
a second, its seconds are longer: those that it waits, and those that it tells the broker.
"""

import time
from types import ModuleType, SimpleNamespace
from typing import Any

PATIENCE_S = 60
LONGER = 3
IN_SECONDS = frozenset({"05-session-expiry-v5.py", "test_session_expiry", "test_will_delay"})
"""Tests that come back in time only on a quick machine."""

FOR_EVER_S = 1_000_000
TOLD = frozenset({"SessionExpiryInterval", "WillDelayInterval"})
WAITS = {
    "wait_connected": "connecteds",
    "wait_disconnected": "disconnecteds",
    "wait_published": "publisheds",
    "wait_subscribed": "subscribeds",
    "wait_unsubscribed": "unsubscribeds",
}
"""Of Paho's tests: what waits, and the queue that it waits at."""


def longer(seconds: int) -> int:
    return seconds if seconds > FOR_EVER_S else seconds * LONGER


def wait_longer() -> None:
    """Make every pause longer."""
    pause = vars(time)["sleep"]
    vars(time).update(sleep=lambda seconds: pause(LONGER * seconds))


def tell_longer(properties: ModuleType) -> None:
    """Make what Mosquitto's tests write in seconds longer."""
    made = properties.gen_uint32_prop
    vars(properties).update(gen_uint32_prop=lambda name, value: made(name, longer(value)))


def count_longer(tests: Any) -> None:
    """Make the seconds that Paho's tests tell the broker longer, and those that they count."""
    made = tests.Properties.__setattr__

    def set_(self: object, name: str, value: Any) -> None:
        made(self, name, longer(value) if name in TOLD else value)

    tests.Properties.__setattr__ = set_
    tests.time = SimpleNamespace(time=lambda: time.time() / LONGER, sleep=vars(time)["sleep"])


def be_patient(tests: Any) -> None:
    """Let Paho's tests wait for what must come."""
    tests.DEFAULT_TIMEOUT = PATIENCE_S
    tests.Callbacks.get_messages.__defaults__ = (PATIENCE_S,)
    for name, queue in WAITS.items():
        setattr(tests.Callbacks, name, _patient(queue))


def _patient(queue: str) -> Any:
    return lambda callbacks: getattr(callbacks, queue).get(timeout=PATIENCE_S)
