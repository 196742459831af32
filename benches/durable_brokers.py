"""Brokers that store what they acknowledge: started in a folder, killed, started there again.

Mosquitto with its persistence, which saves at intervals; NATS with JetStream on files, as its MQTT
needs it; Slipring at each level of durability. Every one listens on a free port of loopback, and
has no limit a run would reach.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benches.generator import ROOT, Generator, RunFailed
from benches.measured_brokers import (
    MEMORY,
    MOSQUITTO,
    NATS,
    MeasuredBroker,
    environment,
    free_port,
)

PROCESS, DISK = "Slipring, process", "Slipring, disk"
START_S = 60
"""A broker that accepts no client within this time has failed to start."""
TRY_EACH_S = 0.01

SLIPRING_CONFIG = """\
[journal]
durability = "{level}"
[limits]
queue_messages = 100000000
queue_bytes = 60000000000
"""
MOSQUITTO_CONFIG = """\
user root
listener {port} 127.0.0.1
allow_anonymous true
max_queued_messages 0
max_inflight_messages 0
persistence true
persistence_location {folder}/
autosave_interval 1
"""
NATS_CONFIG = """\
server_name: bench
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{folder}" }}
mqtt {{ listen: "127.0.0.1:{mqtt}" }}
"""


@dataclass
class Running:
    """A broker that runs, until it is killed."""

    process: subprocess.Popen[bytes]
    broker: MeasuredBroker
    ready_s: float
    """From its start until it accepted a client."""

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()
        self.process.wait()


@dataclass(frozen=True)
class DurableBroker:
    """A broker that can be started again in a folder."""

    name: str
    command: Callable[[Path], tuple[list[str], str]]
    """Writes the configuration; returns the command, and the address for MQTT clients."""
    checkout: Path = ROOT
    """For Slipring: the checkout of the version that is started."""

    @contextmanager
    def started(self, folder: Path, generator: Generator) -> Iterator[Running]:
        """Start it; leaving the block kills it."""
        folder.mkdir(exist_ok=True)
        command, address = self.command(folder)
        began = time.perf_counter()
        with (
            (folder / "said").open("wb") as said,
            subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=said,
                env=environment(self.checkout),
                cwd=folder,
            ) as process,
        ):
            try:
                _wait(process, generator, address, folder / "said")
                ready_s = time.perf_counter() - began
                yield Running(process, MeasuredBroker(self.name, process.pid, address), ready_s)
            finally:
                process.kill()


def _wait(process: subprocess.Popen[bytes], generator: Generator, address: str, said: Path) -> None:
    """Wait until it accepts a client."""
    late = time.perf_counter() + START_S
    while True:
        try:
            generator.run("connect", address, "--clients=1")
        except RunFailed:
            if process.poll() is not None or time.perf_counter() > late:
                raise RunFailed(f"it does not start: {said.read_text()}") from None
            time.sleep(TRY_EACH_S)  # the broker needs both cores for its start
        else:
            return


def _mosquitto(folder: Path) -> tuple[list[str], str]:
    port, config = free_port(), folder / "mosquitto.conf"
    config.write_text(MOSQUITTO_CONFIG.format(port=port, folder=folder))
    return ["mosquitto", "-c", str(config)], f"127.0.0.1:{port}"


def _nats(folder: Path) -> tuple[list[str], str]:
    port, mqtt, config = free_port(), free_port(), folder / "nats.conf"
    config.write_text(NATS_CONFIG.format(port=port, mqtt=mqtt, folder=folder))
    return ["nats-server", "-c", str(config)], f"127.0.0.1:{mqtt}"


def slipring_at(level: str, further: str = "") -> Callable[[Path], tuple[list[str], str]]:
    """Slipring at a level of durability, with further lines of configuration."""

    def command(folder: Path) -> tuple[list[str], str]:
        address, config = f"127.0.0.1:{free_port()}", folder / "broker.toml"
        config.write_text(SLIPRING_CONFIG.format(level=level) + further)
        arguments = ["--mqtt", address, "--console", "off", "--data", str(folder / "data")]
        program = [sys.executable, "-m", "slipring", "serve", "--config", str(config)]
        return [*program, *arguments], address

    return command


DURABLE_BROKERS = {
    MOSQUITTO: DurableBroker(MOSQUITTO, _mosquitto),
    NATS: DurableBroker(NATS, _nats),
    MEMORY: DurableBroker(MEMORY, slipring_at("memory")),
    PROCESS: DurableBroker(PROCESS, slipring_at("process")),
    DISK: DurableBroker(DISK, slipring_at("disk")),
}


def nats_version() -> str:
    """What was measured."""
    said = subprocess.run(["nats-server", "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"v([\d.]+)", said.stdout)
    return f"nats-server {found[1] if found else said.stdout}"
