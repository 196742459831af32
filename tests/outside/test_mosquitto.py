"""Mosquitto's own tests of a broker, each against Slipring. `mosquitto.toml` lists them."""

import re
from collections.abc import Iterator

import pytest

from tests.outside.brokers import start_slipring
from tests.outside.conftest import TIMEOUT_S, Runs
from tests.outside.sequences import Sequence, sequences
from tests.outside.suite_lists import SUITES, SuiteList

FOLDER = SUITES / "mosquitto" / "test" / "broker"
LISTED = SuiteList.read("mosquitto")
OTHERWISE = SuiteList.read("mosquitto_sequences").left_out
"""Patterns of the sequences that Slipring answers otherwise."""

pytestmark = pytest.mark.timeout(TIMEOUT_S + 60)


@pytest.mark.parametrize("test", LISTED.run)
def test_slipring_passes(test: str, runs: Runs) -> None:
    assert runs.outcome(test) == ""


def test_every_test_of_the_suite_is_listed() -> None:
    there = {path.name for path in FOLDER.glob("[01]*.py") if "helper" not in path.name}
    assert LISTED.problems(there) == []


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUTSIDE_SCRATCH", str(tmp_path_factory.mktemp("sequences")))
        broker, found = start_slipring({})
    yield found
    broker.kill()
    broker.communicate()


def asked() -> Iterator[Sequence]:
    for sequence in sequences(FOLDER / "data"):
        if not any(re.search(pattern, sequence.name) for pattern in OTHERWISE):
            yield sequence


def test_slipring_answers_every_sequence_of_packets_but_those_left_out(port: int) -> None:
    wrong = {sequence.name: sequence.play(port) for sequence in asked()}
    assert {name: how for name, how in wrong.items() if how} == {}
    assert len(wrong) > 1000


def test_every_sequence_left_out_is_there() -> None:
    names = [sequence.name for sequence in sequences(FOLDER / "data")]
    unknown = [
        pattern for pattern in OTHERWISE if not any(re.search(pattern, name) for name in names)
    ]
    assert unknown == []
