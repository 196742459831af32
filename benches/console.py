"""The console while a million samples a second go by: frames, memory, processor time, first values.

`make bench ARGS=console` runs it. It replaces its part of benches/RESULTS.md. An aircraft of 20,000
parameters publishes at 50 Hz; headless Chromium draws a layout of twelve plots in software.
"""

import http.client
import json
import re
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from benches.nodes import node, scaled
from benches.results import machine, record
from benches.rounds import head, row, verdict
from tests.chromium import CHROMIUM, QUIET
from tests.running_broker import RunningBroker

PLOTS = 12
SECONDS = 20.0
SETTLE_S = 6.0
OPENINGS = 5
PREFIX = "aircraft"
FRAMES_BAR, MEMORY_BAR, FIRST_BAR_MS = 30, 300 * 1024 * 1024, 1_000
COUNT_FRAMES = """seconds => new Promise(done => {
  let frames = 0, longest = 0;
  const begun = performance.now();
  let last = begun;
  const next = now => {
    frames += 1;
    longest = Math.max(longest, now - last);
    last = now;
    if (now - begun < seconds * 1000) requestAnimationFrame(next);
    else done([frames / (now - begun) * 1000, longest]);
  };
  requestAnimationFrame(next);
})"""


def cpu_s(pids: Iterator[int] | list[int]) -> float:
    """Processor time of some processes so far; one that has ended counts nothing."""
    total = 0.0
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            try:
                total += int(thread.read_text().split()[0]) / 1e9
            except OSError:
                continue
    return total


def memory_bytes(pids: list[int]) -> int:
    """What the processes have for themselves, and their part of what they share."""
    total = 0
    for pid in pids:
        found = re.search(
            r"^Pss:\s*(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE
        )
        total += int(found[1]) * 1024 if found else 0
    return total


def put_layout(console: str, name: str) -> None:
    """A layout of twelve plots."""
    names = [f"{PREFIX}/{kind}/{at}" for kind in ("f32", "f64", "u16") for at in range(PLOTS // 3)]
    assert scaled(20_000)["f64"] > PLOTS
    widgets = [
        {
            "kind": "plot",
            "title": one,
            "x": at % 3 * 4,
            "y": at // 3 * 3,
            "w": 4,
            "h": 3,
            "options": {"names": [one]},
        }
        for at, one in enumerate(names)
    ]
    body = json.dumps({"title": "Twelve plots", "widgets": widgets}).encode()
    address = urlsplit(console)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    connection.request(
        "PUT", f"/api/layouts/{name}", body, {"content-type": "application/json", "origin": console}
    )
    answer = connection.getresponse()
    assert answer.status in (http.client.OK, http.client.CREATED), answer.read()
    connection.close()


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium without a window, drawing in software."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield launched
        launched.close()


def processes(session: CDPSession, kind: str) -> list[int]:
    """The processes of the browser of one kind."""
    told = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return [one["id"] for one in told if one["type"] == kind]


@dataclass(frozen=True)
class Shown:
    """What a page with twelve plots cost."""

    frames_s: float
    longest_ms: float
    page_bytes: int
    heap_bytes: float
    page_cpu: float
    broker_cpu: float
    alone_cpu: float


def shown(broker: RunningBroker, launched: Browser) -> Shown:
    """Open the layout, and measure it."""
    pid = broker.process.pid
    alone = share([pid], SECONDS)
    page = launched.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{broker.console}/#/layouts/bench")
    page.wait_for_timeout(SETTLE_S * 1_000)
    session = launched.new_browser_cdp_session()
    renderers = [*processes(session, "renderer"), *processes(session, "GPU")]
    before, broker_before, begun = cpu_s(renderers), cpu_s([pid]), time.monotonic()
    frames_s, longest_ms = page.evaluate(COUNT_FRAMES, SECONDS)
    took = time.monotonic() - begun
    result = Shown(
        frames_s,
        longest_ms,
        memory_bytes(processes(session, "renderer")),
        heap(page),
        (cpu_s(renderers) - before) / took,
        (cpu_s([pid]) - broker_before) / took,
        alone,
    )
    page.close()
    return result


def heap(page: Page) -> float:
    """Bytes of the page's JavaScript."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    told = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in told if one["name"] == "JSHeapUsedSize")


def share(pids: list[int], seconds: float) -> float:
    """How much of a core some processes use."""
    before, begun = cpu_s(pids), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pids) - before) / (time.monotonic() - begun)


FIRST_VALUE = """() => [...document.querySelectorAll('[data-parameter] [data-field="value"]')]
  .some(cell => /[0-9]|on|off/.test(cell.textContent))"""


def first_value_ms(broker: RunningBroker, launched: Browser) -> float:
    """From the address to the first value of a parameter."""
    context = launched.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    begun = time.monotonic()
    page.goto(f"{broker.console}/", wait_until="commit")
    page.wait_for_function(FIRST_VALUE, polling=10)
    took = (time.monotonic() - begun) * 1_000
    context.close()
    return took


def table(one: Shown, firsts: list[float]) -> str:
    """The lines of the record."""
    first = statistics.median(firsts)
    rows = (
        ("frames a second", f"{one.frames_s:.1f}", "30", verdict(one.frames_s >= FRAMES_BAR)),
        ("longest time between two frames", f"{one.longest_ms:.0f} ms", "-", "-"),
        (
            "memory of the page's process",
            f"{one.page_bytes / 2**20:.0f} MB ({one.heap_bytes / 2**20:.0f} MB JavaScript)",
            "300 MB",
            verdict(one.page_bytes < MEMORY_BAR),
        ),
        ("processor of the page, drawing included", f"{one.page_cpu:.2f} cores", "-", "-"),
        (
            "processor of the broker, without and with the page",
            f"{one.alone_cpu:.2f} and {one.broker_cpu:.2f} cores",
            "-",
            "-",
        ),
        (
            "from the address to the first value",
            f"{first:.0f} ms ({min(firsts):.0f} to {max(firsts):.0f})",
            "1,000 ms",
            verdict(first < FIRST_BAR_MS),
        ),
    )
    return head(("what", "measured", "to reach", "in this run")) + "".join(map(row, rows))


def main() -> None:
    """Measure and record."""
    where = machine()
    with TemporaryDirectory() as folder:
        broker = RunningBroker.start(Path(folder) / "broker")
        try:
            with (
                node("publish", "--url", broker.url, "--rate=50", "--parameters=20000") as aircraft,
                browser() as launched,
            ):
                aircraft.wait_ready()
                put_layout(broker.console, "bench")
                one = shown(broker, launched)
                firsts = [first_value_ms(broker, launched) for _ in range(OPENINGS)]
        finally:
            broker.stop()
    text = (
        f"{where}; {SECONDS:.0f} s of 20,000 parameters at 50 Hz, `make bench ARGS=console`. "
        "Chromium draws in software on the same two cores as the broker and the aircraft.\n\n"
    )
    record("console", text + table(one, firsts))
    print(text + table(one, firsts))


if __name__ == "__main__":
    main()
