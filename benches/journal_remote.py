"""The journal read over the network, beside the same journal read from its folder.

`make bench ARGS=journal_remote` runs it. It replaces its part of benches/RESULTS.md; asserts
nothing about time. Each stream is a connection and a thread of one process; the broker has the
other end on the same machine.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benches.results import machine, record
from slipring.journal.columns import read_batches
from slipring.journal.location import Journal, JournalBroker, JournalFolder, JournalLocation
from slipring.journal.offsets import split
from slipring.native import JournalWriter

ROUNDS = 3
MB = 1e6


@dataclass(frozen=True)
class Load:
    """What the journal holds."""

    payload_bytes: int
    messages: int
    batch_messages: int

    @property
    def name(self) -> str:
        return f"{self.payload_bytes:,} B"


LOADS = (Load(64, 4_000_000, 100), Load(16_384, 50_000, 4))


def write(path: Path, load: Load) -> None:
    payload = bytes(load.payload_bytes)
    messages = [(f"plane/1/engine/{number}", payload) for number in range(load.batch_messages)]
    writer = JournalWriter(path)
    for _ in range(load.messages // load.batch_messages):
        writer.append("bench", time.time_ns(), messages)
    writer.close()


@contextmanager
def serving(data: Path) -> Iterator[JournalBroker]:
    """A broker that has this journal."""
    command = [sys.executable, "-m", "slipring", "serve", "--mqtt", "127.0.0.1:0"]
    command += ["--console", "off", "--data", str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().decode()
        try:
            yield JournalBroker("mqtt://" + ready.split("mqtt=")[1].split()[0])
        finally:
            process.terminate()


def read(journal: Journal, start: int, end: int) -> int:
    return sum(batch.num_rows for batch in read_batches(journal, start, end))


def seconds(location: JournalLocation, load: Load, streams: int) -> float:
    """From the first connection to the last message."""
    began = time.perf_counter()
    journal = Journal(location, location.open().identity)
    parts = split(0, load.messages, streams, 1)
    with ThreadPoolExecutor(streams) as pool:
        rows = pool.map(lambda part: read(journal, *part), parts)
        assert sum(rows) == load.messages
    return time.perf_counter() - began


def rows(load: Load) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch)
        write(data / "journal", load)
        with serving(data) as broker:
            here = JournalFolder(str(data / "journal"))
            seconds(here, load, 1)  # into the system's memory
            base = 0.0
            for name, location, streams in (
                ("from the folder, 1 reader", here, 1),
                ("from the folder, 4 readers", here, 4),
                ("over the network, 1 stream", broker, 1),
                ("over the network, 4 streams", broker, 4),
            ):
                took = median(seconds(location, load, streams) for _ in range(ROUNDS))
                base = base or took
                yield row(load, name, took, base)


def row(load: Load, name: str, took: float, base: float) -> str:
    rate, speed = load.messages / took, load.messages * load.payload_bytes / MB / took
    text = f"| {load.name}, {name} | {rate:,.0f} | {speed:,.0f} | {base / took:.2f} |\n"
    print(text, end="", flush=True)
    return text


def main() -> None:
    head = "| payload, reader | messages/s | MB/s of payload | times one reader of the folder |\n"
    where = (
        f"{machine()}; `make bench ARGS=journal_remote`. Median of {ROUNDS}; into Arrow columns, "
        "broker and reader on one machine.\n\n"
    )
    table = "".join(text for load in LOADS for text in rows(load))
    record("remote", where + head + "|---|---|---|---|\n" + table)


if __name__ == "__main__":
    main()
