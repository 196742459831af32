"""Every row of every table against a real broker, in each version whose statements it names.

`CONFORMANCE_BROKER=host:port` plays the rows against another broker.
"""

import os
from collections.abc import Iterator

import pytest

from tests.conformance.play import play
from tests.conformance.row import Case
from tests.conformance.tables import CASES
from tests.running_broker import RunningBroker


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """One broker for all rows; their topics and client identifiers keep them apart."""
    if other := os.environ.get("CONFORMANCE_BROKER"):
        host, _, port = other.rpartition(":")
        yield host, int(port)
        return
    running = RunningBroker.start(tmp_path_factory.mktemp("conformance") / "data")
    yield running.host, running.port
    code, errors = running.stop()
    assert code == 0, errors


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=map(str, CASES))
def test_row(address: tuple[str, int], number: int, case: Case) -> None:
    play(*address, case, number)
