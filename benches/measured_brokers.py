"""The brokers that are measured: how each is started, and what the system says it costs.

Mosquitto and NATS as Debian ships them; the bare forwarder, which is the floor; Slipring with and
without a journal. Every one listens on a free port of loopback, and has no limit a run would reach.
"""

import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benches.access_policies import rights_config
from benches.generator import ROOT, Generator

MOSQUITTO = "Mosquitto"
FORWARDER = "bare forwarder"
NATS = "NATS"
SLIPRING = "Slipring"
MEMORY = "Slipring, memory"
JOURNALED = "Slipring, all journaled"
RIGHTS = "Slipring, rights"
EARLIER = "earlier Slipring"
EARLIER_JOURNALED = "earlier Slipring, all journaled"

SLIPRING_CONFIG = """\
[limits]
connections = 30000
[journal]
topics = [{topics}]
{further}"""
MOSQUITTO_CONFIG = """\
listener {port} 127.0.0.1
allow_anonymous true
max_connections -1
max_queued_messages 0
max_inflight_messages 0
set_tcp_nodelay {nodelay}
"""
QUIET_S = 0.05
"""How long each look at a broker takes that checks whether it is idle."""
QUIET_LOOKS = 4
QUIET_LOOKS_MAX = 400


Started = tuple[int, str, Path | None]
"""Process, address and folder of a broker; only Slipring has a folder."""


@dataclass(frozen=True)
class MeasuredBroker:
    """A broker that runs."""

    name: str
    pid: int
    address: str
    folder: Path | None = None
    """Where Slipring keeps its journal."""

    @property
    def is_fast(self) -> bool:
        """Whether a run needs more messages to take as long as with Mosquitto."""
        return self.name != MOSQUITTO

    def cpu_s(self) -> float:
        """CPU time used so far, to the nanosecond; its threads stay while it runs."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9

    def memory_bytes(self) -> int:
        """Its resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        resident = re.search(r"VmRSS:\s*(\d+) kB", status)
        assert resident, status
        return int(resident[1]) * 1024

    def release_cache(self) -> None:
        """Take what is journaled out of the system's page cache: its memory is free for more.

        A virtual machine gets memory from its host when it is used for the first time, and then
        writing a page of a file costs many times as much. This is not the broker's cost.
        """
        for segment in self.folder.rglob("*.seg") if self.folder else ():
            with segment.open("rb") as file:
                os.fdatasync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def settle(self) -> None:
        """Wait until it is idle, so that nothing of an earlier run is counted."""
        rest, looks = threading.Event(), 0
        for _ in range(QUIET_LOOKS_MAX):
            before = self.cpu_s()
            rest.wait(QUIET_S)
            looks = looks + 1 if self.cpu_s() - before < QUIET_S / 10 else 0
            if looks == QUIET_LOOKS:
                return
        raise TimeoutError(f"{self.name} does not become idle")


@contextmanager
def started(
    generator: Generator, *names: str, nodelay: bool = False
) -> Iterator[tuple[MeasuredBroker, ...]]:
    """New brokers of these names, side by side.

    Mosquitto is cheapest as it comes, and quickest with `set_tcp_nodelay`: it runs with what suits
    it better. The others send at once by themselves.
    """
    raise_descriptor_limit()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        starts: dict[str, Callable[[], AbstractContextManager[Started]]] = {
            MOSQUITTO: lambda: _mosquitto(folder, nodelay=nodelay),
            FORWARDER: lambda: _forwarder(generator),
            NATS: _nats,
            SLIPRING: lambda: _slipring(folder, topics=""),
            MEMORY: lambda: _slipring(folder, topics="", further='durability = "memory"\n'),
            JOURNALED: lambda: _slipring(folder, topics='"#"'),
            RIGHTS: lambda: _slipring(
                folder, topics="", top="allow_anonymous = true\n", further=rights_config()
            ),
            EARLIER: lambda: _slipring(folder, topics="", checkout=earlier_checkout()),
            EARLIER_JOURNALED: lambda: _slipring(folder, topics='"#"', checkout=earlier_checkout()),
        }
        yield tuple(MeasuredBroker(name, *stack.enter_context(starts[name]())) for name in names)


def raise_descriptor_limit() -> None:
    """Ten thousand clients are ten thousand sockets; the brokers inherit this limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def earlier_checkout() -> Path:
    """The checkout of an earlier version that `EARLIER` names; `make setup` was run in it."""
    folder = os.environ.get("EARLIER")
    if not folder:
        raise SystemExit("name the checkout of the earlier version: EARLIER=/its/folder make bench")
    return Path(folder).absolute()


def environment(checkout: Path) -> dict[str, str]:
    """The environment in which `python -m slipring` is the version of this checkout."""
    return {**os.environ, "PYTHONPATH": str(checkout / "python")}


@contextmanager
def _slipring(
    parent: Path, *, topics: str, top: str = "", further: str = "", checkout: Path = ROOT
) -> Iterator[Started]:
    folder = Path(tempfile.mkdtemp(dir=parent))
    config = folder / "broker.toml"
    config.write_text(top + SLIPRING_CONFIG.format(topics=topics, further=further))
    arguments = ["--mqtt", "127.0.0.1:0", "--console", "off", "--data", str(folder / "data")]
    command = [sys.executable, "-m", "slipring", "serve", "--config", str(config), *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(checkout),
        cwd=folder,
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().decode()
        try:
            yield process.pid, ready.split("mqtt=")[1].split()[0], folder / "data"
        finally:
            process.terminate()


@contextmanager
def _mosquitto(folder: Path, *, nodelay: bool) -> Iterator[Started]:
    port, config = free_port(), folder / "mosquitto.conf"
    config.write_text(MOSQUITTO_CONFIG.format(port=port, nodelay=str(nodelay).lower()))
    with subprocess.Popen(["mosquitto", "-c", str(config)], stderr=subprocess.DEVNULL) as process:
        while subprocess.call(["mosquitto_pub", "-p", str(port), "-t", "x", "-n"], stderr=-3):
            assert process.poll() is None, "Mosquitto does not start"
        try:
            yield process.pid, f"127.0.0.1:{port}", None
        finally:
            process.terminate()


@contextmanager
def _nats() -> Iterator[Started]:
    port = free_port()
    command = ["nats-server", "--addr", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while not _accepts(port):
            assert process.poll() is None, "NATS does not start"
        try:
            yield process.pid, f"127.0.0.1:{port}", None
        finally:
            process.terminate()


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def _forwarder(generator: Generator) -> Iterator[Started]:
    with generator.hold("forward") as held:
        yield held.process.pid, held.report["listening"], None


def versions() -> str:
    """What was measured."""
    peer = subprocess.run(["mosquitto", "-h"], capture_output=True, text=True, check=False)
    mosquitto = peer.stdout.splitlines()[0].replace("version ", "")
    changed = " with changes" if _git("status", "--porcelain", "--", "crates", "python") else ""
    return f"{mosquitto}, Slipring at {_git('log', '-1', '--format=%h')}{changed}"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
