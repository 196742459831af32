"""What open pages of the console cost the broker: its processor time with 0, 1 and 50 of them.

`make bench ARGS=console_pages` runs it. It replaces its part of benches/RESULTS.md. Each page has
the WebSockets that a browser opens for it; all are of another process.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from websockets.asyncio.client import ClientConnection, connect

from benches.results import machine, record
from benches.rounds import head, row, verdict
from tests.running_broker import RunningBroker

PAGES = (0, 1, 50)
SECONDS = 15.0
SETTLE_S = 4.0
"""The first message of a page has everything; it is not what an open page costs."""
ROUNDS = 2
PARTS = {
    "overview": "",
    "clients": "clients,away",
    "topics": "values,prefixes,streams",
    "a layout of 12 plots": "",
}
"""What pages are sent in their live message."""
ROWS = {"overview": 40}
"""How many rows of parameters are in view."""
PLOTTED = {"overview": 5, "a layout of 12 plots": 12}
"""How many parameters are drawn."""
STEP_MS = 250
"""A pixel of a plot of five minutes, 1,200 pixels wide."""
LOAD = """
import sys, time
import slipring, slipring.sync
url = sys.argv[1]
buses = [slipring.sync.connect(url, client_id=f"station-{number}") for number in range(20)]
names = {f"p{number}": slipring.Parameter("f64") for number in range(200)}
table = buses[0].declare("load", names)
print("ready", flush=True)
tick = 0
while True:
    began = time.monotonic()
    table.write({name: tick * 0.1 + index for index, name in enumerate(names)})
    for number in range(50):
        buses[number % 20].publish(f"plain/{number}/{tick % 10}", f"{tick}")
    tick += 1
    time.sleep(max(0.0, 0.05 - (time.monotonic() - began)))
"""
"""4,000 samples and 1,000 plain messages a second, on 500 topics, of 20 clients."""


def processor_s(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def read_all(page: ClientConnection) -> None:
    """Read as a browser does, and forget."""
    async for _ in page:
        pass


async def open_page(console: str, name: str) -> list[ClientConnection]:
    """The WebSockets of a page, with what it asks for."""

    async def socket(path: str, asked: dict[str, object] | None = None) -> ClientConnection:
        address = f"{console.replace('http', 'ws', 1)}/api/{path}"
        opened = await connect(address, origin=console)  # type: ignore[arg-type]
        if asked:
            await opened.send(json.dumps(asked))
        return opened

    sockets = [await socket(f"live?parts={PARTS[name]}")]
    if count := ROWS.get(name):
        sockets.append(await socket("parameters", {"search": "", "count": count}))
    if count := PLOTTED.get(name):
        names = [f"load/p{number}" for number in range(count)]
        sockets.append(await socket("samples", {"names": names, "step_ms": STEP_MS}))
    return sockets


async def hold_open(console: str, pages: int, name: str) -> None:
    """Run as the process that has the pages; it ends when it is killed."""
    sockets = [socket for _ in range(pages) for socket in await open_page(console, name)]
    print("ready", flush=True)
    await asyncio.gather(*map(read_all, sockets))


def measured(broker: RunningBroker, pages: int, name: str) -> float:
    """Percent of a core that the broker uses with so many pages."""
    command = [sys.executable, "-m", "benches.console_pages", broker.console, str(pages), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        if pages:
            assert holder.stdout is not None
            holder.stdout.readline()
        time.sleep(SETTLE_S)
        began, used = time.monotonic(), processor_s(broker.process.pid)
        time.sleep(SECONDS)
        percent = 100 * (processor_s(broker.process.pid) - used) / (time.monotonic() - began)
        assert holder.poll() is None or not pages, "the pages were closed"
        holder.kill()
    return percent


def rounds_of(broker: RunningBroker) -> dict[tuple[str, int], float]:
    """The least of some rounds for each case: what others on the machine do only adds."""
    least: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        for name in PARTS:
            for pages in PAGES:
                percent = measured(broker, pages, name)
                least[name, pages] = min(percent, least.get((name, pages), percent))
                print(f"{name} {pages}: {percent:.1f} %", flush=True)
    return least


def main() -> None:
    """Measure and record."""
    where = machine()
    with tempfile.TemporaryDirectory() as folder:
        broker = RunningBroker.start(Path(folder) / "data")
        load = subprocess.Popen(
            [sys.executable, "-c", LOAD, f"mqtt://{broker.host}:{broker.port}"],
            stdout=subprocess.PIPE,
        )
        try:
            assert load.stdout is not None
            load.stdout.readline()
            least = rounds_of(broker)
        finally:
            load.kill()
            load.communicate()
            broker.stop()
    text = (
        f"{where}; the least of {ROUNDS} rounds of {SECONDS:.0f} s, "
        "`make bench ARGS=console_pages`. Load: 4,000 samples/s of 200 parameters, 1,000 plain "
        "messages/s on 500 topics, 20 clients. Percent of one core that the whole broker uses. "
        "Each page has the WebSockets that a browser opens for it: the overview is sent 40 rows "
        "and 5 plots, too.\n\n"
    )
    columns = (
        "pages that show",
        *(f"{pages} open" for pages in PAGES),
        "50 against 1",
        "to reach",
        "in this run",
    )
    text += head(columns)
    for name in PARTS:
        none, one, fifty = (least[name, pages] for pages in PAGES)
        times = fifty / one
        shown = (
            name,
            *(f"{percent:.1f} %" for percent in (none, one, fifty)),
            f"{times:.2f} times",
        )
        text += row((*shown, "at most twice", verdict(times <= 2)))
    record("console_pages", text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(hold_open(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
    else:
        main()
