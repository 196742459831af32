"""A broker's `/metrics`, read as a program reads them."""

import time
from typing import Self

from tests.console_answer import answer
from tests.running_broker import PATIENCE_S, RunningBroker


class Metrics(dict[str, float]):
    """Every sample by its name and labels, as they are written."""

    @classmethod
    def of(cls, broker: RunningBroker) -> Self:
        """Read them now."""
        code, text = answer(f"{broker.console}/metrics")
        assert code == 200, text
        lines = text.split("\n")
        samples = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return cls((name, float(value)) for name, _, value in samples)

    @classmethod
    def when(cls, broker: RunningBroker, name: str, least: float) -> Self:
        """Read them until a sample has reached a value."""
        given_up_s = time.monotonic() + PATIENCE_S
        while (read := cls.of(broker))[name] < least:
            assert time.monotonic() < given_up_s, f"{name} is {read[name]}, not {least}"
        return read

    def reached(self, limit: str) -> float:
        """How often a limit was reached."""
        return self[f'slipring_limit_reached_total{{limit="{limit}"}}']
