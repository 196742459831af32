"""A broker with a past to draw, and what tests of plots look at in a page."""

import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

import slipring.sync
from slipring import AlarmLimits, Parameter
from slipring.sync import Declared
from tests.running_broker import RunningBroker, broker_in

HOSTILE = "<img src=x onerror=document.title='hacked'>"
CONFIG = """
[console]
source = "Test rig"
mark = "TEST DATA"
quick_look = [["rig/height", "rig/energy"], ["rig/load"]]
"""
FORMULA = "Energy height = height + v^2 / (2 * 9.81)"
PARAMETERS = {
    "height": Parameter("f64", unit="m", limits=AlarmLimits(high=2_500), rate_hz=10),
    "energy": Parameter("f64", unit="m", description=FORMULA, rate_hz=10),
    "load": Parameter("f32", unit="g", rate_hz=10),
    "on": Parameter("bool"),
}
SECONDS = 240
RATE_HZ = 10
SPIKE = 2_222.125
SPIKE_S = 60.0


@dataclass
class Rig:
    """A broker with a past of four minutes: height climbs by 1 m/s, with a spike and a gap."""

    broker: RunningBroker
    declared: Declared
    began_ns: int

    def at(self, seconds: float) -> str:
        """A time of the past as the address and the time field take it."""
        return f"{(self.began_ns + seconds * 1e9) / 1e6:.3f}"

    def window(self, begin_s: float, end_s: float) -> str:
        return f"from={self.at(begin_s)}&to={self.at(end_s)}"

    def write(self, height: float) -> None:
        self.declared.write({"height": height})
        self.declared.flush()


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Shared by all tests of this file; they only add to its present."""
    hostile = Parameter("f64", unit=HOSTILE, description=HOSTILE)
    with (
        broker_in(tmp_path_factory.mktemp("rig"), config=CONFIG) as broker,
        slipring.sync.connect(broker.url) as bus,
    ):
        declared = bus.declare("rig", PARAMETERS)
        bus.declare("x", {HOSTILE: hostile}).write({HOSTILE: 41.5})
        yield Rig(broker, declared, _fly(declared))


def _fly(declared: Declared) -> int:
    """Write the past; a tenth of a second between rows, nothing from 100 s to 130 s."""
    began_ns = time.time_ns() - SECONDS * 1_000_000_000
    for number in range(SECONDS * RATE_HZ):
        seconds = number / RATE_HZ
        if 100 <= seconds < 130:
            continue
        row = {
            "height": SPIKE if seconds == SPIKE_S else seconds,
            "energy": seconds + 1_000,
            "load": math.sin(seconds),
            "on": seconds % 20 < 10,
        }
        declared.write(row, time_ns=began_ns + int(seconds * 1e9))
    declared.flush()
    return began_ns


def plot(page: Page, title: str = "") -> Locator:
    shown = page.locator(".page:not([hidden]) [data-plot]")
    return shown.filter(has=page.locator("h3", has_text=title)) if title else shown.first


def value(page: Page, name: str, what: str = "value") -> Locator:
    return page.locator(f'.page:not([hidden]) [data-series="{name}"] [data-field="{what}"]')


def canvas(page: Page) -> tuple[float, float, float]:
    """Left, middle height and width of the lines' area of the first plot."""
    box = plot(page).locator(".u-over").bounding_box()
    assert box is not None
    return box["x"], box["y"] + box["height"] / 2, box["width"]


def drawn(page: Page) -> None:
    expect(plot(page)).to_have_attribute("data-columns", re.compile("^[1-9]"))
