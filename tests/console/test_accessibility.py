"""axe-core on every page with data in it: nothing serious, dark and light, desk and phone."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

import slipring
import slipring.sync
from tests.chromium import new_page
from tests.console.test_login import people
from tests.limited_broker import LimitedBroker
from tests.raw_mqtt import V5
from tests.request_peers import every_state
from tests.running_broker import RunningBroker, broker_in

__all__ = ["people"]

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
SIZES: dict[str, Any] = {
    "desk": {"width": 1280, "height": 800},
    "phone": {"width": 390, "height": 844},
}
RUN = """async () => {
    const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const exempt = { "label-content-name-mismatch": { enabled: false } };
    const found = await axe.run(document, { runOnly: rules, rules: exempt });
    const where = (one) => [one.target.join(" "), one.failureSummary];
    return found.violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .map(({ id, nodes }) => [id, nodes.slice(0, 4).map(where)]);
}"""
"""The exempt rule is experimental, and asks that what is heard contains what is seen: a name that is
shortened for the eye is heard whole.
"""
FILLED = {
    "": "#health .health-point",
    "plots": ".page[data-page=plots]",
    "layouts": ".page[data-page=layouts]",
    "broker": "#holders-table tbody tr",
    "clients": "#away-table tbody tr",
    "clients/slow%2Freader": "#client-detail .filters li",
    "flow": "a[data-flow]",
    "topics": "[data-stream]",
    "storage": "#levels-table tbody tr",
    "requests": "#requests-table tbody tr",
    "pipeline": "#pipeline-empty",
    "links": "#links-title",
    "events": "#events-list li",
}
"""Each page, and what is there once it shows data."""


CONFIG = '[console]\nsource = "lab"\nmark = "DEMO DATA"\n[limits]\nqueue_messages = 5\n'


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with something for every page."""
    folder = tmp_path_factory.mktemp("busy")
    with broker_in(folder, config=CONFIG) as running, ExitStack() as peers:
        broker = LimitedBroker(running, peers)
        every_state(broker)
        broker.away("gone", ("plain/#", 1))
        reader = broker.client("slow/reader")
        reader.send(V5.subscribe(1, ("plain/#", 1)))
        reader.packet()
        writer = broker.client("writer")
        writer.send(*(V5.publish(f"plain/{n}", b"42", qos=1, packet_id=1 + n) for n in range(20)))
        writer.settle()
        with slipring.sync.connect(running.url) as bus:
            limits = slipring.AlarmLimits(high=1.0)
            jet = bus.declare(
                "jet",
                {
                    "rpm": slipring.Parameter("f64", limits=limits),
                    "name": slipring.Parameter("text"),
                },
            )
            jet.write({"rpm": 2.0, "name": "gripen"})
            bus.declare_stream("jet/sound", media="audio/pcm").write(bytes(100))
            yield running


def problems(page: Page) -> Any:
    """What is serious or critical: the rule, and where."""
    page.evaluate(AXE.read_text())
    return page.evaluate(RUN)


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_serious_is_wrong_on_any_page(
    busy: RunningBroker, browser: Browser, size: str, scheme: Literal["dark", "light"]
) -> None:
    context = browser.new_context(viewport=SIZES[size], color_scheme=scheme)
    page = new_page(context)
    found = {}
    for shown, filled in FILLED.items():
        page.goto(f"{busy.console}/#/{shown}")
        expect(page.locator(filled).first).to_be_visible()
        if wrong := problems(page):
            found[shown] = wrong
    page.locator("#show-keys").click()
    expect(page.locator("#keys")).to_be_visible()
    if wrong := problems(page):
        found["keys"] = wrong
    assert found == {}


def test_the_form_to_log_in_has_nothing_serious(people: RunningBroker, browser: Browser) -> None:
    page = new_page(browser.new_context())
    page.goto(people.console)
    expect(page.locator("#login-form")).to_be_visible()
    assert problems(page) == []
