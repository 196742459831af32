"""The experiments of the Testos bus document again: tables 5.8 and 5.9, and bursts of connections.

`make bench ARGS=requests_pairs` runs it. It replaces its part of benches/RESULTS.md and draws
docs/figures/requests-by-speed.svg. As in the document, broker and clients share one machine, and
the service returns what it got.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benches import requests_python
from benches.durable_brokers import nats_version
from benches.generator import Generator
from benches.measured_brokers import (
    MEMORY,
    MOSQUITTO,
    NATS,
    MeasuredBroker,
    started,
    versions,
)
from benches.plot import Points, chart
from benches.requests import protocol
from benches.requests_document import (
    COLUMNS,
    CPP,
    MEAN_MS_BY_SPEED,
    MEAN_MS_OF_200_PAIRS,
    PYTHON,
)
from benches.results import machine, record
from benches.rounds import Numbers, head, medians, row, verdict

ROUNDS = 3
BROKERS = (MOSQUITTO, NATS, MEMORY)
PYTHON_CLIENT = "Slipring, Python client"
MEASURED = (*BROKERS, PYTHON_CLIENT)
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "requests-by-speed.svg"
BLOCK_S, BLOCK_MIN, BLOCK_MAX = 2, 8, 20_000
"""Requests of one speed: as many as it makes in this time, within these bounds."""
PAIRS = ("--pairs=200", "--rate=10")
ARRIVING_CLIENTS = 5_000
PYTHON_BLOCK_MAX = 5_000


def at_speed(generator: Generator, speed: int, broker: MeasuredBroker) -> Numbers:
    """One pair at one speed."""
    count = min(max(speed * BLOCK_S, BLOCK_MIN), BLOCK_MAX)
    shape = ("--rate", speed, "--requests", count, "--window=10000", "--may-miss")
    return _numbers(generator.run("requests", broker.address, protocol(broker), *shape))


def python_at_speed(speed: int, broker: MeasuredBroker) -> Numbers:
    """The same with asker and service in Python."""
    count = min(max(speed * BLOCK_S, BLOCK_MIN), PYTHON_BLOCK_MAX)
    return requests_python.measured(broker, 1, speed, count)


def python_alone(broker: MeasuredBroker) -> Numbers:
    """200 pairs in Python."""
    return requests_python.measured(broker, 200, 10, 30)


def _with_python(
    found: dict[str, Numbers],
    brokers: tuple[MeasuredBroker, ...],
    measure: Callable[[MeasuredBroker], Numbers],
) -> dict[str, Numbers]:
    """What was found, and the Python client at our broker."""
    ours = tuple(broker for broker in brokers if broker.name == MEMORY)
    python = medians(ours, ROUNDS, measure).get(MEMORY)
    return found | {PYTHON_CLIENT: python} if python else found


def alone(generator: Generator, broker: MeasuredBroker) -> Numbers:
    """200 pairs with nothing beside them."""
    broker.settle()
    shape = (*PAIRS, "--requests=30", "--warm-up=5", "--may-miss")
    return _numbers(generator.run("requests", broker.address, protocol(broker), *shape))


def while_clients_arrive(
    generator: Generator, arriving: Generator, broker: MeasuredBroker
) -> Numbers:
    """200 pairs, just while other clients connect all at once."""
    broker.settle()
    shape = (*PAIRS, "--warm-up=5", "--may-miss", "--hold")
    burst = ("connect", broker.address, "--clients", ARRIVING_CLIENTS, "--hold")
    with (
        generator.hold("requests", broker.address, protocol(broker), *shape) as traffic,
        arriving.hold(*burst),
    ):
        return _numbers(traffic.finish())


def _numbers(report: Numbers) -> Numbers:
    missing = report["lost"] + report["failed"]
    times = {name: report[f"{name}_us"] / 1e3 for name in ("mean", "p50", "p99")}
    return {**times, "missing": missing, "late_p99": report["late_p99_us"] / 1e3}


def speed_rows(generator: Generator) -> tuple[str, dict[str, Points]]:
    """Table 5.8: the means, and the lines of the figure."""
    text = head(("requests/s offered", *(f"document: {name}" for name in COLUMNS), *MEASURED))
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in MEASURED}
    with started(generator, *BROKERS, nodelay=True) as brokers:
        for speed, document_ms in MEAN_MS_BY_SPEED.items():
            found = medians(brokers, ROUNDS, partial(at_speed, generator.in_real_time(), speed))
            found = _with_python(found, brokers, partial(python_at_speed, speed))
            told = [f"{mean_ms:.2f} ms" if mean_ms else "-" for mean_ms in document_ms]
            line = row((f"{speed:,}", *told, *(_mean_cell(found.get(name)) for name in MEASURED)))
            print(line, end="", flush=True)
            text += line
            for name, numbers in found.items():
                lines[name].append((speed, numbers["mean"]))
    return text, {name: points for name, points in lines.items() if points}


def _mean_cell(numbers: Numbers | None) -> str:
    if numbers is None:
        return "-"
    missing = f", {numbers['missing']:,.0f} lost" if numbers["missing"] else ""
    return f"{numbers['mean']:.2f} ms, p99 {numbers['p99']:.2f} ms{missing}"


def draw(lines: dict[str, Points]) -> None:
    """Ours beside the document's."""
    document: dict[str, Points] = {
        f"document, {name}": [
            (speed, mean_ms)
            for speed, row_ms in MEAN_MS_BY_SPEED.items()
            if (mean_ms := row_ms[COLUMNS.index(name)]) is not None
        ]
        for name in (CPP, PYTHON)
    }
    title = "Mean latency of a request (table 5.8 of the Testos bus document)"
    figure = chart(title, "requests/s offered by one asker", "ms", lines | document, is_log=True)
    FIGURE.write_text(figure)


def pairs_rows(generator: Generator) -> str:
    """Table 5.9, and what a burst of connections does to it."""
    asking = generator.in_real_time()
    with started(generator, *BROKERS, nodelay=True) as brokers:
        calm = medians(brokers, ROUNDS, partial(alone, asking))
        calm = _with_python(calm, brokers, python_alone)
        # The burst is of MQTT clients.
        mqtt = tuple(broker for broker in brokers if broker.name != NATS)
        burst = medians(mqtt, ROUNDS, partial(while_clients_arrive, asking, generator))
    told = "; ".join(
        f"{name} {mean_ms:.1f} ms"
        for name, mean_ms in zip(COLUMNS, MEAN_MS_OF_200_PAIRS, strict=True)
    )
    lines = [
        ("200 pairs at 10 requests/s, mean", told, calm),
        (f"the same while {ARRIVING_CLIENTS:,} clients connect at once", "timeouts", burst),
    ]
    text = head(("experiment", "the document", *MEASURED, "none lost"))
    for experiment, document, found in lines:
        cells = [_mean_cell(found.get(name)) for name in MEASURED]
        ours = found.get(MEMORY)
        text += row((experiment, document, *cells, verdict(ours["missing"] == 0 if ours else None)))
    print(text, end="", flush=True)
    return text


def main() -> None:
    """Measure, record and draw."""
    generator, where = Generator.build(), machine()
    text = (
        f"{where}; {versions()}, {nats_version()}; median of {ROUNDS} rounds, `make bench "
        "ARGS=requests_pairs`. Table 5.8: one pair, the mean from the time a request is due to its "
        f"answer, in blocks of {BLOCK_S} s, at least {BLOCK_MIN} and at most {BLOCK_MAX:,} "
        "requests; where a broker cannot keep up, the wait of the whole block counts. 64-byte "
        "payloads, QoS 0. The clients are written in Rust; those in Python are the bus's own, two "
        f"processes, timed from the call, at most {PYTHON_BLOCK_MAX:,} requests.\n\n"
    )
    speeds, lines = speed_rows(generator)
    draw(lines)
    figure = "\n![mean latency by speed](../docs/figures/requests-by-speed.svg)\n\n"
    record("requests_pairs", text + speeds + figure + pairs_rows(generator))


if __name__ == "__main__":
    main()
