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
from slipring import sync
from slipring.demo.jet import PREFIX
from tests.demo.crew_aboard import aboard
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
    "docs/history.md",
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
        await bus.publish("gripen/39-7/engine/note", "it runs", qos=1)
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
    for line in lines:
        shell.type(line)


def test_every_line_of_readme_beside_a_flying_demo_can_be_typed(shell: PageShell) -> None:
    (shell.folder / "demo-data").symlink_to("slipring-data")
    [block] = [one for one in page_blocks("README.md") if "demo-data" in one]
    for line in block.splitlines():
        shown = shell.type(line)
        if "again/#" in line:
            assert "again/gripen/39-7/engine/egt" in shown


async def test_every_line_about_the_crew_of_the_demo_can_be_typed(shell: PageShell) -> None:
    asking, listening = page_lines("docs/aircraft.md")
    async with aboard(shell.broker.url, PREFIX, 50.0) as bus:
        await bus.request(f"{PREFIX}/ask/fuel", wait=True)
        assert '"fuel_kg": 2268' in await asyncio.to_thread(shell.type, asking)
        assert "playing" in await asyncio.to_thread(shell.type, listening)


async def test_every_line_about_watching_can_be_typed(shell: PageShell) -> None:
    """Each session that a line ends is there before it is typed."""
    for line in page_lines("docs/observing.md"):
        if "5f0c7a1e22b90d41" in line:
            continue
        async with slipring.connect(
            shell.broker.url, client_id="recorder-17", session_expiry_s=600
        ) as bus:
            await bus.ping()
            await asyncio.to_thread(shell.type, line)


def test_every_line_for_everybody_who_comes_from_mosquitto_can_be_typed(shell: PageShell) -> None:
    """The jet has the service, the lake and the dictionary that they need."""
    for line in page_lines("docs/commands.md"):
        shell.type(line)
    for script in ("completions/slipring", "_slipring", "completions/slipring.fish"):
        assert any(one.match(f"*{script}") for one in shell.folder.rglob("*slipring*")), script


def test_every_plain_line_about_the_client_can_be_typed(shell: PageShell) -> None:
    lines = page_blocks("docs/client.md")[0].splitlines()
    plain = [line for line in lines if "mqtts:" not in line and "unix:" not in line]
    assert len(plain) == len(lines) - 2
    for line in plain:
        if line.startswith("tail -f"):
            with sync.connect(shell.broker.url) as bus, bus.subscribe("site/log") as messages:
                shell.type_until(line, lambda: next(messages))
        else:
            shell.type(line)


def test_brokers_are_found_as_the_page_says(shell: PageShell) -> None:
    """avahi-browse needs a daemon, and a broker that is open to other machines."""
    *lines, browse = page_lines("docs/discovery.md")
    assert browse.startswith("avahi-browse")
    said = [shell.type(line) for line in lines]
    assert shell.broker.url in said[2]
    assert json.loads(said[3].partition("\n")[2] or said[3])["name"]


def test_mosquitto_selects_and_writes_as_the_pages_say(shell: PageShell) -> None:
    [selected] = [line for line in page_lines("docs/table.md") if "mosquitto_sub" in line]
    assert json.loads(shell.type(selected).splitlines()[0])["value"] is not None
    for block in page_blocks("docs/selections.md", ""):
        for line in block.splitlines():
            if line.startswith("mosquitto_sub"):
                assert "gripen/39-7/" in shell.type(line)


def test_a_message_waits_for_its_first_reader_as_the_page_says(shell: PageShell) -> None:
    [line] = [one.strip() for one in page_blocks("docs/delivery.md", "") if "slipring pub" in one]
    shell.type(line)
    assert "tow to stand 4" in shell.type("slipring sub --count 1 depot/orders/17")


def test_a_notice_is_heard_as_the_page_says(shell: PageShell) -> None:
    """The second line is typed until the first has subscribed, as a person would see."""
    listening, telling = page_lines("docs/notices.md")
    heard = threading.Thread(target=lambda: found.append(shell.type(listening)))
    found: list[str] = []
    heard.start()
    while heard.is_alive():
        shell.type(telling)
    assert "change over at noon" in found[0]
    assert "to:all" in found[0]
