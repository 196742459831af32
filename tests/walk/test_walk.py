"""The walk: a message from a Paho client to a row in the lake and to the page (D1, G1)."""

import subprocess
import sys
from pathlib import Path

import pytest
from paho.mqtt import publish
from playwright.sync_api import Browser, expect

from tests.chromium import opened, visit
from tests.read_lake import read_lake
from tests.running_broker import RunningBroker

TOPIC = "gripen/39-7/engine/rpm"


def send(broker: RunningBroker, value: str) -> None:
    """Sends a message and waits until it is acknowledged: then it is in the journal."""
    publish.single(TOPIC, value, 1, hostname=broker.host, port=broker.port, client_id="paho")


def run_pipeline(data: Path) -> None:
    command = [sys.executable, "-m", "slipring", "pipeline", "run", "--once", "--data", str(data)]
    subprocess.run(command, check=True, timeout=250, capture_output=True)


def lake_rows(data: Path) -> list[tuple[int, str, bytes, str]]:
    rows = read_lake(data / "lake").to_pylist()
    return [(row["offset"], row["topic"], row["payload"], row["publisher"]) for row in rows]


@pytest.mark.timeout(900)
def test_a_message_walks_from_paho_to_the_lake_and_to_the_page(
    broker: RunningBroker, browser: Browser
) -> None:
    page = opened(browser, broker.console, "topics")

    send(broker, "12034.5")

    shown = page.locator(f'[data-topic="{TOPIC}"] [data-field="value"]')
    expect(shown).to_have_text("12034.5")
    send(broker, "12100")
    expect(shown).to_have_text("12100")

    run_pipeline(broker.data)
    rows = [(0, TOPIC, b"12034.5", "paho"), (1, TOPIC, b"12100", "paho")]
    assert lake_rows(broker.data) == rows

    send(broker, "12200")
    expect(shown).to_have_text("12200")
    run_pipeline(broker.data)
    assert lake_rows(broker.data) == [*rows, (2, TOPIC, b"12200", "paho")]


def test_a_hostile_client_id_does_no_harm_on_the_page_cve_2020_13821(
    broker: RunningBroker, browser: Browser
) -> None:
    hostile = "<img src=x onerror=document.title='hacked'>"
    page = opened(browser, broker.console, "topics")
    publish.single("t", hostile, hostname=broker.host, port=broker.port, client_id=hostile)
    expect(page.locator('[data-topic="t"] [data-field="value"]')).to_have_text(hostile)
    visit(page, "events")
    expect(page.get_by_text(f"{hostile} connected").first).to_be_visible()
    assert "hacked" not in page.title()
