"""Takes the pictures of the console for README and the docs, from a flight of the simulated jet.

python -m scripts.screenshots [--console URL] [--seconds N] [--to FOLDER] [PAGE ...]. A page that
the console does not have is named and left out; nothing but pictures is written.
"""

import argparse
import io
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "figures"
CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
PAGES = ("overview", "plots", "layouts/flight", "alarms", "flow", "broker", "clients", "pipeline")
"""What is shown if nothing is asked for, by address; `overview` is the first page."""
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
THEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
BYTES_MAX = 200_000
COLOURS = (256, 128, 64, 32)
"""How many a picture has; fewer if it would be too large."""
READY = re.compile(r"console\S* *[= ](http://\S+)")
PATIENCE_MS = 60_000
POLL_S = 0.2
SETTLING_MS = 3_000
"""For plots and sparklines to be drawn."""
IS_READ = """() => ![...document.querySelectorAll(".plot-said")].some(
  (said) => said.textContent === "Reading …" && said.getBoundingClientRect().top < innerHeight
)"""
"""Each plot in view has its past: on a busy machine that takes longer."""
FLIGHT_S = 90
"""By then the engine is lit, and something is beyond its limit."""


def file_name(page: str, size: str, theme: str) -> str:
    return f"console-{page.replace('/', '-')}-{size}-{theme}.png"


def take(console: str, to: Path, pages: Iterable[str] = PAGES) -> list[Path]:
    """A picture of each page that there is, in each size and theme."""
    from playwright.sync_api import sync_playwright

    to.mkdir(parents=True, exist_ok=True)
    taken: list[Path] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        there = _navigation(browser, console)
        for name in pages:
            if name.partition("/")[0] not in there:
                print(f"{name}: the console has no such page yet")
                continue
            for size, theme in product(SIZES, THEMES):
                file = to / file_name(name, size, theme)
                file.write_bytes(_small(_picture(browser, console, name, size, theme)))
                taken.append(file)
                print(f"{file}: {file.stat().st_size:,} bytes")
        browser.close()
    return taken


def _navigation(browser: "Browser", console: str) -> set[str]:
    """The pages that the console has, by the first part of their address."""
    page = browser.new_page()
    _open(page, console, "overview")
    links = page.locator("nav.pages a").evaluate_all("all => all.map(a => a.getAttribute('href'))")
    page.close()
    return {link.removeprefix("#/").partition("/")[0] or "overview" for link in links}


def _open(page: "Page", console: str, name: str) -> None:
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{console}/#/{'' if name == 'overview' else name}")
    page.locator("#connection").get_by_text("live").wait_for()


def _picture(
    browser: "Browser", console: str, name: str, size: str, theme: Literal["dark", "light"]
) -> bytes:
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    try:
        page = context.new_page()
        _open(page, console, name)
        page.wait_for_timeout(SETTLING_MS)
        page.wait_for_function(IS_READ)
        return page.screenshot()
    finally:
        context.close()


def _small(png: bytes) -> bytes:
    """The same picture with so few colours that it is small enough."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB")
    packed = png
    for colours in COLOURS:
        out = io.BytesIO()
        picture.quantize(colours, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        packed = out.getvalue()
        if len(packed) <= BYTES_MAX:
            break
    return packed


@contextmanager
def flight(seconds: float) -> Iterator[str]:
    """The console of a demo that has flown for so long; ends it."""
    with tempfile.TemporaryDirectory(prefix="screenshots") as folder:
        told = Path(folder) / "told"
        listen = ["--mqtt", "127.0.0.1:0", "--console", "127.0.0.1:0"]
        with told.open("wb") as out:
            command = [sys.executable, "-m", "slipring", "demo", "--data", f"{folder}/data"]
            process = subprocess.Popen([*command, *listen], stdout=out)
        try:
            console = _console_of(process, told)
            time.sleep(seconds)
            yield console
        finally:
            process.terminate()
            process.wait()


def _console_of(process: "subprocess.Popen[bytes]", told: Path) -> str:
    """The address that the demo prints when it is ready."""
    while process.poll() is None:
        if found := READY.search(told.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(POLL_S)
    raise SystemExit(f"screenshots: the demo did not start\n{told.read_text(encoding='utf-8')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--console", help="of a broker that runs; else a demo is flown")
    parser.add_argument("--seconds", type=float, default=FLIGHT_S, help="of flight before")
    parser.add_argument("--to", type=Path, default=FIGURES)
    asked = parser.parse_args()
    if asked.console:
        take(asked.console, asked.to, asked.pages)
        return
    with flight(asked.seconds) as console:
        take(console, asked.to, asked.pages)


if __name__ == "__main__":
    main()
