"""The first page begins with the last minutes of what the configuration names, also where only
memory has them.
"""

import time
from pathlib import Path

import httpx

import slipring.sync
from slipring import Parameter
from tests.running_broker import PATIENCE_S, RunningBroker, broker_in

CONFIG = """
[journal]
topics = []
[console]
quick_look = [["rig/height"], ["rig/speed"]]
"""
NAMES = ("height", "speed", "other")


def shown(broker: RunningBroker, name: str) -> set[float]:
    """The values that a plot of the last minute has."""
    now_ms = time.time() * 1_000
    asked = f"name=rig/{name}&from_ms={now_ms - 60_000}&to_ms={now_ms}&width=120"
    answer = httpx.get(f"{broker.console}/api/history?{asked}", timeout=PATIENCE_S)
    answer.raise_for_status()
    (series,) = answer.json()["series"]
    return {*series["min"], *series["max"], *series["last"]}


def test_what_the_first_page_draws_is_remembered_before_anybody_looks(tmp_path: Path) -> None:
    with (
        broker_in(tmp_path, config=CONFIG) as broker,
        slipring.sync.connect(broker.url) as bus,
    ):
        declared = bus.declare("rig", {name: Parameter("f64") for name in NAMES})
        until_s, number = time.monotonic() + PATIENCE_S, 0.0
        while len(shown(broker, "height")) < 3 or len(shown(broker, "speed")) < 3:
            assert time.monotonic() < until_s, "the broker keeps the newest values only"
            number += 1
            declared.write(dict.fromkeys(NAMES, number))
            declared.flush()
        assert len(shown(broker, "other")) == 1, "nobody asked for it"
