"""An honest client beside an attack, and how long the engine lets it wait.

A wall clock says little on a busy machine. The wait is therefore counted in processor time: what
the engine's threads computed between a message of the bystander and its arrival. An engine that
works for an attacker for a second before it serves the bystander has used that second, however busy
the machine is.
"""

import statistics
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.raw_mqtt import V5, RawPeer
from tests.running_broker import PATIENCE_S, RunningBroker

ENGINE_THREAD = "slipring-engine"
PAUSE_S = 0.005
TYPICAL_MS_MAX = 20.0
"""Half of the bystander's messages wait no longer."""
WORST_MS_MAX = 500.0
"""None waits longer. The engine may work for others while the system does not run the bystander."""
MIB = 1 << 20


NO_JOURNAL = "[journal]\ntopics = []\n"
"""For a broker whose processor time is compared: snapshots are made on the engine's threads too."""


def engine_ms(process_id: int) -> float:
    """Processor time of the engine's threads so far."""
    total_ns = 0
    for thread in Path(f"/proc/{process_id}/task").iterdir():
        try:
            if (thread / "comm").read_text().startswith(ENGINE_THREAD):
                total_ns += int((thread / "schedstat").read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has ended meanwhile
    return total_ns / 1e6


def memory_bytes(process_id: int, field_name: str = "VmRSS") -> int:
    """Resident memory of a process, now (`VmRSS`) or at its highest (`VmHWM`)."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith(f"{field_name}:"))
    return int(line.split()[1]) * 1024


@dataclass
class Bystander:
    """A client that sends itself a message again and again."""

    broker: RunningBroker
    waits_ms: list[float] = field(default_factory=list)
    """Of each message: the engine's processor time until it arrived."""
    before_bytes: int = 0
    """Resident memory when the bystander came."""

    def assert_served(self, least: int = 20) -> None:
        """It was served all the time, without a wait that others caused."""
        assert len(self.waits_ms) >= least, f"{len(self.waits_ms)} messages arrived"
        typical, worst = statistics.median(self.waits_ms), max(self.waits_ms)
        told = f"{len(self.waits_ms)} waits: median {typical:.1f} ms, worst {worst:.1f} ms"
        assert typical <= TYPICAL_MS_MAX, told
        assert worst <= WORST_MS_MAX, told

    def grown_bytes(self) -> int:
        """How far the broker's memory rose at its highest."""
        return memory_bytes(self.broker.process.pid, "VmHWM") - self.before_bytes

    def _serve(self, stop: threading.Event, enough: threading.Event, least: int) -> None:
        with RawPeer(self.broker.host, self.broker.port) as peer:
            assert peer.connect("bystander").reason == 0
            peer.send(V5.subscribe(1, ("bystander/own", 0)))
            assert peer.packet().reasons == (0,)
            while not stop.wait(PAUSE_S):
                begun_ms = engine_ms(self.broker.process.pid)
                payload = str(len(self.waits_ms)).encode()
                peer.send(V5.publish("bystander/own", payload))
                assert peer.packet().payload == payload
                self.waits_ms.append(engine_ms(self.broker.process.pid) - begun_ms)
                if len(self.waits_ms) >= least:
                    enough.set()


@contextmanager
def bystander(broker: RunningBroker, least: int = 20) -> Iterator[Bystander]:
    """A bystander for the time of an attack; it ends after at least so many messages.

    with bystander(broker) as beside:
        attacker.send(*many)
    beside.assert_served()
    assert beside.grown_bytes() < 64 * MIB
    """
    beside = Bystander(broker, before_bytes=memory_bytes(broker.process.pid))
    stop, enough = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as threads:
        served = threads.submit(beside._serve, stop, enough, least)
        served.add_done_callback(lambda _: enough.set())
        try:
            yield beside
            enough.wait()  # each message has its own time; one that does not come ends this, too
        finally:
            stop.set()
        served.result(PATIENCE_S)
