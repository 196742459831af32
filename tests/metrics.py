"""A broker's `/metrics`, read as a program reads them."""

import urllib.request
from typing import Self

from tests.running_broker import RunningBroker

READS_MAX = 5_000


class Metrics(dict[str, float]):
    """Every sample by its name and labels, as they are written."""

    @classmethod
    def of(cls, broker: RunningBroker) -> Self:
        """Read them now."""
        with urllib.request.urlopen(f"{broker.console}/metrics", timeout=60) as answer:
            lines = answer.read().decode().split("\n")
        samples = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return cls((name, float(value)) for name, _, value in samples)

    @classmethod
    def when(cls, broker: RunningBroker, name: str, least: float) -> Self:
        """Read them until a sample has reached a value."""
        read = cls.of(broker)
        for _ in range(READS_MAX):
            if read[name] >= least:
                return read
            read = cls.of(broker)
        raise AssertionError(f"{name} is {read[name]}, not {least}")

    def reached(self, limit: str) -> float:
        """How often a limit was reached."""
        return self[f'slipring_limit_reached_total{{limit="{limit}"}}']
