"""Starts every part of the demo, prints what happens, and ends all parts cleanly."""

import asyncio
import contextlib
import json
import re
import shutil
import signal
import socket
import sys
from pathlib import Path

import slipring
from slipring.control.address import Address
from slipring.control.folder import make_private
from slipring.demo.child_process import ChildProcess
from slipring.demo.crew import Cockpit, control_the_flight
from slipring.demo.jet import PREFIX, Jet
from slipring.demo.jet.derived import derive
from slipring.demo.jet.flying import JetFlight
from slipring.demo.lake_part import LakePart
from slipring.errors import DemoError
from slipring.native import JournalReader

TELL_S = 5.0
FREE_BYTES_MIN = 5_000_000_000
"""The demo ends when the disk has less room."""
JOURNAL_BYTES = 2_000_000_000
QUICK_LOOK = [
    [f"{PREFIX}/{name}" for name in names]
    for names in (
        ("air/altitude", "derived/energy_height"),
        ("air/true_airspeed",),
        ("motion/load_factor",),
        ("engine/egt",),
    )
]
"""What the first page of the console draws, one list for each plot."""
CONFIG = f"""\
# The journal of the demo keeps its newest bytes, and what the lake has not read.
[journal]
retain_bytes = {JOURNAL_BYTES}

# A strain gauge that trembles at its limit is one alarm, not fifty.
[alarms]
on_delay = "200ms"
off_delay = "2s"

# Nobody shall take this flight for a real one.
[console]
source = "Simulated jet {PREFIX}"
mark = "DEMO DATA"
quick_look = {json.dumps(QUICK_LOOK)}
"""


def run_demo(
    data: Path, *, mqtt: str, console: str, seconds: float | None, keep_bytes: int
) -> None:
    """Run until Ctrl-C, SIGTERM, or for so many seconds of flight."""
    demo = Demo(data, keep_bytes)
    asyncio.run(demo.run(_free(mqtt), _free(console), seconds))


class Demo:
    """Broker, jet, computing client and pipeline together."""

    def __init__(self, data: Path, keep_bytes: int) -> None:
        """Keep everything in one folder; the lake keeps its newest `keep_bytes`."""
        self.data = data
        self.lake: LakePart = LakePart(data, keep_bytes)
        self.flight: JetFlight = JetFlight(Jet())
        self.derived: int = 0
        """The samples that the computing client has written so far."""
        self.stop: asyncio.Event = asyncio.Event()

    @property
    def published(self) -> int:
        """All samples of this flight."""
        return self.flight.samples + self.derived

    async def run(self, mqtt: str, console: str, seconds: float | None) -> None:
        """Start, fly, land."""
        make_private(self.data)
        self._listen_to_signals()
        async with contextlib.AsyncExitStack() as stack:
            broker = await self._start_broker(stack, mqtt, console)
            address, url = _ready(await broker.first_line())
            pipeline = await self.lake.start(stack)
            self._introduce(address, url)
            await self._fly(address, seconds, broker, *pipeline)
            _say("landing: the last messages go to disk and on into the lake ...")
            await broker.stop()
            await self.lake.catch_up()
        _say(f"done: {self._result()}; it is all in {self.data}, where the next demo continues")

    async def _start_broker(
        self, stack: contextlib.AsyncExitStack, mqtt: str, console: str
    ) -> ChildProcess:
        config = self.data / "broker.toml"
        config.write_text(CONFIG, encoding="utf-8")
        files = ("--data", str(self.data), "--config", str(config))
        arguments = ("serve", "--mqtt", mqtt, "--console", console, *files)
        log = self.data / "broker.log"
        broker = await ChildProcess.start("broker", log, *arguments, stdout=asyncio.subprocess.PIPE)
        stack.push_async_callback(broker.stop)
        return broker

    def _introduce(self, address: str, url: str) -> None:
        _say(
            "Slipring demo: a simulated jet, 20,000 typed parameters at 50 Hz",
            f"  console   {url}",
            f"  mqtt      {address}",
            f"            {_program()} sub --url mqtt://{address} 'gripen/39-7/engine/#'",
            *self.lake.introduction(_program(), JOURNAL_BYTES),
            "Ctrl-C ends it.",
        )

    async def _fly(self, address: str, seconds: float | None, *children: ChildProcess) -> None:
        """Fly until it is time to stop; a part that ends early ends the demo."""
        async with asyncio.TaskGroup() as group:
            watchers = [group.create_task(child.failed()) for child in children]
            teller = group.create_task(self._tell())
            others = [
                group.create_task(part(f"mqtt://{address}"))
                for part in (self._calculate, self._crew, self._ground)
            ]
            clock = group.create_task(self._land_after(seconds))
            async with slipring.connect(f"mqtt://{address}", client_id="gripen-39-7") as bus:
                await self.flight.fly(bus, self.stop)
            for task in (*watchers, teller, *others, clock):
                task.cancel()

    async def _land_after(self, seconds: float | None) -> None:
        """Stop so long after the parameters are declared; None is never."""
        if seconds is not None:
            await self.flight.declared.wait()
            await asyncio.sleep(seconds)
            self.stop.set()

    async def _calculate(self, url: str) -> None:
        """Publish derived parameters, over a connection of its own."""
        await self.flight.declared.wait()
        async with slipring.connect(url, client_id="gripen-39-7-derived") as bus:
            await derive(bus, on_samples=self._count)

    async def _crew(self, url: str) -> None:
        """Words, sound and answers from the cockpit."""
        await self.flight.declared.wait()
        async with slipring.connect(url, client_id="gripen-39-7-cockpit") as bus:
            await Cockpit(bus).run()

    async def _ground(self, url: str) -> None:
        """Who asks the cockpit."""
        await self.flight.declared.wait()
        async with slipring.connect(url, client_id="ground") as bus:
            await control_the_flight(bus)

    def _count(self, samples: int) -> None:
        self.derived += samples

    async def _tell(self) -> None:
        while True:
            await asyncio.sleep(TELL_S)
            _say(f"{self.flight.phase}: {await asyncio.to_thread(self._counts)}")
            if shutil.disk_usage(self.data).free < FREE_BYTES_MIN:
                _say(f"less than {FREE_BYTES_MIN:,} bytes are free in {self.data}")
                self.stop.set()

    def _counts(self) -> str:
        """What was published so far, and what has arrived in the lake."""
        return f"{self._published()}, {self.lake.summary()}"

    def _result(self) -> str:
        """What was published, and how much of it is in the lake: each sample is a row."""
        return f"{self._published()}, {self.lake.result()}"

    def _published(self) -> str:
        journal = JournalReader(self.data / "journal")
        journaled = f"{journal.end_offset():,} messages journaled"
        return f"{self.published:,} samples published, {journaled}"

    def _listen_to_signals(self) -> None:
        """The first Ctrl-C lands the aircraft; a second one ends the demo at once."""
        loop = asyncio.get_running_loop()

        def land() -> None:
            self.stop.set()
            loop.remove_signal_handler(signal.SIGINT)

        loop.add_signal_handler(signal.SIGINT, land)
        loop.add_signal_handler(signal.SIGTERM, self.stop.set)


def _ready(line: str) -> tuple[str, str]:
    found = re.fullmatch(r"slipring ready mqtt=(\S+) console=(\S+)\n", line)
    if not found:
        raise DemoError(f"the broker is not ready, it says: {line!r}")
    return found[1], found[2]


def _program() -> str:
    """How to call `slipring` in this shell."""
    here = Path(sys.executable).with_name("slipring")
    found = shutil.which("slipring")
    if found and Path(found).samefile(here):
        return "slipring"
    return str(here.relative_to(Path.cwd())) if here.is_relative_to(Path.cwd()) else str(here)


def _free(listen: str) -> str:
    """The address; with port 0, for any free one, if its port is taken."""
    address = Address.parse(listen)
    with socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError:
            _say(f"{listen} is taken, a free port is used instead")
            return str(Address(address.host, 0))
    return listen


def _say(*lines: str) -> None:
    print("\n".join(lines), flush=True)
