"""Slipring beside Mosquitto in one run: CPU time of the broker for each delivered message.

Run it with `make bench`. It writes the table of benches/RESULTS.md between its own marks.
"""

import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benches.results import machine, record

ROOT = Path(__file__).parents[1]
LOAD = ROOT / "target" / "release" / "slipring-load"
ROUNDS = 3
PAYLOAD_BYTES = 64


@dataclass(frozen=True)
class Case:
    """One shape of load."""

    name: str
    publishers: int
    subscribers: int
    messages: int


CASES = (
    Case("1 publisher, 1 subscriber", 1, 1, 400_000),
    Case("1 publisher, 20 subscribers", 1, 20, 60_000),
    Case("20 publishers, 1 subscriber", 20, 1, 400_000),
)


@dataclass(frozen=True)
class Measured:
    """What one run cost."""

    cpu_us: float
    rate: float


@contextmanager
def slipring(folder: Path, *, journal: bool) -> Iterator[tuple[int, str]]:
    """A broker with or without a journal."""
    config = folder / "broker.toml"
    config.write_text("" if journal else "[journal]\ntopics = []\n")
    arguments = ["--mqtt", "127.0.0.1:0", "--console", "off", "--data", str(folder / "data")]
    command = [sys.executable, "-m", "slipring", "serve", "--config", str(config), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().decode()
        yield process.pid, ready.split("mqtt=")[1].split()[0]
        process.terminate()


@contextmanager
def mosquitto(folder: Path) -> Iterator[tuple[int, str]]:
    """Mosquitto as Debian ships it, listening on loopback, with nothing dropped."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "mosquitto.conf"
    config.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n"
        "max_inflight_messages 0\n"
    )
    with subprocess.Popen(["mosquitto", "-c", str(config)], stderr=subprocess.DEVNULL) as process:
        while subprocess.call(["mosquitto_pub", "-p", str(port), "-t", "x", "-n"], stderr=-3):
            pass
        yield process.pid, f"127.0.0.1:{port}"
        process.terminate()


def cpu_s(pid: int) -> float:
    """CPU time a process has used so far, to the nanosecond: its threads stay while it runs."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def measure(case: Case, pid: int, address: str) -> Measured:
    """Run one case against one broker; the median of several rounds."""
    rounds = [_round(case, pid, address) for _ in range(ROUNDS)]
    return Measured(
        cpu_us=statistics.median(measured.cpu_us for measured in rounds),
        rate=statistics.median(measured.rate for measured in rounds),
    )


def _round(case: Case, pid: int, address: str) -> Measured:
    shape = (case.publishers, case.subscribers, case.messages, PAYLOAD_BYTES)
    before = cpu_s(pid)
    command = [str(LOAD), address, *(str(number) for number in shape)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    delivered, seconds = output.split()
    used = cpu_s(pid) - before
    return Measured(used / int(delivered) * 1e6, int(delivered) / float(seconds))


def table() -> str:
    """Measure everything and write it down."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plain").mkdir()
        (folder / "journal").mkdir()
        with (
            mosquitto(folder) as peer,
            slipring(folder / "plain", journal=False) as ours,
            slipring(folder / "journal", journal=True) as journaled,
        ):
            rows = [_row(case, peer, ours, journaled) for case in CASES]
    head = (
        "| case, 64-byte payloads, QoS 0, saturated | Mosquitto: us of CPU per delivered message, "
        "messages/s | Slipring | ratio of CPU | Slipring, all journaled |\n|---|---|---|---|---|\n"
    )
    return head + "".join(rows)


def _row(case: Case, *brokers: tuple[int, str]) -> str:
    peer, ours, journaled = (measure(case, *broker) for broker in brokers)
    print(f"{case.name}: Mosquitto {peer}, Slipring {ours}, journaled {journaled}", flush=True)

    def show(measured: Measured) -> str:
        return f"{measured.cpu_us:.2f} us, {measured.rate:,.0f}/s"

    ratio = f"{peer.cpu_us / ours.cpu_us:.1f} times cheaper"
    return f"| {case.name} | {show(peer)} | {show(ours)} | {ratio} | {show(journaled)} |\n"


def versions() -> str:
    """What was measured."""
    peer = subprocess.run(["mosquitto", "-h"], capture_output=True, text=True, check=False)
    return f"{peer.stdout.splitlines()[0]}, median of {ROUNDS} rounds, `benches/broker.py`"


def main() -> None:
    """Measure and record."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "slipring-load"], check=True)
    where = machine()
    record("broker", f"{where}; {versions()}.\n\n{table()}")


if __name__ == "__main__":
    main()
