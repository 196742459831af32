"""How much faster than real time `slipring replay --speed max` plays a recorded flight.

`make bench ARGS=replay` runs it. It replaces its part of benches/RESULTS.md.
"""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from benches.generator import Generator, RunFailed
from benches.measured_brokers import JOURNALED, SLIPRING, MeasuredBroker, started, versions
from benches.results import machine, record
from benches.rounds import Numbers, head, medians, row, verdict
from slipring.journal.native_messages import MESSAGES, to_native
from slipring.native import JournalWriter

ROUNDS = 5
BROKERS = (SLIPRING, JOURNALED)
SECONDS = 30
FRAMES_S = 50
MESSAGES_S = 20_000
PARAMETERS = 2_000
"""Different topics."""
PAYLOAD = b"12034.5678"
TIMES_MIN = {0: 20, 1: None}
"""To reach, by QoS. What one connection gets acknowledged is bounded by `limits.receive_max`."""
SUMMARY = re.compile(r"([\d,]+) messages in .* ([\d,.]+) times real time; 0 not acknowledged\n")


def record_flight(folder: Path, qos: int) -> None:
    """A flight as a broker journals it: a batch of messages every 20 ms."""
    writer = JournalWriter(folder)
    for second in range(SECONDS):
        to_native(_second(second, qos)).append_to(writer, 0, MESSAGES_S)
    writer.close()


def _second(second: int, qos: int) -> pa.RecordBatch:
    numbers = range(MESSAGES_S)
    frame_ns, in_frame = 1_000_000_000 // FRAMES_S, MESSAGES_S // FRAMES_S
    columns = {
        "receive_ns": [second * 1_000_000_000 + at // in_frame * frame_ns for at in numbers],
        "publisher": ["gripen"] * MESSAGES_S,
        "topic": [f"gripen/39-7/parameter/{at % PARAMETERS}" for at in numbers],
        "flags": [qos] * MESSAGES_S,
        "properties": [b""] * MESSAGES_S,
        "payload": [PAYLOAD] * MESSAGES_S,
    }
    return pa.record_batch(
        [pa.array(columns[field.name], field.type) for field in MESSAGES], schema=MESSAGES
    )


def measure(flight: Path, broker: MeasuredBroker) -> Numbers:
    """Times real time, as the command itself tells it."""
    broker.settle()
    command = [sys.executable, "-m", "slipring", "replay", str(flight), "--speed", "max"]
    done = subprocess.run(
        [*command, "--url", f"mqtt://{broker.address}"],
        capture_output=True,
        text=True,
        check=False,
    )
    told = SUMMARY.fullmatch(done.stdout)
    if not told or int(told[1].replace(",", "")) != SECONDS * MESSAGES_S:
        raise RunFailed(done.stdout + done.stderr)
    return {"times": float(told[2].replace(",", ""))}


def rows(brokers: tuple[MeasuredBroker, ...], folder: Path) -> Iterator[str]:
    """One for each quality."""
    for qos in (0, 1):
        flight = folder / f"qos-{qos}"
        record_flight(flight, qos)
        found = medians(brokers, ROUNDS, partial(measure, flight))
        cells = [f"{found[name]['times']:.1f} times" if name in found else "-" for name in BROKERS]
        line = row((f"QoS {qos}", *cells, *_bar(TIMES_MIN[qos], found)))
        print(line, end="", flush=True)
        yield line


def _bar(times_min: int | None, found: dict[str, Numbers]) -> tuple[str, str]:
    if times_min is None:
        return "-", "shown"
    is_reached = all(name in found and found[name]["times"] > times_min for name in BROKERS)
    return f"over {times_min} times", verdict(is_reached)


def main() -> None:
    """Measure and record."""
    generator, where = Generator.build(), machine()
    with (
        tempfile.TemporaryDirectory() as scratch,
        started(generator, *BROKERS) as brokers,
    ):
        found = list(rows(brokers, Path(scratch)))
    text = (
        f"{where}; {versions()}; median of {ROUNDS} rounds, `make bench ARGS=replay`. A recording "
        f"of {SECONDS} s with {MESSAGES_S:,} messages/s on {PARAMETERS:,} topics, "
        f"{len(PAYLOAD)}-byte payloads, {FRAMES_S} batches a second, played by `slipring replay "
        "--speed max` into a broker on the same machine: recorded time by the time from the first "
        "message to the broker's answer behind the last one.\n\n"
    )
    heads = ("recorded at", *BROKERS, "to reach", "in this run")
    record("replay", text + head(heads) + "".join(found))


if __name__ == "__main__":
    main()
