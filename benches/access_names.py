"""Whether a user name can be told from one that does not exist: CPU time of the broker by attempt.

A client that guesses gets the same answer for both. Here every block of guesses at a known name is
followed by one at an unknown name; what is recorded is the mean difference and its error.
"""

import math
import socket
import statistics
from dataclasses import dataclass

from benches.measured_brokers import MeasuredBroker
from benches.rounds import row, verdict
from tests.packets import V5

BLOCKS = 40
GUESSES = 25
"""Guesses of a block."""
KNOWN, UNKNOWN = "user", "resu"
ERRORS_BAR = 3
"""Standard errors: a mean difference within them can be chance."""


@dataclass(frozen=True)
class NameDifference:
    """What guesses at the two names cost, and by how much they differ on average."""

    known_us: float
    unknown_us: float
    difference_us: float
    error_us: float
    answers: frozenset[int]
    """All reason codes that were answered."""

    @property
    def is_hidden(self) -> bool:
        """Whether neither the answers nor the cost tell the names apart."""
        return len(self.answers) == 1 and abs(self.difference_us) <= ERRORS_BAR * self.error_us


def compare_names(broker: MeasuredBroker) -> NameDifference:
    """Guess at both names in turn."""
    known, unknown, answers = list[float](), list[float](), set[int]()
    for block in range(BLOCKS):
        for name, costs in ((KNOWN, known), (UNKNOWN, unknown)):
            before = broker.cpu_s()
            answers |= {_guess(broker, name, f"{block}-{number}") for number in range(GUESSES)}
            costs.append((broker.cpu_s() - before) / GUESSES * 1e6)
    differences = [one - other for one, other in zip(known, unknown, strict=True)]
    return NameDifference(
        statistics.mean(known),
        statistics.mean(unknown),
        statistics.mean(differences),
        statistics.stdev(differences) / math.sqrt(BLOCKS),
        frozenset(answers),
    )


def _guess(broker: MeasuredBroker, name: str, password: str) -> int:
    host, _, port = broker.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as peer:
        peer.sendall(V5.connect("guess", username=name, password=password.encode()))
        return V5.read(peer.recv(4096)).reason


def names_row(broker: MeasuredBroker) -> str:
    """The line of the table."""
    found = compare_names(broker)
    return row(
        (
            f"{found.known_us:.0f} us",
            f"{found.unknown_us:.0f} us",
            f"{found.difference_us:+.1f} us, standard error {found.error_us:.1f} us",
            ", ".join(f"0x{reason:02x}" for reason in sorted(found.answers)),
            f"within {ERRORS_BAR} errors, one answer",
            verdict(found.is_hidden),
        )
    )
