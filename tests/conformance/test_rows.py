"""Every row of every table against a real broker, in each version whose statements it names.

`CONFORMANCE_BROKER=host:port` plays the rows against another broker.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance import limited
from tests.conformance.play import play
from tests.conformance.row import Case
from tests.conformance.tables import CASES, LIMITED_CASES
from tests.running_broker import RunningBroker


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """One broker for all rows; their topics and client identifiers keep them apart."""
    if other := os.environ.get("CONFORMANCE_BROKER"):
        host, _, port = other.rpartition(":")
        yield host, int(port)
    else:
        yield from serving(tmp_path_factory.mktemp("conformance"))


@pytest.fixture(scope="module")
def limited_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A broker whose limits are low."""
    folder = tmp_path_factory.mktemp("limited")
    config = folder / "broker.toml"
    config.write_text(limited.CONFIG)
    yield from serving(folder, "--config", str(config))


def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, int]]:
    running = RunningBroker.start(folder / "data", *arguments)
    yield running.host, running.port
    code, errors = running.stop()
    assert code == 0, errors


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=map(str, CASES))
def test_row(address: tuple[str, int], number: int, case: Case) -> None:
    play(*address, case, number)


@pytest.mark.parametrize(
    ("number", "case"), list(enumerate(LIMITED_CASES)), ids=map(str, LIMITED_CASES)
)
def test_limited_row(limited_address: tuple[str, int], number: int, case: Case) -> None:
    play(*limited_address, case, number)
