"""Lines of the pages that no other test types, on one broker with a jet that flies beside them."""

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import slipring
from tests.discovery.brokers import free_udp_port
from tests.docs.page_shell import PageShell, page_blocks, page_lines
from tests.lake_samples import make_lake
from tests.running_broker import PATIENCE_S, RunningBroker

pytestmark = pytest.mark.timeout(600)
DBC = Path(__file__).parents[1] / "dictionary" / "data" / "powertrain.dbc"
ENGINE = "name,type,unit,min,max\noil,f32,kPa,0,900\nvibration,f32,mm/s,0,50\n"
HISTORY = "time,nav/altitude\n2026-01-02T03:00:00Z,1200.5\n2026-01-02T03:00:01Z,1201\n"
OLD = "t,nav/height,mode\n,m,\n1767322800000,1200.5,1\n1767322800100,1201,2\n"
MESSAGES = 9_100
"""More than the highest offset of which a page says that an export begins there."""
PLAIN = (
    "docs/clocks.md",
    "docs/dictionaries.md",
    "docs/parameters.md",
    "docs/streams.md",
)
"""Pages of which every line can be typed beside the jet, one after the other."""


async def solved(request: slipring.Request) -> str:
    assert request.text == '{"a": 1}'
    return "solved"


async def fly(url: str, flying: threading.Event, landed: threading.Event) -> None:
    """A jet that goes on until it may land, with a service, a session and a stream."""
    async with (
        slipring.connect(url, client_id="jet") as bus,
        slipring.connect(url, client_id="solver") as solver,
        solver.serve("solver/linear", solved),
    ):
        egt = slipring.Parameter("f64", unit="Cel")
        engine = await bus.declare(
            "gripen/39-7/engine", {"egt": egt, "rpm": slipring.Parameter("f64", unit="1/min")}
        )
        for number in range(MESSAGES):
            await bus.publish(
                "gripen/39-7/log", f"line {number}", qos=1 if number % 50 == 49 else 0
            )
        while not landed.is_set():
            engine.write({"egt": 700.0, "rpm": 12034.5})
            await bus.publish("gripen/39-7/state", "flying", qos=1)
            flying.set()
            await asyncio.sleep(0.05)


@contextmanager
def flight(url: str) -> Iterator[None]:
    """The jet, in a thread."""
    flying, landed = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(fly(url, flying, landed)))
    thread.start()
    try:
        assert flying.wait(PATIENCE_S)
        yield
    finally:
        landed.set()
        thread.join(PATIENCE_S)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageShell]:
    """A folder with all files that the pages name, and a broker whose data is in it."""
    folder = tmp_path_factory.mktemp("pages")
    port = free_udp_port()
    (folder / "settings.toml").write_text(f"[discovery]\nport = {port}\nmdns = false\n")
    broker = RunningBroker.start(
        folder / "slipring-data", "--config", str(folder / "settings.toml")
    )
    made = PageShell(folder, broker, port)
    made.prepare()
    shutil.copy(DBC, folder)
    for name, text in {
        "engine.csv": ENGINE,
        "history.csv": HISTORY,
        "old.csv": OLD,
        "names.txt": "gripen/39-7/engine/egt\n",
        "log.txt": "first\n",
        "peaks.sql": "SELECT max(value) AS peak FROM samples\n",
    }.items():
        (folder / name).write_text(text)
    make_lake(folder / "slipring-data" / "lake", seconds=2)
    for place in (".local/share/bash-completion/completions", ".zfunc", ".config/fish/completions"):
        (folder / place).mkdir(parents=True)
    with ExitStack() as stack:
        stack.callback(broker.stop)
        stack.enter_context(flight(broker.url))
        yield made


def test_every_line_about_recordings_can_be_typed(shell: PageShell) -> None:
    """A replay with the original timing comes first, while the recording is short."""
    lines = list(page_lines("docs/recordings.md"))
    [timed] = [line for line in lines if line.startswith("slipring replay --from -10m")]
    assert "samples of" in shell.type(timed)
    shell.type("slipring export slipring-data flight.jsonl --filter 'gripen/39-7/#' --to @1000")
    shell.type("gzip < flight.jsonl > history.jsonl.gz")
    pq.write_table(
        pa.table({"time": pa.array([1], pa.timestamp("s")), "oil": [400.0]}),
        shell.folder / "history.parquet",
    )
    for line in lines:
        if line != timed:
            shell.type(line)
    assert (shell.folder / "flight.mcap").stat().st_size > 1_000


@pytest.mark.parametrize("page", PLAIN)
def test_every_line_of_a_page_can_be_typed(shell: PageShell, page: str) -> None:
    lines = list(page_lines(page))
    assert lines
    wrong = []
    for line in lines:
        try:
            shell.type(line)
        except Exception as e:
            wrong.append(str(e)[:600])
    print(*wrong, sep="\n-----\n")
    assert not wrong
