"""How soon a plot has its first pixels, from a year to a second; and what live plots cost a broker.

`make bench ARGS=history` runs it. It replaces its part of benches/RESULTS.md. It needs 2 GB of disk
and some minutes. `python -m benches.history FOLDER` keeps the lake, and uses it again.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
from websockets.asyncio.client import ClientConnection, connect

from benches.console_pages import processor_s
from benches.results import machine, record
from benches.rounds import head, row
from benches.year_lake import DAY_S, DAYS, NAME, START_NS, make_year_lake
from slipring.demo.jet import PREFIX
from tests.running_broker import RunningBroker

WIDTH = 800
END_S = START_NS // 10**9 + DAYS * DAY_S
SPANS_S = {
    "a year": DAYS * DAY_S,
    "a month": 30 * DAY_S,
    "a day": DAY_S,
    "an hour": 3_600,
    "a minute": 60,
}
ROUNDS = 5
FLOWN_S = 60.0
SETTLE_S, SECONDS = 4.0, 12.0
PAGES = (0, 1, 50)
PLOTTED = tuple(
    f"{PREFIX}/{one}" for one in ("air/altitude", "air/mach", "engine/egt", "engine/rpm")
)
LIVE_MINUTES = 5
JET = """
import asyncio, sys
import slipring
from slipring.demo.jet import Jet
from slipring.demo.jet.flying import JetFlight

async def fly():
    async with slipring.connect(sys.argv[1], client_id="gripen-39-7") as bus:
        await JetFlight(Jet(start_s=60.0)).fly(bus, asyncio.Event())

asyncio.run(fly())
"""
"""20,000 parameters at 50 Hz: 1,000,000 samples a second."""


class Answered(NamedTuple):
    """One question: how long it took, the broker's processor time, and how many buckets came."""

    ms: float
    cpu_ms: float
    rows: int
    origin: str
    step_ms: float


def ask(broker: RunningBroker, names: tuple[str, ...], begin_s: float, end_s: float) -> Answered:
    """Ask once, as a page does."""
    asked = {"name": names, "from_ms": f"{begin_s * 1e3:.0f}", "to_ms": f"{end_s * 1e3:.0f}"}
    used, began = processor_s(broker.process.pid), time.monotonic()
    answer = httpx.get(f"{broker.console}/api/history", params=asked | {"width": WIDTH}, timeout=60)
    ms = (time.monotonic() - began) * 1e3
    answer.raise_for_status()
    (series, *_) = answer.json()["series"]
    cpu_ms = (processor_s(broker.process.pid) - used) * 1e3
    return Answered(ms, cpu_ms, len(series["t"]), series["origin"], series["step_ms"])


@contextmanager
def started(data: Path, *arguments: str) -> Iterator[RunningBroker]:
    """A broker for one part."""
    broker = RunningBroker.start(data, *arguments)
    try:
        yield broker
    finally:
        broker.stop()


def year_rows(lake: Path) -> list[str]:
    """Zooms into a year; the first question of each broker opens the lake, too."""
    rows = []
    with tempfile.TemporaryDirectory() as data:
        config = Path(data) / "broker.toml"
        config.write_text(f'[console]\nlake = "{lake}"\n')
        for name, span_s in SPANS_S.items():
            with started(Path(data) / "data", "--config", str(config)) as broker:
                httpx.get(f"{broker.console}/api/overview", timeout=60)  # loads the web framework
                end_s = END_S - 40 * DAY_S if span_s < 300 * DAY_S else END_S
                first = ask(broker, (NAME,), end_s - span_s, end_s)
                others = sorted(
                    ask(broker, (NAME,), end_s - span_s - shift * span_s / 16, end_s)
                    for shift in range(1, ROUNDS + 1)
                )
                rows.append(_row(name, first, others[ROUNDS // 2]))
    return rows


def _row(name: str, first: Answered, later: Answered) -> str:
    told = row(
        (
            name,
            f"{later.rows}",
            f"{later.step_ms / 1e3:g} s",
            f"{first.ms:.0f} ms",
            f"{first.cpu_ms:.0f} ms",
            f"{later.ms:.0f} ms",
            f"{later.cpu_ms:.0f} ms",
        )
    )
    print(told, end="", flush=True)
    return told


async def read_all(page: ClientConnection) -> None:
    async for _ in page:
        pass


async def hold_open(console: str, pages: int) -> None:
    """Run as the process that has the pages; it ends when it is killed."""
    address = f"{console.replace('http', 'ws', 1)}/api/samples"
    names = ", ".join(f'"{one}"' for one in PLOTTED)
    sockets = [await connect(address, max_size=None) for _ in range(pages)]
    for one in sockets:
        await one.send(f'{{"names": [{names}], "step_ms": 50}}')
    print("ready", flush=True)
    await asyncio.gather(*map(read_all, sockets))


def measured(broker: RunningBroker, pages: int) -> float:
    """Percent of a core that the broker uses with so many pages."""
    command = [sys.executable, "-m", "benches.history", broker.console, str(pages)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        if pages:
            assert holder.stdout is not None
            holder.stdout.readline()
        time.sleep(SETTLE_S)
        began, used = time.monotonic(), processor_s(broker.process.pid)
        time.sleep(SECONDS)
        percent = 100 * (processor_s(broker.process.pid) - used) / (time.monotonic() - began)
        holder.kill()
    return percent


def ask_lately(broker: RunningBroker) -> Iterator[Answered]:
    """Two pages, one after the other, after a minute of flight."""
    for wait_s in (FLOWN_S, 2.0):
        time.sleep(wait_s)
        now_s = time.time()
        yield ask(broker, PLOTTED, now_s - LIVE_MINUTES * 60, now_s)


def live_text() -> str:
    """A million samples a second: the last minutes of four plots, then pages that draw them."""
    with (
        tempfile.TemporaryDirectory() as data,
        started(Path(data)) as broker,
        subprocess.Popen([sys.executable, "-c", JET, broker.url]) as jet,
    ):
        try:
            asked = list(ask_lately(broker))
            percents = {pages: measured(broker, pages) for pages in PAGES}
        finally:
            jet.kill()
    questions = head(("the last five minutes of four parameters", "time", "processor time"))
    for name, one in zip(("first page, reads the journal", "second page"), asked, strict=True):
        told = f"{name} ({one.rows} buckets)"
        questions += row((told, f"{one.ms:.0f} ms", f"{one.cpu_ms:.0f} ms"))
    pages = head(("pages that draw four parameters", "broker, of a core", "ratio to one page"))
    for count, percent in percents.items():
        ratio = f"{percent / percents[1]:.2f}" if count else "-"
        pages += row((str(count), f"{percent:.1f} %", ratio))
    print(questions + pages)
    return f"{questions}\n{pages}"


def run(folder: Path) -> None:
    """Make the lake if it is not there, measure, and record."""
    host = machine()
    if not (folder / "rollup_1h").is_dir():
        print("writing a year of rollups", flush=True)
        make_year_lake(folder)
    columns = ("shown", "buckets", "each", "first", "its CPU time", "later", "CPU time")
    text = (
        f"{host}; `make bench ARGS=history`. From the request to the whole answer, {WIDTH} wide, "
        f"one parameter at 1 Hz, {DAYS * DAY_S:,} rows in `rollup_1s`. *First* is the first "
        "question to a new broker, which opens the lake; *later* the median of five others.\n\n"
    )
    text += head(columns) + "".join(year_rows(folder))
    text += (
        f"\n20,000 parameters at 50 Hz, {FLOWN_S:.0f} s of them in the journal; all of the broker, "
        "with the million samples per second that it takes in.\n\n"
    )
    record("history", text + live_text())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(hold_open(sys.argv[1], int(sys.argv[2])))
    elif len(sys.argv) == 2:
        run(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            run(Path(temporary) / "lake")
