"""A broker with thousands of open requests, killed again and again, beside its clients.

`python -m tests.requests.killed_broker --kills 100 --requests 10000 --seed 7` says what it found.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.console_answer import answer_now
from tests.metrics import Metrics
from tests.raw_mqtt import V5, packet_length
from tests.requests.inquiries import Inquiries
from tests.requests.parties import PING_EVERY, Asker, Party, Solver
from tests.running_broker import RunningBroker

LOG = logging.getLogger(__name__)
STEPS_MAX = 4_000
"""A life ends after so many packets of the broker, at most."""
STALL_S = 20
"""Nobody hears anything for so long: the run is stuck."""
UNLIMITED = 1 << 30
CONFIG = """\
[journal]
segment_bytes = 262144
retain_bytes = 1048576
"""
"""Small segments, so that a short run has many, and most of them go."""


class KilledBroker:
    """One run: lives of a broker on one folder, and the same clients in all of them."""

    def __init__(self, data: Path, seed: int, kills: int, requests: int) -> None:
        self.data, self.kills = data, kills
        self.config = data.with_name("broker.toml")
        self.config.write_text(CONFIG, encoding="utf-8")
        self.choice = Random(seed)
        self.inquiries = Inquiries(self.choice)
        self.requests, self.credit = requests, max(5, requests // 40)
        self.askers = [
            Asker(f"asker-{at}", 1 + at % 2, self.inquiries, requests) for at in range(6)
        ]
        self.solvers = [
            Solver("keeps-a", self.inquiries, "work/#", requests // 10),
            Solver("keeps-b", self.inquiries, "$share/shared/work/#", requests // 10, qos=1),
            Solver("mortal-a", self.inquiries, "work/#", requests // 50, is_mortal=True),
            Solver("mortal-b", self.inquiries, "work/+", requests // 50, is_mortal=True, qos=1),
            Solver("plain", self.inquiries, "plain/#", 0),
        ]
        self.later = Solver("later", self.inquiries, "later/#", 100)
        self.steps = 0
        self._stepped = asyncio.Event()

    @property
    def parties(self) -> list[Party]:
        return [*self.askers, *self.solvers]

    async def run(self) -> list[str]:
        """Every life, and what is wrong after the last."""
        await self._first_life()
        for number in range(self.kills):
            await self._life(number)
        return await self._last_life()

    async def _start(self, *arguments: str) -> RunningBroker:
        given = ("--config", str(self.config), *arguments)
        return await asyncio.to_thread(RunningBroker.start, self.data, *given)

    async def _first_life(self) -> None:
        """The services subscribe: from now on there are some for every topic that has any."""
        broker = await self._start("--console", "off")
        links = [asyncio.create_task(self._link(broker, one, 0)) for one in self.solvers]
        await self._until(lambda: all(solver.seen for solver in self.solvers))
        broker.process.kill()
        await asyncio.to_thread(broker.process.communicate)
        await asyncio.gather(*links)

    async def _life(self, number: int) -> None:
        broker = await self._start("--console", "off")
        for solver in self.solvers:
            solver.credit = self.credit // len(self.solvers)
        goal = self.choice.randint(1, self.choice.choice([100, STEPS_MAX, 4 * STEPS_MAX]))
        begun = self.steps
        links = [asyncio.create_task(self._link(broker, party)) for party in self.parties]
        if number == 0:
            await self._until(lambda: self.inquiries.open >= self.requests)
        idle = 0
        while self.steps - begun < goal and idle < 5:
            before = self.steps
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stepped.wait(), 0.1)
            self._stepped.clear()
            idle = idle + 1 if self.steps == before else 0
            await asyncio.sleep(0)
        LOG.info("life %d: %d open of %d", number, self.inquiries.open, len(self.inquiries.all))
        broker.process.kill()
        await asyncio.to_thread(broker.process.communicate)
        await asyncio.gather(*links)

    async def _last_life(self) -> list[str]:
        broker = await self._start()
        self.solvers.append(self.later)
        for solver in self.solvers:
            solver.credit = UNLIMITED
        for asker in self.askers:
            asker.most_open = 0
        links = [asyncio.create_task(self._link(broker, party, 0)) for party in self.parties]
        await self._until(lambda: not self.inquiries.open)
        open_now = Metrics.of(broker)["slipring_requests_open"]
        lives = answer_now(f"{broker.console}/api/requests")[1] if open_now else ""
        pinged = {solver.name: self.inquiries.now for solver in self.solvers}
        await self._until(lambda: all(one.settled > pinged[one.name] for one in self.solvers))
        code, errors = await asyncio.to_thread(broker.stop)
        await asyncio.gather(*links)
        found = self.inquiries.verdict()
        if open_now:
            found.append(f"{open_now:.0f} requests are open for the broker: {lives}")
        if code or "Traceback" in errors or "panic" in errors:
            found.append(f"the broker ended with {code}: {errors[-2_000:]}")
        return found

    async def _until(self, is_done: Callable[[], bool]) -> None:
        """Until then, or until nobody has heard anything new for long."""
        stuck = 0
        while not is_done() and stuck < STALL_S * 10:
            before = self.inquiries.open
            await asyncio.sleep(0.1)
            self.inquiries.now += PING_EVERY
            stuck = stuck + 1 if self.inquiries.open == before else 0

    async def _link(self, broker: RunningBroker, party: Party, deaths: float = 0.002) -> None:
        """Keep a client connected, with some losses of the connection, until the broker is gone."""
        while True:
            try:
                reader, writer = await asyncio.open_connection(broker.host, broker.port)
            except OSError:
                return
            is_dropped = False
            try:
                writer.write(party.hello())
                is_dropped = await self._converse(party, reader, writer, deaths)
            except OSError:
                pass
            finally:
                party.gone()
                writer.transport.abort()
            if not is_dropped:
                return

    async def _converse(
        self,
        party: Party,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        deaths: float,
    ) -> bool:
        """Hear and speak; whether the client has dropped its connection."""
        unread = b""
        while True:
            with suppress(TimeoutError):
                data = await asyncio.wait_for(reader.read(65_536), 0.05)
                if not data:
                    return False
                unread += data
            said, at = b"", 0
            while (size := packet_length(unread[at : at + 5])) and len(unread) >= at + size:
                said += party.hear(V5.read(unread[at : at + size]))
                at += size
                self.steps += 1
                self.inquiries.now += 1
            unread = unread[at:]
            self._stepped.set()
            said += party.more()
            if self.choice.random() < deaths:
                if self.choice.random() < 0.5:
                    writer.write(said)
                return True
            writer.write(said)
            await writer.drain()


def main() -> int:
    """Run it, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=Random().randrange(1 << 32))
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    LOG.info("seed %d", given.seed)
    with tempfile.TemporaryDirectory() as folder:
        run = KilledBroker(Path(folder) / "data", given.seed, given.kills, given.requests)
        found = asyncio.run(run.run())
    sys.stdout.write(f"{len(run.inquiries.all)} requests: {run.inquiries.summary()}\n")
    for fault in found[:40]:
        sys.stdout.write(f"{fault}\n")
    sys.stdout.write(f"{len(found)} faults\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
